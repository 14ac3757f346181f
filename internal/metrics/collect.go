// The collectors emit one copy of the state as const metrics.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// counts emits every counter and gauge but the info series of the targets.
type counts struct{ *Metrics }

// Describe implements prometheus.Collector.
func (c counts) Describe(ch chan<- *prometheus.Desc) {
	for id, row := range families {
		if row.Type != Histogram && family(id) != accessTargetInfo {
			ch <- c.descs[id]
		}
	}
}

// Collect implements prometheus.Collector.
func (c counts) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	now := c.clone()
	c.mu.Unlock()
	e := emitter{ch, &c.descs}
	for key, target := range now.targets {
		e.target(key, target)
	}
	for name, cluster := range now.clusters {
		e.cluster(name, cluster)
	}
	for peer, skew := range now.skew {
		e.emit(accessClockSkew, skew.Seconds(), peer)
	}
	for identity, end := range now.expiry {
		e.emit(accessCredentialsExpiry, seconds(end), identity)
	}
	e.self(now, c.version)
}

// targetInfo emits the info series, whose labels are those of the configuration. It describes nothing, so the registry lets the labels change with a reload.
type targetInfo struct{ *Metrics }

// Describe implements prometheus.Collector.
func (targetInfo) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c targetInfo) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	targets := maps.Clone(c.targets)
	c.mu.Unlock()
	configured := map[string]bool{}
	for _, target := range targets {
		for name := range target.labels {
			configured[name] = true
		}
	}
	names, row := slices.Sorted(maps.Keys(configured)), families[accessTargetInfo]
	desc := prometheus.NewDesc(row.Name, row.Help, with(row.Labels, names...), nil)
	for key, target := range targets {
		values := []string{key.cluster, key.identity}
		for _, name := range names {
			values = append(values, target.labels[name])
		}
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1, values...)
	}
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

func (e emitter) target(key targetKey, t targetState) {
	cluster, identity, failed := key.cluster, key.identity, t.failed()
	e.emit(accessSlots, float64(t.success+failed+t.unknown), cluster, identity)
	e.emit(accessProbes, float64(t.success), cluster, identity, chain.OutcomeSuccess.String())
	e.emit(accessProbes, float64(failed), cluster, identity, chain.OutcomeFailure.String())
	e.emit(accessProbes, float64(t.unknown), cluster, identity, chain.OutcomeUnknown.String())
	steps := chain.KindAccess.Steps()
	for i, n := range t.failures {
		if step := chain.Step(i); n > 0 || slices.Contains(steps, step) {
			e.emit(accessFailures, float64(n), cluster, identity, step.String())
		}
	}
	switch v := t.verdict; v.Outcome {
	case chain.OutcomeSuccess:
		e.emit(accessUp, 1, cluster, identity)
	case chain.OutcomeFailure:
		e.emit(accessUp, 0, cluster, identity)
		e.emit(accessFailing, 1, cluster, identity, v.Step.String(), clean(string(v.Reason)))
	case chain.OutcomeUnknown, chain.OutcomeSkipped:
	}
	if !t.lastProbe.IsZero() {
		e.emit(accessLastProbe, seconds(t.lastProbe), cluster, identity)
	}
	if !t.lastSuccess.IsZero() {
		e.emit(accessLastSuccess, seconds(t.lastSuccess), cluster, identity)
	}
}

func (e emitter) cluster(name string, c clusterState) {
	for key, n := range c.failures {
		e.emit(accessFailureReasons, float64(n), name, key.step.String(), clean(string(key.reason)))
	}
	for reason, n := range c.unknowns {
		e.emit(accessUnknownReasons, float64(n), name, clean(string(reason)))
	}
	for key, n := range c.steps {
		e.emit(accessStepResults, float64(n), name, key.step.String(), key.result.String())
	}
}

func (e emitter) self(s state, release string) {
	e.emit(selfBuildInfo, 1, version.Branch, version.GoArch, version.GoOS, version.GoVersion, version.GetRevision(), version.GetTags(), release)
	successful, at := 0.0, 0.0
	if s.reloaded {
		successful = 1
	}
	if !s.reloadedAt.IsZero() {
		at = seconds(s.reloadedAt)
	}
	e.emit(selfReloadSuccessful, successful)
	e.emit(selfReloadTimestamp, at)
	e.emit(selfProbesInFlight, float64(s.inFlight))
	e.emit(selfProbeOverruns, float64(s.overruns))
	for r, n := range s.requests {
		e.emit(selfAWSRequests, float64(n), r.service, r.operation, r.code)
	}
}

// seconds is a Unix time, to the millisecond.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
