// Feasibility is what burn-rate alerts can tell of probes at a cadence: failures needed, detection, reset, cold start.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"errors"
	"fmt"
	"math/big"
	"time"
)

// MinFailures is the floor of our alerts: they need this many failures in their long window, whatever the ratio. One failed probe is no news, and two can be one event seen twice.
const MinFailures = 3

// Plan is an objective, the tiers that guard it, and how often one target is probed, seen and judged.
type Plan struct {
	Objective   Objective
	Windows     Windows
	Cadence     time.Duration // between two events of one target
	Scrape      time.Duration // between two scrapes of the exporter
	Evaluation  time.Duration // between two evaluations of the rules
	MinFailures int64         // the floor in the long window; 1: none, as in plain Sloth
}

// NewPlan is a plan with our floor, scraped every 15 s and evaluated every 30 s. Its error names the cadence, which must be positive and leave at least one event in the shortest window.
func NewPlan(objective Objective, windows Windows, cadence time.Duration) (Plan, error) {
	p := Plan{Objective: objective, Windows: windows, Cadence: cadence, Scrape: 15 * time.Second, Evaluation: 30 * time.Second, MinFailures: MinFailures}
	if cadence <= 0 {
		return Plan{}, fmt.Errorf("planning a cadence of %s: %w", cadence, errCadence)
	}
	for _, tier := range windows.Tiers {
		if cadence > tier.Short {
			return Plan{}, fmt.Errorf("planning a cadence of %s: %w; %s looks at %s", cadence, errCadence, tier, tier.Short)
		}
	}
	return p, nil
}

var errCadence = errors.New("a cadence is more than 0 and at most the shortest window of an alert")

// Unguarded is the plan of rules that need no more failures than the ratio does, as plain Sloth's.
func (p Plan) Unguarded() Plan {
	p.MinFailures = 1
	return p
}

// Events is how many whole events there are in a window.
func (p Plan) Events(window time.Duration) int64 { return int64(window / p.Cadence) }

// events is how many events a window holds on average.
func (p Plan) events(window time.Duration) *big.Rat {
	return big.NewRat(int64(window), int64(p.Cadence))
}

// over is the least number of failures whose ratio over a window exceeds the threshold of a tier.
func (p Plan) over(t Tier, window time.Duration) int64 {
	return floor(new(big.Rat).Mul(t.Threshold(p.Objective), p.events(window))) + 1
}

// ByRatio is how many failures in the long window exceed the tier's burn rate: floor(burn × budget × events) + 1, as the comparison is strict.
func (p Plan) ByRatio(t Tier) int64 { return p.over(t, t.Long) }

// Needed is how many failures in the long window make the tier fire: ByRatio, and never less than the floor.
func (p Plan) Needed(t Tier) int64 { return max(p.ByRatio(t), p.MinFailures) }

// CanFire says whether any failure ratio makes the tier fire: burn × budget must be less than 1, and the long window must hold as many events as the floor asks for.
func (p Plan) CanFire(t Tier) bool {
	return t.Threshold(p.Objective).Cmp(big.NewRat(1, 1)) < 0 && p.MinFailures <= p.within(t.Long)+1
}

// fires says whether a lasting failure of every gap-th probe makes the tier fire: the needed failures come within the long window. The short one is a whole part of it, and then holds enough for
// its part. As failures are whole, a share just below the threshold can do so too: 4 failures of 240 probes are more than 1.44 %, though the next hour holds 3.
func (p Plan) fires(t Tier, gap *big.Rat) bool {
	return p.CanFire(t) && p.span(p.Needed(t), gap) < t.Long
}

// span is the time from the first of some failures to the last, when every gap-th probe fails.
func (p Plan) span(failures int64, gap *big.Rat) time.Duration {
	return duration(new(big.Rat).Mul(gap, big.NewRat((failures-1)*int64(p.Cadence), 1)))
}

