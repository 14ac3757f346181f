// A reopening is when enough of a spent budget is back: the bad hours leave the rolling period, and nothing else brings it back.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// ReopeningKind tells apart what can be said of a reopening.
type ReopeningKind int

// The kinds of reopenings.
const (
	ReopeningUnknown ReopeningKind = iota // it cannot be told: Doubt says why
	ReopeningOpen                         // enough is left already
	ReopeningAt                           // at a time
	ReopeningNever                        // not within a period from now: more is asked for than a whole budget, or no events come by which a budget could be known
)

// String is the kind as it is written in an answer.
func (k ReopeningKind) String() string {
	switch k {
	case ReopeningOpen:
		return "open"
	case ReopeningAt:
		return "at"
	case ReopeningNever:
		return "never"
	case ReopeningUnknown:
	}
	return "unknown"
}

// Reopening is when enough of a budget is left again.
type Reopening struct {
	Kind ReopeningKind
	At   time.Time // the first step at which enough is left; zero unless the kind is ReopeningAt
	// Doubt is nil when the answer is exact. Otherwise it says why it cannot be told, or why not to the step: what is not known of the steps within an hour is judged at the end of the hour,
	// so that the time may be up to an hour late, or what was in sight for less than an hour is missed.
	Doubt error
}

// Terms are what is asked of a budget.
type Terms struct {
	Minimum *big.Rat      // the share of the budget that must remain: Exact of a gate's
	More    int64         // bad events that come on top, all of them at the status' time; then there are no more
	Step    time.Duration // the answer is in steps of this from the status' time; an hour has a whole number of them; 0 is a minute
	Look    Look          // what happened within an hour; nil when that is not known
}

// Look tells what was counted in each step of an hour, oldest first: a step ends where the next begins, the last with the hour, and what happens at the end of a step belongs to it. They add up
// to the hour. It is asked only for hours whose steps can matter, mostly one, in the order of time. An error is no harm but to precision.
type Look func(ctx context.Context, hour Hour, step time.Duration) ([]Counts, error)

// The doubts that have no cause of their own.
var (
	// ErrNoHours is the doubt when the status has no hours, none at its end, or others than those of its period: neither what leaves the period is known, nor at which rate events come.
	ErrNoHours = errors.New("the hours of the period are not known up to the last")
	// ErrNoLook is the doubt when the terms have no Look.
	ErrNoLook = errors.New("nothing is known within the hours")
	// ErrHoursDiffer is the doubt when the hours do not add up to what the period has; what they leave out is taken to leave the period last.
	ErrHoursDiffer = errors.New("the hours do not add up to the period")
)

// Reopens says when the budget is at least the minimum again, if from the status' time on no event is bad, and events go on coming as they did in the last hour, evenly.
//
// The window at a time t is (t - period, t]: what happened exactly a period ago is out of it, what happens now is in it. An hour of the status is (End - 1h, End], and leaves step by step in
// (End - 1h + period, End + period]. At a step after the status' time the window holds what it held, less what has left it, and the whole events that have come since: floor(rate × time).
// So a budget is back when bad events leave. It can also be back because more events make it larger, as they do while the period is young and nothing leaves it, and can be lost again when good
// events leave; the answer is the first step at which enough is left. An hour without data has nothing that could leave. After a period all that was is gone.
func (s Status) Reopens(ctx context.Context, terms Terms) Reopening {
	if terms.Step == 0 {
		terms.Step = time.Minute
	}
	if terms.Minimum == nil || terms.More < 0 || terms.Step < 0 || time.Hour%terms.Step != 0 || s.Period <= 0 || s.Period%time.Hour != 0 {
		return Reopening{Doubt: fmt.Errorf("looking when %v of a budget of %s is left, in steps of %s: there must be a minimum, and an hour and a period must have whole numbers of steps and hours",
			terms.Minimum, s.Period, terms.Step)}
	}
	f := s.forecast(terms)
	if f.enough(f.window) {
		return Reopening{Kind: ReopeningOpen}
	}
	if !s.hoursKnown() {
		return Reopening{Doubt: ErrNoHours}
	}
	for passed := time.Duration(0); passed < s.Period; passed += time.Hour {
		leaving := f.leaving(s.At.Add(passed + time.Hour - s.Period))
		if step, ok := f.pass(ctx, leaving, passed+time.Hour == s.Period); ok {
			return Reopening{Kind: ReopeningAt, At: s.At.Add(passed + time.Duration(step)*terms.Step), Doubt: f.doubt}
		}
	}
	return Reopening{Kind: ReopeningNever, Doubt: f.doubt}
}

// hoursKnown says whether the hours are some of the period's, in order, with the last among them.
func (s Status) hoursKnown() bool {
	end := s.At.Add(-s.Period) // of the hour before
	for _, h := range s.Hours {
		if !h.End.After(end) || s.At.Sub(h.End)%time.Hour != 0 || h.Bad < 0 || h.Events < 0 {
			return false
		}
		end = h.End
	}
	return len(s.Hours) > 0 && end.Equal(s.At)
}

