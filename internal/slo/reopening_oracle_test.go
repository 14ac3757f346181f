// Tests of reopenings against a brute force that walks every step with every event in its hands.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var reopeningNow = time.Date(2026, 3, 31, 12, 34, 0, 0, time.UTC)

// past is the events of a history in order, each by how long before now it was (0 or less).
type past []occurrence

type occurrence struct {
	at  time.Duration
	bad bool
}

// count is what was in (from, to].
func (p past) count(from, to time.Duration) (c Counts) {
	for _, e := range p[p.after(from):p.after(to)] {
		c.Events++
		if e.bad {
			c.Bad++
		}
	}
	return c
}

// after is the index of the first event later than a time.
func (p past) after(at time.Duration) int {
	i, _ := slices.BinarySearchFunc(p, at+1, func(e occurrence, at time.Duration) int { return cmp.Compare(e.at, at) })
	return i
}

// status is what would be known of the history; hours without events are missing, but for the last.
func (p past) status(o Objective, period time.Duration) Status {
	s := Status{Objective: o, Period: period, At: reopeningNow, Spent: p.count(-period, 0)}
	for end := time.Hour - period; end <= 0; end += time.Hour {
		if c := p.count(end-time.Hour, end); c.Events > 0 || end == 0 {
			s.Hours = append(s.Hours, Hour{End: s.At.Add(end), Counts: c})
		}
	}
	return s
}

// look looks into an hour, and counts how often it was asked.
func (p past) look(asked *int) Look {
	return func(_ context.Context, hour Hour, step time.Duration) (counts []Counts, _ error) {
		*asked++
		end := hour.End.Sub(reopeningNow)
		for from := end - time.Hour; from < end; from += step {
			counts = append(counts, p.count(from, from+step))
		}
		return counts, nil
	}
}

// walk goes forward step by step, with an event each time that one is due, and returns the steps at which the budget is at least the minimum.
func (p past) walk(s Status, terms Terms) (open []time.Duration) {
	events := slices.Clone(p)
	for range terms.More {
		events = append(events, occurrence{0, true})
	}
	rate := p.count(-time.Hour, 0).Events
	for i := int64(1); i <= rate*int64(s.Period/time.Hour); i++ { // the i-th is due at i/rate hours, rounded up to a nanosecond
		events = append(events, occurrence{time.Duration((i*int64(time.Hour) + rate - 1) / rate), false})
	}
	budget := Budget{Objective: s.Objective}
	count := func(e occurrence, by int64) {
		budget.Events += by
		if e.bad {
			budget.Bad += by
		}
	}
	in, out := 0, 0
	for t := time.Duration(0); t <= s.Period; t += terms.Step {
		for ; in < len(events) && events[in].at <= t; in++ {
			count(events[in], 1)
		}
		for ; out < in && events[out].at <= t-s.Period; out++ {
			count(events[out], -1)
		}
		if enough, _ := budget.AtLeast(terms.Minimum); enough {
			open = append(open, t)
		}
	}
	return open
}

// randomPast is a history with outages, gaps, traffic that changes and, for some, a late beginning. Events are at whole seconds, so that many are exactly at the end of a step.
func randomPast(random *rand.Rand, period time.Duration) (p past) {
	begin := -period
	if random.IntN(2) == 0 {
		begin = -time.Duration(random.Int64N(int64(period/time.Second))) * time.Second
	}
	traffic, failing, outage := 1+random.IntN(240), 0., time.Duration(0)
	for second := begin; second <= 0; second += time.Second {
		if second%time.Hour == 0 && random.IntN(4) == 0 {
			traffic = []int{0, 1, 7, 60, 240}[random.IntN(5)]
		}
		if outage -= time.Second; outage < 0 {
			failing, outage = 0, time.Duration(random.Int64N(int64(period/4)))
			if random.IntN(2) == 0 {
				failing = []float64{0.01, 0.1, 0.5, 1}[random.IntN(4)]
				outage /= 4
			}
		}
		if random.IntN(3600) < traffic {
			p = append(p, occurrence{second, random.Float64() < failing})
		}
	}
	return p
}

