// Metrics takes runs and observations, and is what the exporter's other parts call.
//
// SPDX-License-Identifier: Apache-2.0

// Package metrics turns runs into the families of /metrics. Counts live in one struct under one lock and every scrape emits one copy of it,
// so the sums that the families promise hold at every scrape.
package metrics

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Options configure the metrics.
type Options struct {
	Registry *prometheus.Registry // what the families are registered in
	Version  string               // of the exporter, for eks_slo_exporter_build_info
}

// Metrics holds every product metric. Its methods are safe for concurrent use and do not block.
type Metrics struct {
	version                     string
	descs                       [familyCount]*prometheus.Desc
	stepDuration, chainDuration *prometheus.HistogramVec // access
	requestDuration             *prometheus.HistogramVec // alb
	probeLateness, budgetWait   prometheus.Histogram

	mu    sync.Mutex
	pools func() []Stretch
	state
}

// New makes the families and registers them.
func New(options Options) (*Metrics, error) {
	if options.Registry == nil {
		return nil, errors.New("metrics: Options.Registry is not set")
	}
	m := &Metrics{
		version:         clean(options.Version),
		stepDuration:    prometheus.NewHistogramVec(histogram(accessStepDuration), families[accessStepDuration].Labels),
		chainDuration:   prometheus.NewHistogramVec(histogram(accessChainDuration), families[accessChainDuration].Labels),
		requestDuration: prometheus.NewHistogramVec(histogram(albRequestDuration), families[albRequestDuration].Labels),
		probeLateness:   prometheus.NewHistogram(histogram(selfProbeLateness)),
		budgetWait:      prometheus.NewHistogram(histogram(selfAWSBudgetWait)),
		pools:           func() []Stretch { return nil },
		state:           newState(),
	}
	for id, row := range families {
		m.descs[id] = prometheus.NewDesc(row.Name, row.Help, row.Labels, nil)
	}
	for _, c := range []prometheus.Collector{counts{m}, targetInfo{m}, m.stepDuration, m.chainDuration, m.requestDuration, m.probeLateness, m.budgetWait} {
		if err := options.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics: %w", err)
		}
	}
	return m, nil
}

// RegisterRuntime registers the Go runtime's and the process's own metrics, which are no part of the product's contract.
func RegisterRuntime(registerer prometheus.Registerer) error {
	return errors.Join(
		registerer.Register(collectors.NewGoCollector()),
		registerer.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	)
}

// SetTargets makes targets the ones that have series. New ones exist at 0, those that stay keep their counts, and the series of removed ones are gone at the
// next scrape; so are a cluster's or a region's when its last target goes. Call it before the scheduler is given the targets: the runs of targets that it does not know are dropped.
func (m *Metrics) SetTargets(targets []chain.Target) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, cluster := range m.setTargets(targets) {
		m.stepDuration.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
		m.chainDuration.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
	}
	for cluster := range m.clusters {
		m.chainDuration.WithLabelValues(cluster)
		for _, step := range chain.KindAccess.Steps() {
			m.stepDuration.WithLabelValues(cluster, step.String())
		}
	}
	for _, group := range m.setGroups(targets) {
		m.requestDuration.DeleteLabelValues(group)
	}
	for name, group := range m.groups {
		if group.requested {
			m.requestDuration.WithLabelValues(name)
		} else {
			m.requestDuration.DeleteLabelValues(name)
		}
	}
	m.setPeers(targets)
}

// Record counts the event of a slot.
func (m *Metrics) Record(run chain.Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch run.Target.Kind {
	case chain.KindAccess:
		if m.record(run) {
			m.observeAccess(run)
		}
	case chain.KindALB:
		if m.recordGroup(run) {
			m.observeRequest(run)
		}
	case chain.KindNone:
	}
}

func (m *Metrics) observeAccess(run chain.Run) {
	cluster := clean(run.Target.Cluster.Name)
	for _, step := range run.Steps {
		if step.Outcome == chain.OutcomeSuccess || step.Outcome == chain.OutcomeFailure {
			m.stepDuration.WithLabelValues(cluster, step.Step.String()).Observe(step.Duration.Seconds())
		}
	}
	if run.Verdict.Outcome == chain.OutcomeSuccess {
		m.chainDuration.WithLabelValues(cluster).Observe(run.Duration.Seconds())
	}
}

func (m *Metrics) observeRequest(run chain.Run) {
	name, request := clean(run.Target.Name), requestOf(run)
	if request != nil && request.Outcome == chain.OutcomeSuccess && m.groups[name].requested {
		m.requestDuration.WithLabelValues(name).Observe(request.Duration.Seconds())
	}
}

// ObserveSkew takes the clock skew of an answer; positive: the local clock is ahead. The peer is SERVICE.REGION or a cluster's name; others than those of the targets are dropped.
func (m *Metrics) ObserveSkew(peer string, skew time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if peer = clean(peer); m.knowsPeer(peer) {
		m.skew[peer] = skew
	}
}

// CredentialsExpiry takes the end of an identity's session; zero: it has none. Identities of no target are dropped.
func (m *Metrics) CredentialsExpiry(identity string, end time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch identity = clean(identity); {
	case end.IsZero():
		delete(m.expiry, identity)
	case m.identities[identity]:
		m.expiry[identity] = end
	}
}

// ObserveRequest counts a call to AWS and how it ended.
func (m *Metrics) ObserveRequest(service, operation, code string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.countRequest(request{clean(service), clean(operation), clean(code)})
}

// ObserveBudgetWait takes how long a read waited for its turn in the AWS API budget.
func (m *Metrics) ObserveBudgetWait(wait time.Duration) { m.budgetWait.Observe(wait.Seconds()) }

// ObserveLateness takes how long after its slot a run began.
func (m *Metrics) ObserveLateness(late time.Duration) { m.probeLateness.Observe(late.Seconds()) }

// InFlight counts runs that begin (+1) and return (-1).
func (m *Metrics) InFlight(delta int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight += delta
}

// Overrun counts a run that had not returned by its next slot.
func (m *Metrics) Overrun() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.overruns++
}

// ReloadSucceeded tells that the configuration was loaded, the first time included.
func (m *Metrics) ReloadSucceeded(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reloaded, m.reloadedAt = true, at
}

// ReloadFailed tells that the configuration could not be loaded, and the last good one stays.
func (m *Metrics) ReloadFailed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reloaded = false
}

// histogram is a native histogram that also has the row's classic buckets.
func histogram(id family) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: families[id].Name, Help: families[id].Help, Buckets: families[id].Buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}
}

// clean makes a text fit to be a label value, which must be UTF-8.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
