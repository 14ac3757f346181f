// An attribution shares the bad events of a period out among what caused them, in whole events that add up.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// Part is how many bad events one layer and reason has, by a count of its own: a sum over hours, or a weight that a gauge gives. Counts of different things seldom agree to the event.
type Part struct {
	Step, Reason string  // both "": nothing explains them
	Bad          float64 // what is no positive finite number explains nothing
}

// portion is a part on its way to whole events.
type portion struct {
	cause     Cause
	weight    *big.Rat // what was counted
	remainder *big.Rat // what its whole events leave of its quota
}

// Attribute shares the bad events of a period out among the parts. The causes add up to the total exactly, none is empty, and they come with the most first, then by name, and what nothing
// explains after its equals.
//
// The sum of the parts, rounded once (halves upwards), is what is explained; the rest of the total is a cause without a step and a reason. When the parts claim more than the total, they are
// weights of it. Whole events are then given by largest remainder, so that parts which are whole numbers and fit are what they were, and no part is off by a whole event.
func Attribute(total int64, parts []Part) []Cause {
	if total <= 0 {
		return nil
	}
	portions, sum := portionsOf(parts)
	explained := total
	if rounded := new(big.Rat).Add(sum, big.NewRat(1, 2)); rounded.Cmp(new(big.Rat).SetInt64(total)) < 0 {
		explained = floor(rounded)
	}
	distribute(explained, portions, sum)
	causes := make([]Cause, 0, len(portions)+1)
	unexplained := Cause{Bad: total - explained}
	for _, p := range portions {
		if p.cause.unexplained() {
			unexplained.Bad += p.cause.Bad
		} else {
			causes = append(causes, p.cause)
		}
	}
	causes = slices.DeleteFunc(append(causes, unexplained), func(c Cause) bool { return c.Bad == 0 })
	slices.SortFunc(causes, func(a, b Cause) int { return cmp.Or(cmp.Compare(b.Bad, a.Bad), byName(a, b)) })
	return causes
}

// portionsOf adds up the parts of the same name; the portions are ordered by it.
func portionsOf(parts []Part) (portions []portion, sum *big.Rat) {
	weights := map[Cause]*big.Rat{}
	sum = new(big.Rat)
	for _, part := range parts {
		if !(part.Bad > 0) || math.IsInf(part.Bad, 1) { // what is no number is not more than 0 either
			continue
		}
		weight, key := new(big.Rat).SetFloat64(part.Bad), Cause{Step: part.Step, Reason: part.Reason}
		if weights[key] == nil {
			weights[key] = new(big.Rat)
		}
		weights[key].Add(weights[key], weight)
		sum.Add(sum, weight)
	}
	for cause, weight := range weights {
		portions = append(portions, portion{cause: cause, weight: weight})
	}
	slices.SortFunc(portions, func(a, b portion) int { return byName(a.cause, b.cause) })
	return portions, sum
}

// distribute gives each portion the whole events of its quota, and what is left over one by one to the largest remainders; of equal ones first to the larger part, then by name.
func distribute(events int64, portions []portion, sum *big.Rat) {
	if len(portions) == 0 {
		return
	}
	each := new(big.Rat).Quo(new(big.Rat).SetInt64(events), sum)
	over := events
	for i := range portions {
		p := &portions[i]
		quota := new(big.Rat).Mul(p.weight, each)
		p.cause.Bad = floor(quota)
		p.remainder = quota.Sub(quota, new(big.Rat).SetInt64(p.cause.Bad))
		over -= p.cause.Bad
	}
	slices.SortStableFunc(portions, func(a, b portion) int { return cmp.Or(b.remainder.Cmp(a.remainder), b.weight.Cmp(a.weight)) })
	for i := range over {
		portions[i].cause.Bad++
	}
}

func (c Cause) unexplained() bool { return c.Step == "" && c.Reason == "" }

// byName orders causes by step and reason, what nothing explains last.
func byName(a, b Cause) int {
	if a.unexplained() != b.unexplained() {
		if a.unexplained() {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Reason, b.Reason))
}
