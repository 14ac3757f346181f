// Probers: exporters whose counters count the slots of one target.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// result is how a slot ends.
type result string

// The results; a slot without one never came.
const (
	good    result = "success"
	bad     result = "failure"
	unknown result = "unknown"
	missed  result = ""
)

// prober is one exporter that probes one target.
type prober struct {
	extra  []string                  // labels of its series beside those of the product: names and values
	slot   func(at time.Time) result // how the slot that begins at a time ends
	up     func(at time.Time) bool   // whether the process runs; nil: always
	shift  time.Duration             // of its slots
	each   func(at time.Time) int    // how many events a slot makes; nil: one
	clean  bool                      // it has no series of failures before the first
	counts map[string]float64        // series → value
	series map[string]labels.Labels
	was    bool // up at the last slot
}

// start begins a process: every series at 0.
func (p *prober) start() {
	p.counts, p.series = map[string]float64{}, map[string]labels.Labels{}
	for _, r := range []result{good, bad, unknown} {
		if r != bad || !p.clean {
			p.add("eks_access_probes_total", 0, "result", string(r))
		}
	}
	p.add("eks_access_slots_total", 0)
	p.add("eks_access_failures_total", 0, "step", "sts")
	p.add("eks_access_failure_reasons_total", 0, "step", "sts", "reason", "sts_unreachable")
	p.was = true
}

// add counts.
func (p *prober) add(name string, n float64, pairs ...string) {
	all := append([]string{"__name__", name, "cluster", "prod", "identity", "ci"}, append(pairs, p.extra...)...)
	ls := labels.FromStrings(all...)
	p.counts[ls.String()] += n
	p.series[ls.String()] = ls
}
