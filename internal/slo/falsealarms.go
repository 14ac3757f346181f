// False alarms are what the rules fire on when failures come independently of each other at a rate that the objective allows.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"math"
	"math/rand/v2"
	"time"
)

// Estimate is a number of alarms per 30 days, found by trying.
type Estimate struct {
	PerMonth float64
	Error    float64 // one standard deviation of PerMonth; with no alarm at all, the rate that would have shown one with a probability of 95 %
}

// alarmFailures is how many failures an estimate draws: at 99.9 % and 15 s some 1,200 months at full burn.
const alarmFailures = 200_000

// FalseAlarms estimates how often an alert begins to fire in 30 days, when each probe fails with a probability of burn × budget, independently of the others. At a burn of 1 or less nothing
// is wrong but what the objective allows; each page is then false.
//
// Every failure of one long history is looked at: between two failures no count grows, so an alert begins at a failure or not at all. The draw is seeded, so that the same plan has the
// same estimate. Real failures come in bursts, which alert oftener in bad months and more seldom in the others.
func (p Plan) FalseAlarms(severity Severity, burn float64, keep time.Duration) Estimate {
	budget, _ := p.Objective.Budget().Float64()
	probability := burn * budget
	if probability <= 0 || probability >= 1 {
		return Estimate{}
	}
	var tiers []alarmTier
	for _, t := range p.Windows.Of(severity) {
		tiers = append(tiers, alarmTier{needed: p.Needed(t), short: p.over(t, t.Short), longProbes: p.within(t.Long), shortProbes: p.within(t.Short)})
	}
	h := newHistory(tiers)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a simulation that must repeat itself, no secret
	var at, alarms int64
	until := int64(math.MinInt64) // the last probe at which the alert still fires
	for range alarmFailures {
		at += 1 + int64(math.Log(1-random.Float64())/math.Log1p(-probability)) // the gaps of independent trials are geometric
		h.add(at)
		held, fires := h.heldUntil(at)
		if !fires {
			continue
		}
		if at > until {
			alarms++
		}
		until = max(until, held+p.within(keep))
	}
	months := float64(at) * p.Cadence.Seconds() / (30 * Day).Seconds()
	if alarms == 0 {
		return Estimate{Error: 3 / months} // the rule of three
	}
	return Estimate{PerMonth: float64(alarms) / months, Error: math.Sqrt(float64(alarms)) / months}
}

// alarmTier is a tier in numbers of failures and probes.
type alarmTier struct {
	needed, short           int64 // failures that the windows must hold
	longProbes, shortProbes int64
}

// history is the probes that failed lately, as many as any tier needs.
type history struct {
	tiers  []alarmTier
	failed []int64 // a ring
	next   int
}

func newHistory(tiers []alarmTier) *history {
	size := int64(1)
	for _, t := range tiers {
		size = max(size, t.needed, t.short)
	}
	h := &history{tiers: tiers, failed: make([]int64, size)}
	for i := range h.failed {
		h.failed[i] = math.MinInt64 / 2 // long ago
	}
	return h
}

func (h *history) add(at int64) {
	h.failed[h.next] = at
	h.next = (h.next + 1) % len(h.failed)
}

// latest is the n-th failure from the end, counted from 1.
func (h *history) latest(n int64) int64 {
	size := len(h.failed)
	return h.failed[(h.next-int(n)+size)%size]
}

// heldUntil says whether a tier holds at the failure just added, and until which probe the last of those that do goes on to hold without another.
func (h *history) heldUntil(at int64) (last int64, fires bool) {
	for _, t := range h.tiers {
		end := min(h.latest(t.needed)+t.longProbes, h.latest(t.short)+t.shortProbes)
		if end >= at {
			last, fires = max(last, end), true
		}
	}
	return last, fires
}
