// The engine's own metrics: what its collections did, and the few of Prometheus' families that tell of loss.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

type collectorMetrics struct {
	samples  prometheus.Counter
	failures *prometheus.CounterVec
	lastTime prometheus.Gauge
}

func newCollectorMetrics(registerer prometheus.Registerer) *collectorMetrics {
	m := &collectorMetrics{
		samples: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "eks_slo_engine_samples_total", Help: "Samples that the embedded engine stored.",
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "eks_slo_engine_failures_total",
			Help: "Failures of the embedded engine's collections: the registry could not be read (gather), a sample was refused (append), or a whole collection could not be stored (commit).",
		}, []string{"stage"}),
		lastTime: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "eks_slo_engine_last_collection_timestamp_seconds", Help: "Time of the last collection that the embedded engine stored, in seconds since 1970; 0 before the first.",
		}),
	}
	for _, stage := range []string{"gather", "append", "commit"} {
		m.failures.WithLabelValues(stage)
	}
	registerer.MustRegister(m.samples, m.failures, m.lastTime)
	return m
}

// kept are the families of Prometheus' own hundred that tell of loss.
var kept = []string{
	"prometheus_notifications_dropped_total",
	"prometheus_rule_evaluation_failures_total",
	"prometheus_tsdb_compactions_failed_total",
	"prometheus_tsdb_wal_corruptions_total",
}

// few registers ours and the kept families, and forgets the rest; with no next it forgets all.
type few struct {
	next       prometheus.Registerer
	registered []prometheus.Collector
}

// Register registers a collector whose families are ours or kept.
func (f *few) Register(c prometheus.Collector) error {
	if f.next == nil || !wanted(c) {
		return nil
	}
	if err := f.next.Register(c); err != nil {
		return err
	}
	f.registered = append(f.registered, c)
	return nil
}

// MustRegister panics when two collectors give the same family.
func (f *few) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := f.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister takes a collector back.
func (f *few) Unregister(c prometheus.Collector) bool { return f.next != nil && f.next.Unregister(c) }

// unregister takes everything back, so that a closed engine leaves no frozen figures.
func (f *few) unregister() {
	for _, c := range f.registered {
		f.next.Unregister(c)
	}
	f.registered = nil
}

func wanted(c prometheus.Collector) bool {
	described := make(chan *prometheus.Desc)
	go func() {
		c.Describe(described)
		close(described)
	}()
	want := false
	for d := range described {
		text := d.String() // a Desc gives its name in no other way
		for _, name := range append([]string{"eks_slo_engine_"}, kept...) {
			want = want || strings.Contains(text, `fqName: "`+name)
		}
	}
	return want
}