// TestReopensAsTheBruteForce: for 200 budgets of random histories that reopen, and those between them that do not, or are open.
func TestReopensAsTheBruteForce(t *testing.T) {
	kinds := map[ReopeningKind]int{}
	hours, looks, young, between, steps := 0, 0, 0, 0, []time.Duration{time.Minute, time.Minute, 15 * time.Second, 20 * time.Minute}
	for seed := uint64(0); kinds[ReopeningAt] < 200; seed++ {
		random := rand.New(rand.NewPCG(seed, 5))
		period := time.Duration(2+random.IntN(40)) * time.Hour
		p := randomPast(random, period)
		s := p.status(objective(t, []string{"99.9", "99", "95", "80", "30"}[random.IntN(5)]), period)
		minimum, _ := Exact([]float64{0, 0.1, 0.1, 0.25, 0.9, 1, 1.01}[random.IntN(7)])
		asked := 0
		terms := Terms{Minimum: minimum, More: random.Int64N(2) * random.Int64N(20), Step: steps[random.IntN(4)], Look: p.look(&asked)}

		got := s.Reopens(t.Context(), terms)
		open := p.walk(s, terms)
		want := Reopening{Kind: ReopeningNever}
		switch {
		case len(open) > 0 && open[0] == 0:
			want.Kind = ReopeningOpen
		case len(open) > 0:
			want = Reopening{Kind: ReopeningAt, At: s.At.Add(open[0])}
		}
		if got != want {
			t.Fatalf("seed %d, %s of %s, at least %s, %d more: got %s %s (%v), want %s %s", seed, s.Objective, period, minimum.RatString(), terms.More,
				got.Kind, got.At.Sub(s.At), got.Doubt, want.Kind, want.At.Sub(s.At))
		}
		checkRough(t, s, terms, got, open)
		kinds[got.Kind]++
		if hours, looks = hours+len(s.Hours), looks+asked; got.Kind == ReopeningAt && s.Hours[0].End.Add(period).After(got.At.Add(time.Hour)) {
			young++ // before anything has left
		}
		if got.At.Sub(s.At)%time.Hour != 0 && got.Kind == ReopeningAt {
			between++
		}
	}
	t.Logf("%v; %d by growth alone; %d within an hour; looked into %d of %d hours", kinds, young, between, looks, hours)
	if kinds[ReopeningNever] < 20 || kinds[ReopeningOpen] < 20 || young < 5 || between < 50 {
		t.Errorf("the histories are not various enough: %v, %d by growth alone", kinds, young)
	}
}

// checkRough: who cannot look into hours gets a time at which the budget really is back, no sooner than the first and no later than the first end of an hour at which it is.
func checkRough(t *testing.T, s Status, terms Terms, exact Reopening, open []time.Duration) {
	t.Helper()
	terms.Look = nil
	rough := s.Reopens(t.Context(), terms)
	if exact.Kind != ReopeningAt || rough.Kind != ReopeningAt {
		missed := exact.Kind == ReopeningAt && rough.Kind == ReopeningNever && errors.Is(rough.Doubt, ErrNoLook) // as it was in sight for less than an hour
		if rough.Kind != exact.Kind && !missed {
			t.Fatalf("by the hour it is %s (%v), by the step %s", rough.Kind, rough.Doubt, exact.Kind)
		}
		return
	}
	whole := slices.IndexFunc(open, func(d time.Duration) bool { return d%time.Hour == 0 })
	if !slices.Contains(open, rough.At.Sub(s.At)) || rough.At.Before(exact.At) || whole >= 0 && rough.At.After(s.At.Add(open[whole])) {
		t.Fatalf("by the hour it reopens after %s, by the step after %s", rough.At.Sub(s.At), exact.At.Sub(s.At))
	}
	if !rough.At.Equal(exact.At) && !errors.Is(rough.Doubt, ErrNoLook) {
		t.Fatalf("by the hour it reopens after %s, by the step after %s, without a doubt: %v", rough.At.Sub(s.At), exact.At.Sub(s.At), rough.Doubt)
	}
}
