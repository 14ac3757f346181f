// The metrics that a simulated prober serves: a table of families, each with what it counts of an event.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// event is one slot of one target: what was seen, and what it is blamed on.
type event struct {
	result  string // success, failure, unknown
	step    chain.Step
	reason  chain.Reason
	seconds float64 // that the chain took
	absent  int     // targets of a target group that are neither good nor bad
	times   int     // how many of these happen at once
}

// The results, as metrics write them.
const (
	success = "success"
	failure = "failure"
	unknown = "unknown"
)

var results = []string{success, failure, unknown}

// groupSize is how many targets a target group has.
const groupSize = 3

// family is a metric. Rows are the values of its labels, in the order of the labels.
type family struct {
	name   string
	labels []string
	primed func(target string) [][]string          // that exist from the start
	counts func(target string, e event) [][]string // that an event adds 1 to; those that are not primed are ignored
	gauge  func(row []string, e event) float64     // instead of counts: the value after an event; NaN: there is no such series then
}

// Where the targets are. A target is an identity on the cluster, or a target group in the region.
const (
	cluster = "simulated"
	region  = "eu-west-1"
)

var chainBuckets = []float64{.1, .25, .5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30}
var requestBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// productFamilies are the metrics of the product that rules may read.
var productFamilies = slices.Concat(
	chainFamilies("eks_access", chain.KindAccess, []string{"cluster", "identity"}, cluster),
	chainFamilies("alb", chain.KindALB, []string{"target_group"}, region),
	durations("eks_access_chain_duration_seconds", []string{"cluster"}, chainBuckets, func(string) []string { return []string{cluster} }),
	durations("alb_request_duration_seconds", []string{"target_group"}, requestBuckets, func(target string) []string { return []string{target} }),
	[]family{
		{name: "eks_access_target_info", labels: []string{"cluster", "identity"}, primed: byTarget, gauge: always},
		{name: "alb_target_info", labels: []string{"target_group", "region"}, primed: byGroup, gauge: always},
		{name: "eks_slo_exporter_build_info", labels: []string{"version"}, primed: func(string) [][]string { return [][]string{{"simulated"}} }, gauge: always},
		{name: "eks_access_up", labels: []string{"cluster", "identity"}, primed: byTarget, gauge: whether(success)},
		{name: "eks_access_failing", labels: []string{"cluster", "identity", "step", "reason"}, primed: failing(chain.KindAccess, byTarget), gauge: whileFailing},
		{name: "alb_failing", labels: []string{"target_group", "step", "reason"}, primed: failing(chain.KindALB, byName), gauge: whileFailing},
		{
			name: "alb_group_step_results_total", labels: []string{"target_group", "step", "result"},
			primed: func(t string) [][]string { return stepResults(chain.KindALB, t)(t) },
			counts: func(t string, e event) [][]string { return stepsOf(chain.KindALB, t, e) },
		},
		{name: "alb_fail_open", labels: []string{"target_group"}, primed: byName, gauge: whether(failure)},
		{name: "alb_targets", labels: []string{"target_group", "state"}, primed: across(byName, "healthy", "unhealthy", "initial", "draining"), gauge: targetsIn},
		{name: "alb_target_observations_total", labels: []string{"target_group", "result"}, primed: across(byName, "good", "bad"), counts: observations},
	},
)

// chainFamilies are what every chain counts alike. place is the value of the label that reasons are counted by: the last but one of a target's, or the region.
func chainFamilies(prefix string, kind chain.Kind, target []string, place string) []family {
	at := "cluster"
	name := func(target string) []string { return []string{place, target} }
	if kind == chain.KindALB {
		at = "region"
		name = func(target string) []string { return []string{target} }
	}
	with := func(more ...string) []string { return append(slices.Clone(target), more...) }
	row := func(target string, more ...string) [][]string { return [][]string{append(name(target), more...)} }
	return []family{
		{name: prefix + "_slots_total", labels: target, primed: func(t string) [][]string { return row(t) }, counts: func(t string, _ event) [][]string { return row(t) }},
		{
			name: prefix + "_probes_total", labels: with("result"), primed: each(results, func(t, result string) []string { return append(name(t), result) }),
			counts: func(t string, e event) [][]string { return row(t, e.result) },
		},
		{
			name: prefix + "_failures_total", labels: with("step"), primed: each(stepNames(kind), func(t, step string) []string { return append(name(t), step) }),
			counts: only(failure, func(t string, e event) [][]string { return row(t, e.step.String()) }),
		},
		{
			name: prefix + "_failure_reasons_total", labels: []string{at, "step", "reason"}, primed: reasons(kind, place),
			counts: only(failure, func(_ string, e event) [][]string { return [][]string{{place, e.step.String(), string(e.reason)}} }),
		},
		{
			name: prefix + "_unknown_reasons_total", labels: []string{at, "reason"}, primed: func(string) [][]string { return [][]string{{place, string(unknownReason)}} },
			counts: only(unknown, func(string, event) [][]string { return [][]string{{place, string(unknownReason)}} }),
		},
		{
			name: prefix + "_step_results_total", labels: []string{at, "step", "result"}, primed: stepResults(kind, place),
			counts: func(_ string, e event) [][]string { return stepsOf(kind, place, e) },
		},
	}
}

const unknownReason = chain.ReasonNotMeasurable

func durations(name string, target []string, buckets []float64, values func(string) []string) []family {
	le := []string{"+Inf"}
	for _, bound := range buckets {
		le = append(le, boundText(bound))
	}
	succeeded := func(counts func(t string, e event) [][]string) func(string, event) [][]string {
		return only(success, counts)
	}
	return []family{
		{
			name: name + "_bucket", labels: append(slices.Clone(target), "le"), primed: each(le, func(t, le string) []string { return append(values(t), le) }),
			counts: succeeded(func(t string, e event) [][]string {
				rows := [][]string{append(values(t), "+Inf")}
				for i, bound := range buckets {
					if e.seconds <= bound {
						rows = append(rows, append(values(t), le[i+1]))
					}
				}
				return rows
			}),
		},
		{
			name: name + "_count", labels: target, primed: func(t string) [][]string { return [][]string{values(t)} },
			counts: succeeded(func(t string, _ event) [][]string { return [][]string{values(t)} }),
		},
	}
}

// boundText is the bound of a bucket as Prometheus 3 stores it: always with a point.
func boundText(bound float64) string {
	text := strconv.FormatFloat(bound, 'g', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func targetName(i int) string { return fmt.Sprintf("simulated-%d", i+1) }
