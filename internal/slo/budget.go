// A budget is what an objective leaves of some events, compared with what was spent: all in whole events and exact fractions.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"math"
	"math/big"
	"strconv"
	"time"
)

// Budget is an objective and the counts of one window that it is held against.
type Budget struct {
	Objective Objective
	Counts
}

// Allowed is how many of the events may be bad, exactly: 86.4 of 86,400 at 99.9 %. The caller may change the number.
func (b Budget) Allowed() *big.Rat {
	return new(big.Rat).Mul(b.Objective.Budget(), new(big.Rat).SetInt64(b.Events))
}

// AllowedEvents is Allowed in whole events: Objective.BudgetEvents of the events.
func (b Budget) AllowedEvents() int64 { return b.Objective.BudgetEvents(b.Events) }

// Left is how many more of the events could have been bad, in whole events: the 61 of "61 of 86". It is negative exactly when Remaining is.
func (b Budget) Left() int64 { return b.AllowedEvents() - b.Bad }

// Burn is how many times the budget was spent: bad / (budget × events), 1 for exactly all of it. For a window shorter than the period it is the burn rate: how many times faster than evenly
// the budget went. It is false when there are no events, of which nothing is known. The caller may change the number.
func (b Budget) Burn() (*big.Rat, bool) {
	if b.Events <= 0 {
		return nil, false
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt64(b.Bad), b.Allowed()), true
}

// Remaining is the share of the budget that is left: 1 - bad / (budget × events), negative when more than all is spent. It is false when there are no events, of which nothing is known.
// The caller may change the number.
func (b Budget) Remaining() (*big.Rat, bool) {
	burn, known := b.Burn()
	if !known {
		return nil, false
	}
	return burn.Sub(big.NewRat(1, 1), burn), true
}

// AtLeast says whether this share of the budget is left, or more. Without events it is not known, and not enough either.
func (b Budget) AtLeast(share *big.Rat) (enough, known bool) {
	remaining, known := b.Remaining()
	return known && remaining.Cmp(share) >= 0, known
}

// Exact is the number that somebody wrote who got this float: 1/10 for 0.1, which the float is not. It is that of the shortest decimal that has the same float, and false for NaN and infinity.
func Exact(x float64) (*big.Rat, bool) {
	return new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
}

// BurnNow is the window whose burn rate is the present one.
const BurnNow = time.Hour

// Budget is that of the period.
func (s Status) Budget() Budget { return Budget{s.Objective, s.Spent} }

// Window is the budget and the counts of one of the windows. It is false when the status has none of this length.
func (s Status) Window(length time.Duration) (Budget, bool) {
	for _, w := range s.Windows {
		if w.Length == length {
			return Budget{s.Objective, w.Counts}, true
		}
	}
	return Budget{}, false
}

// Burn is the burn rate over one of the windows. It is false when there is no such window, or no event in it. The caller may change the number.
func (s Status) Burn(window time.Duration) (*big.Rat, bool) {
	b, ok := s.Window(window)
	if !ok {
		return nil, false
	}
	return b.Burn()
}

// ExhaustionKind tells apart what can be said of the end of a budget.
type ExhaustionKind int

// The kinds of exhaustion.
const (
	ExhaustionUnknown ExhaustionKind = iota // no events, in the period or in the window
	ExhaustionIn                            // after a time, at this burn
	ExhaustionNever                         // nothing burns, or so little that it takes longer than a Duration can say (292 years)
	ExhaustionSpent                         // nothing is left: Remaining is 0 or less
)

// String is the kind as it is written in an answer.
func (k ExhaustionKind) String() string {
	switch k {
	case ExhaustionIn:
		return "in"
	case ExhaustionNever:
		return "never"
	case ExhaustionSpent:
		return "spent"
	case ExhaustionUnknown:
	}
	return "unknown"
}

// Exhaustion is when a budget is spent.
type Exhaustion struct {
	Kind ExhaustionKind
	In   time.Duration // from the status' time; 0 unless the kind is ExhaustionIn
}

// Exhaustion is when nothing will be left of the budget, if bad events go on coming as often as in one of the windows: what is left of the allowed events, through the bad events per time.
// For the burn of now that window is BurnNow, and an hour without a bad event is never, whatever happened before it: who asks after an outage has ended wants to know whether it has.
//
// It is the time that the alerts tell, and that everybody computes: remaining × period / burn. It is the soonest, since it takes nothing for old bad events that leave the period meanwhile,
// nor for the budget of the events to come in a period that has not been observed in full.
func (s Status) Exhaustion(window time.Duration) Exhaustion {
	budget := s.Budget()
	remaining, known := budget.Remaining()
	if !known {
		return Exhaustion{}
	}
	if remaining.Sign() <= 0 {
		return Exhaustion{Kind: ExhaustionSpent}
	}
	burning, ok := s.Window(window)
	if !ok || burning.Events <= 0 {
		return Exhaustion{}
	}
	if burning.Bad <= 0 {
		return Exhaustion{Kind: ExhaustionNever}
	}
	left := new(big.Rat).Mul(remaining, budget.Allowed())
	in := left.Mul(left, big.NewRat(int64(window), burning.Bad))
	if in.Cmp(new(big.Rat).SetInt64(math.MaxInt64)) > 0 {
		return Exhaustion{Kind: ExhaustionNever}
	}
	return Exhaustion{Kind: ExhaustionIn, In: duration(in)}
}

// Partial says that the period was not observed in full, or not known to be: each of its figures is one of less than the period.
func (s Status) Partial() bool { return !(s.Observed >= 1) }

// ObservedTime is how much of the period has data, in whole hours, the nearest.
func (s Status) ObservedTime() time.Duration {
	hours := math.Round(s.Observed * s.Period.Hours())
	if !(hours > 0) { // also when it is no number
		return 0
	}
	return time.Duration(hours) * time.Hour
}

// Age is how old the newest data is, negative when it is newer than the time that is given: two clocks differ. It is false when there is no data.
func (s Status) Age(now time.Time) (time.Duration, bool) {
	if s.Newest.IsZero() {
		return 0, false
	}
	return now.Sub(s.Newest), true
}