// forecast is what the rolling window will hold.
type forecast struct {
	terms  Terms
	steps  int64  // in an hour
	window Counts // at the end of the hours that have passed
	hours  []Hour // that have not left it
	rest   Counts // what the window has and the hours have not; it leaves at the very end
	rate   int64  // events that come in an hour
	doubt  error  // the first

	share, whole *big.Int // enough is left when bad × whole <= events × share
	left, right  big.Int  // scratch
}

// forecast begins with the status, and the bad events that come on top.
func (s Status) forecast(terms Terms) *forecast {
	f := &forecast{terms: terms, steps: int64(time.Hour / terms.Step), hours: s.Hours}
	f.window = Counts{Bad: s.Spent.Bad + terms.More, Events: s.Spent.Events + terms.More}
	f.rest = f.window
	for _, h := range s.Hours {
		f.rest = f.rest.less(h.Counts)
		f.rate = h.Events // that of the last
	}
	if f.rest.Bad != terms.More || f.rest.Events != terms.More {
		f.doubt = fmt.Errorf("%w: it has %d more bad and %d more events", ErrHoursDiffer, f.rest.Bad-terms.More, f.rest.Events-terms.More)
	}
	may := new(big.Rat).Sub(big.NewRat(1, 1), terms.Minimum) // be spent
	may.Mul(may, s.Objective.Budget())
	f.share, f.whole = may.Num(), may.Denom()
	return f
}

// enough says whether so much of the budget is left as the terms ask for: 1 - bad / (budget × events) >= minimum. Without events that is not known.
func (f *forecast) enough(c Counts) bool {
	if c.Events <= 0 {
		return false
	}
	f.left.Mul(f.left.SetInt64(c.Bad), f.whole)
	f.right.Mul(f.right.SetInt64(c.Events), f.share)
	return f.left.Cmp(&f.right) <= 0
}

// leaving takes the hour with this end; it is empty when it has no data.
func (f *forecast) leaving(end time.Time) Hour {
	if len(f.hours) == 0 || !f.hours[0].End.Equal(end) {
		return Hour{End: end}
	}
	hour := f.hours[0]
	f.hours = f.hours[1:]
	return hour
}

// pass lets an hour go by in which another leaves the window, and tells at which step of it, from 1, enough is left.
func (f *forecast) pass(ctx context.Context, hour Hour, last bool) (step int64, ok bool) {
	best := Counts{Bad: f.window.Bad - hour.Bad, Events: f.window.Events + f.rate} // all the bad are gone, none of the good, and all that come have come
	if last || f.enough(best) {
		if step, ok = f.search(f.look(ctx, hour)); ok {
			return step, true
		}
	}
	f.window = f.window.less(hour.Counts)
	if last {
		f.window = f.window.less(f.rest)
	}
	f.window.Events += f.rate
	return f.steps, f.enough(f.window)
}

// search goes through the steps of an hour, but the last of them.
func (f *forecast) search(leaving []Counts) (step int64, ok bool) {
	window := f.window
	for i, c := range leaving {
		window = window.less(c)
		step = int64(i) + 1
		if f.enough(Counts{Bad: window.Bad, Events: window.Events + f.rate*step/f.steps}) {
			return step, true
		}
	}
	return 0, false
}

// look is what leaves the window in each step of an hour but the last, which ends with the hour; none when that is not known.
func (f *forecast) look(ctx context.Context, hour Hour) []Counts {
	if hour.Bad == 0 && hour.Events == 0 {
		return make([]Counts, f.steps-1)
	}
	if f.terms.Look == nil {
		f.doubtful(ErrNoLook)
		return nil
	}
	counts, err := f.terms.Look(ctx, hour, f.terms.Step)
	if err != nil {
		f.doubtful(fmt.Errorf("looking into the hour that ends at %s: %w", hour.End.Format(time.RFC3339), err))
		return nil
	}
	rest := hour.Counts
	negative := slices.ContainsFunc(counts, func(c Counts) bool { return c.Bad < 0 || c.Events < 0 })
	for _, c := range counts {
		rest = rest.less(c)
	}
	if int64(len(counts)) != f.steps || negative || rest.Bad != 0 || rest.Events != 0 {
		f.doubtful(fmt.Errorf("looking into the hour that ends at %s: %d steps of %s do not add up to its %d bad of %d events",
			hour.End.Format(time.RFC3339), len(counts), f.terms.Step, hour.Bad, hour.Events))
		return nil
	}
	return counts[:f.steps-1]
}

// doubtful keeps the first doubt.
func (f *forecast) doubtful(err error) {
	if f.doubt == nil {
		f.doubt = err
	}
}

// less takes the events of others away.
func (c Counts) less(other Counts) Counts {
	return Counts{Bad: c.Bad - other.Bad, Events: c.Events - other.Events}
}
