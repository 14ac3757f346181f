// The collectors emit one copy of the state as const metrics.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// infoFamilies have labels of the configuration's.
var infoFamilies = []family{accessTargetInfo, albTargetInfo}

// counts emits every counter and gauge but the info series of the targets.
type counts struct{ *Metrics }

// Describe implements prometheus.Collector.
func (c counts) Describe(ch chan<- *prometheus.Desc) {
	for id, row := range families {
		if row.Type != Histogram && !slices.Contains(infoFamilies, family(id)) {
			ch <- c.descs[id]
		}
	}
}

// Collect implements prometheus.Collector.
func (c counts) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	now, pools := c.clone(), c.pools
	c.mu.Unlock()
	e := emitter{ch, &c.descs}
	e.stretch(pools())
	for key, target := range now.targets {
		e.target(key, target)
	}
	for name, cluster := range now.clusters {
		e.causes(accessCauses, cluster, name)
	}
	for name, group := range now.groups {
		e.group(name, group)
	}
	for name, region := range now.regions {
		e.causes(albCauses, region, name)
	}
	for peer, skew := range now.skew {
		e.emit(accessClockSkew, skew.Seconds(), peer)
	}
	for identity, end := range now.expiry {
		e.emit(accessCredentialsExpiry, seconds(end), identity)
	}
	for name, gate := range now.gates {
		e.gate(name, gate)
	}
	e.self(now, c.version)
}

type emitter struct {
	ch    chan<- prometheus.Metric
	descs *[familyCount]*prometheus.Desc
}

func (e emitter) emit(id family, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if families[id].Type == Counter {
		kind = prometheus.CounterValue
	}
	e.ch <- prometheus.MustNewConstMetric(e.descs[id], kind, value, labels...)
}

// eventFamilies and causeFamilies are the families of one chain that count the same as another's.
type (
	eventFamilies struct{ slots, probes, failures, failing family }
	causeFamilies struct{ failures, unknowns, steps family }
)

var (
	accessEvents = eventFamilies{accessSlots, accessProbes, accessFailures, accessFailing}
	accessCauses = causeFamilies{accessFailureReasons, accessUnknownReasons, accessStepResults}
	albEvents    = eventFamilies{albSlots, albProbes, albFailures, albFailing}
	albCauses    = causeFamilies{albFailureReasons, albUnknownReasons, albStepResults}
)

// events emits what one target counted; labels name it.
func (e emitter) events(f eventFamilies, steps []chain.Step, t events, labels ...string) {
	failed := t.failed()
	e.emit(f.slots, float64(t.success+failed+t.unknown), labels...)
	e.emit(f.probes, float64(t.success), with(labels, chain.OutcomeSuccess.String())...)
	e.emit(f.probes, float64(failed), with(labels, chain.OutcomeFailure.String())...)
	e.emit(f.probes, float64(t.unknown), with(labels, chain.OutcomeUnknown.String())...)
	for i, n := range t.failures {
		if step := chain.Step(i); n > 0 || slices.Contains(steps, step) {
			e.emit(f.failures, float64(n), with(labels, step.String())...)
		}
	}
	if v := t.verdict; v.Outcome == chain.OutcomeFailure {
		e.emit(f.failing, 1, with(labels, v.Step.String(), clean(string(v.Reason)))...)
	}
}

// causes emits what the targets of a cluster or region counted.
func (e emitter) causes(f causeFamilies, c causes, place string) {
	for key, n := range c.failures {
		e.emit(f.failures, float64(n), place, key.step.String(), clean(string(key.reason)))
	}
	for reason, n := range c.unknowns {
		e.emit(f.unknowns, float64(n), place, clean(string(reason)))
	}
	for key, n := range c.steps {
		e.emit(f.steps, float64(n), place, key.step.String(), key.result.String())
	}
}

func (e emitter) target(key targetKey, t targetState) {
	cluster, identity := key.cluster, key.identity
	e.events(accessEvents, chain.KindAccess.Steps(), t.events, cluster, identity)
	switch t.verdict.Outcome {
	case chain.OutcomeSuccess:
		e.emit(accessUp, 1, cluster, identity)
	case chain.OutcomeFailure:
		e.emit(accessUp, 0, cluster, identity)
	case chain.OutcomeUnknown, chain.OutcomeSkipped:
	}
	e.moment(accessLastProbe, t.lastProbe, cluster, identity)
	e.moment(accessLastSuccess, t.lastSuccess, cluster, identity)
}

func (e emitter) group(name string, g groupState) {
	e.events(albEvents, chain.KindALB.Steps(), g.events, name)
	for _, step := range chain.KindALB.Steps() {
		if step == chain.StepRequest && !g.requested {
			continue
		}
		for _, result := range chain.Results {
			e.emit(albGroupStepResults, float64(g.steps[step][result]), name, step.String(), result.String())
		}
	}
	e.emit(albObservations, float64(g.good), name, "good")
	e.emit(albObservations, float64(g.bad), name, "bad")
	e.moment(albCertificateExpiry, g.certExpires, name)
	if g.reading == nil {
		return
	}
	for state, n := range statesOf(g.reading) {
		e.emit(albTargets, float64(n), name, state)
	}
	e.emit(albFailOpen, number(g.reading.FailOpen), name)
	e.moment(albLastRead, g.reading.At, name)
}

func (e emitter) self(s state, release string) {
	e.emit(selfBuildInfo, 1, version.Branch, version.GoArch, version.GoOS, version.GoVersion, version.GetRevision(), version.GetTags(), release)
	e.emit(selfReloadSuccessful, number(s.reloaded))
	at := 0.0
	if !s.reloadedAt.IsZero() {
		at = seconds(s.reloadedAt)
	}
	e.emit(selfReloadTimestamp, at)
	e.emit(selfProbesInFlight, float64(s.inFlight))
	e.emit(selfProbeOverruns, float64(s.overruns))
	for r, n := range s.requests {
		e.emit(selfAWSRequests, float64(n), r.service, r.operation, r.code)
	}
	for name, d := range s.discoveries {
		at := 0.0
		if !d.at.IsZero() {
			e.emit(selfDiscoveredTargets, float64(d.targets), name)
			at = seconds(d.at)
		}
		e.emit(selfDiscoverySuccess, at, name)
	}
}

// stretch emits one series for each pool; of two that read alike, the later.
func (e emitter) stretch(pools []Stretch) {
	factors := map[[3]string]float64{}
	for _, s := range pools {
		factors[[3]string{clean(s.Account), clean(s.Region), clean(s.Service)}] = s.Factor
	}
	for labels, factor := range factors {
		e.emit(selfAWSBudgetStretch, factor, labels[:]...)
	}
}

// moment emits a time; none when there was none.
func (e emitter) moment(id family, t time.Time, labels ...string) {
	if !t.IsZero() {
		e.emit(id, seconds(t), labels...)
	}
}

// number is 1 for true.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// seconds is a Unix time, to the millisecond.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