// Detection is the time from the first failed probe until the tier fires at the latest, when from then on this share of the probes fails, evenly, and none failed before:
// the last failure that is needed, the wait for its scrape and for the evaluation. It is false when the tier never fires at such a share.
func (p Plan) Detection(t Tier, share *big.Rat) (time.Duration, bool) {
	gap := new(big.Rat).Inv(share)
	if !p.fires(t, gap) {
		return 0, false
	}
	return p.span(p.Needed(t), gap) + p.Scrape + p.Evaluation, true
}

// Reset is the time from the last failed probe until the tier no longer holds, at the latest, after a share of failures that lasted as long as the tier needed and on: the short window
// empties, or the long one falls below what is needed, whichever is sooner, and the wait for the evaluation. What keep_firing_for adds is not in it.
// It is false when the tier never fires at such a share.
func (p Plan) Reset(t Tier, share *big.Rat) (time.Duration, bool) {
	gap := new(big.Rat).Inv(share)
	if !p.fires(t, gap) {
		return 0, false
	}
	return p.held(t, gap) + p.Evaluation, true
}

// held is how long the tier holds after the last of many failures.
func (p Plan) held(t Tier, gap *big.Rat) time.Duration {
	return min(t.Short-p.span(p.over(t, t.Short), gap), t.Long-p.span(p.Needed(t), gap))
}

// keepStep is what keep_firing_for is rounded up to.
const keepStep = 5 * time.Minute

// KeepFiringFor is how long the alert must keep firing, so that it does not flap at any share of failures that comes evenly and makes its quick tier fire: at the smallest such share the
// failures are further apart than the tier holds after one of them. It is that gap, in whole steps of 5 minutes; 0 when there is none.
func (p Plan) KeepFiringFor(severity Severity) time.Duration {
	var longest time.Duration
	for _, t := range p.Windows.Of(severity) {
		if t.Speed == Quick && p.CanFire(t) {
			longest = max(longest, p.gap(t))
		}
	}
	return (longest + keepStep - 1) / keepStep * keepStep
}

// gap is the longest time for which a tier does not hold between two failures of a steady share that makes it fire: that of the smallest share, one failure in as many probes as possible.
// Where a single failure fires, any share does, and the gap has no end; it is that of the share that spends the budget at the tier's rate.
func (p Plan) gap(t Tier) time.Duration {
	probes := p.within(t.Long) / max(1, p.Needed(t)-1)
	if p.Needed(t) == 1 {
		probes = floor(new(big.Rat).Inv(t.Threshold(p.Objective)))
	}
	every := big.NewRat(max(1, probes), 1)
	return p.span(2, every) - p.held(t, every)
}

// within is how many probes after a failure the failure is still in a window that is open on the left: all whose distance is less than the window.
func (p Plan) within(window time.Duration) int64 {
	return max(0, (int64(window)+int64(p.Cadence)-1)/int64(p.Cadence)-1)
}

// ColdStart is how long after its first event an SLO alerts on this many failures although it will need more later: the window is young, and a failure is a large share of the few
// events in it. It is 0 when the floor needs more failures than these anyway.
func (p Plan) ColdStart(severity Severity, failures int64) time.Duration {
	var longest time.Duration
	for _, t := range p.Windows.Of(severity) {
		if failures < p.MinFailures || !p.CanFire(t) {
			continue
		}
		young := new(big.Rat).Quo(big.NewRat(failures*int64(p.Cadence), 1), t.Threshold(p.Objective))
		longest = max(longest, min(duration(young), t.Long))
	}
	return longest
}

// Budget is how many events of one target the period holds, and how many of them may be bad.
func (p Plan) Budget() (events, bad int64) {
	events = p.Events(p.Windows.Period)
	return events, p.Objective.BudgetEvents(events)
}

// duration rounds down to a nanosecond.
func duration(nanoseconds *big.Rat) time.Duration { return time.Duration(floor(nanoseconds)) }
