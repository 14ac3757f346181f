// How target groups are told to people: counts by state with their codes, and lists that end somewhere.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// listLimit is how many names a text holds.
const listLimit = 8

// enumerate joins names, and counts those beyond the limit.
func enumerate(names []string) string {
	if len(names) <= listLimit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:listLimit], ", "), len(names)-listLimit)
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// summarize counts targets by state, with the codes of the states that have one: "2 healthy, 3 unhealthy (Target.Timeout 2, Target.FailedHealthChecks 1)".
func summarize(targets []chain.TargetHealth) string {
	states, codes := map[chain.TargetState]int{}, map[chain.TargetState]map[string]int{}
	for _, t := range targets {
		states[t.State]++
		if t.Code == "" {
			continue
		}
		if codes[t.State] == nil {
			codes[t.State] = map[string]int{}
		}
		codes[t.State][t.Code]++
	}
	var parts []string
	for _, state := range orderedStates(states) {
		part := fmt.Sprintf("%d %s", states[state], state)
		if len(codes[state]) > 0 {
			part += " (" + countCodes(codes[state]) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "no target"
	}
	return strings.Join(parts, ", ")
}

// orderedStates lists the states that are there: those that are known in their order, then what AWS has invented since.
func orderedStates(states map[chain.TargetState]int) []chain.TargetState {
	var order []chain.TargetState
	for _, state := range chain.TargetStates {
		if states[state] > 0 {
			order = append(order, state)
		}
	}
	for _, state := range slices.Sorted(maps.Keys(states)) {
		if !slices.Contains(chain.TargetStates, state) {
			order = append(order, state)
		}
	}
	return order
}

// countCodes lists codes, the commonest first.
func countCodes(codes map[string]int) string {
	names := slices.Sorted(maps.Keys(codes))
	slices.SortStableFunc(names, func(a, b string) int { return codes[b] - codes[a] })
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %d", name, codes[name]))
	}
	return strings.Join(parts, ", ")
}
