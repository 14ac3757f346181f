// The rows of families: which exist from the start, and which an event counts.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func byTarget(target string) [][]string { return [][]string{{cluster, target}} }
func byGroup(target string) [][]string  { return [][]string{{target, region}} }
func byName(target string) [][]string   { return [][]string{{target}} }

func always([]string, event) float64 { return 1 }

// whether is a gauge that is 1 after an event of this result, and 0 after others.
func whether(result string) func([]string, event) float64 {
	return func(_ []string, e event) float64 {
		if e.result == result {
			return 1
		}
		return 0
	}
}

func only(result string, counts func(string, event) [][]string) func(string, event) [][]string {
	return func(target string, e event) [][]string {
		if e.result != result {
			return nil
		}
		return counts(target, e)
	}
}

func each(values []string, row func(target, value string) []string) func(string) [][]string {
	return func(target string) [][]string {
		var rows [][]string
		for _, value := range values {
			rows = append(rows, row(target, value))
		}
		return rows
	}
}

func across(rows func(string) [][]string, values ...string) func(string) [][]string {
	return func(target string) [][]string {
		var all [][]string
		for _, row := range rows(target) {
			for _, value := range values {
				all = append(all, append(slices.Clone(row), value))
			}
		}
		return all
	}
}

func stepNames(kind chain.Kind) []string {
	var names []string
	for _, step := range kind.Steps() {
		names = append(names, step.String())
	}
	return names
}

// reasons are all that a chain may blame. The prober serves each at 0; the world leaves out those that no event names, which nobody could tell apart.
func reasons(kind chain.Kind, place string) func(string) [][]string {
	return func(string) [][]string {
		var rows [][]string
		for _, step := range kind.Steps() {
			for _, reason := range chain.ReasonsOf(step) {
				rows = append(rows, []string{place, step.String(), string(reason.Reason)})
			}
		}
		return rows
	}
}

func stepResults(kind chain.Kind, place string) func(string) [][]string {
	return func(string) [][]string {
		var rows [][]string
		for _, step := range kind.Steps() {
			for _, result := range results {
				rows = append(rows, []string{place, step.String(), result})
			}
		}
		return rows
	}
}

// stepsOf are the results of the steps of a run: those before the blamed one succeeded, those after it were skipped.
func stepsOf(kind chain.Kind, place string, e event) [][]string {
	var rows [][]string
	for _, step := range kind.Steps() {
		if e.result != success && step == e.step {
			return append(rows, []string{place, step.String(), e.result})
		}
		rows = append(rows, []string{place, step.String(), success})
	}
	return rows
}

// observations are the targets of a group at one reading: all healthy or none, but for those of a rollout.
func observations(target string, e event) [][]string {
	result := "good"
	switch e.result {
	case failure:
		result = "bad"
	case unknown:
		return nil
	}
	return slices.Repeat([][]string{{target, result}}, groupSize-min(e.absent, groupSize))
}

func targetsIn(row []string, e event) float64 {
	eligible := groupSize - min(e.absent, groupSize)
	switch state := row[1]; {
	case state == "initial":
		return float64(groupSize - eligible)
	case state == "healthy" && e.result != failure, state == "unhealthy" && e.result == failure:
		return float64(eligible)
	}
	return 0
}

// failing are the rows of every step and reason that a target can be blamed for.
func failing(kind chain.Kind, target func(string) [][]string) func(string) [][]string {
	return func(t string) [][]string {
		var rows [][]string
		for _, step := range kind.Steps() {
			for _, reason := range chain.ReasonsOf(step) {
				rows = append(rows, append(slices.Clone(target(t)[0]), step.String(), string(reason.Reason)))
			}
		}
		return rows
	}
}

// whileFailing is 1 while the latest event is a failure of the row's step and reason.
func whileFailing(row []string, e event) float64 {
	if n := len(row); e.result == failure && row[n-2] == e.step.String() && row[n-1] == string(e.reason) {
		return 1
	}
	return math.NaN()
}
