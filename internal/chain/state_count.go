// Targets counted by state and reason code, in the one order in which they are told.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"cmp"
	"maps"
	"slices"
)

// StateCount is how many targets are in a state, and why.
type StateCount struct {
	State TargetState
	N     int
	Codes []CodeCount // ELB's reason codes, the commonest first; a target without a code is in none
}

// CodeCount is how many targets have a code.
type CodeCount struct {
	Code string
	N    int
}

// CountStates counts targets by state: the states of the API in their order, then those that AWS has invented since. States without a target are left out.
func CountStates(targets []TargetHealth) []StateCount {
	states, codes := map[TargetState]int{}, map[TargetState]map[string]int{}
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
	invented := slices.DeleteFunc(slices.Sorted(maps.Keys(states)), func(s TargetState) bool { return slices.Contains(TargetStates, s) })
	var counts []StateCount
	for _, state := range slices.Concat(TargetStates, invented) {
		if n := states[state]; n > 0 {
			counts = append(counts, StateCount{state, n, CountCodes(codes[state])})
		}
	}
	return counts
}

// CountCodes lists how many there are of each code, the commonest first, and of equally common ones by name.
func CountCodes(codes map[string]int) []CodeCount {
	counts := make([]CodeCount, 0, len(codes))
	for code, n := range codes {
		counts = append(counts, CodeCount{code, n})
	}
	slices.SortFunc(counts, func(a, b CodeCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Code, b.Code)) })
	return counts
}
