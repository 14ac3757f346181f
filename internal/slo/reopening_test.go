// Tests of reopenings whose time was found by hand.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// month is 30 days of a probe every 15 s, the first of them 15 s after the beginning, of which an outage hits some, 10 days and 20 minutes into it.
func month(outage time.Duration) (p past) {
	begin := -20*Day + 20*time.Minute
	for at := 15*time.Second - 30*Day; at <= 0; at += 15 * time.Second {
		p = append(p, occurrence{at, at > begin && at <= begin+outage})
	}
	return p
}

// TestReopensAfterAMonth: 172.8 of 172,800 may fail, and 155 with a tenth left. An outage of 50 minutes is 200 probes, of which 45 must leave: those of its first 11 minutes and 15 seconds,
// which are whole after 12 minutes.
func TestReopensAfterAMonth(t *testing.T) {
	tenth := big.NewRat(1, 10)
	begin := 10*Day + 20*time.Minute // the outage begins to leave
	tests := map[string]struct {
		outage time.Duration
		terms  Terms
		kind   ReopeningKind
		after  time.Duration
		asked  int
	}{
		"by the minute":              {50 * time.Minute, Terms{Minimum: tenth}, ReopeningAt, begin + 12*time.Minute, 1},
		"by 15 seconds":              {50 * time.Minute, Terms{Minimum: tenth, Step: 15 * time.Second}, ReopeningAt, begin + 11*time.Minute + 15*time.Second, 1},
		"by the second":              {50 * time.Minute, Terms{Minimum: tenth, Step: time.Second}, ReopeningAt, begin + 11*time.Minute + 15*time.Second, 1},
		"with 3 more failures":       {50 * time.Minute, Terms{Minimum: tenth, More: 3}, ReopeningAt, begin + 12*time.Minute, 1},
		"with 4 more failures":       {50 * time.Minute, Terms{Minimum: tenth, More: 4}, ReopeningAt, begin + 13*time.Minute, 1},
		"with 155 more failures":     {50 * time.Minute, Terms{Minimum: tenth, More: 155}, ReopeningAt, begin + 50*time.Minute, 1},
		"with as many as are kept":   {50 * time.Minute, Terms{Minimum: tenth, More: 156}, ReopeningAt, 30 * Day, 1},
		"all of it":                  {50 * time.Minute, Terms{Minimum: big.NewRat(1, 1)}, ReopeningAt, begin + 50*time.Minute, 1},
		"more than all of it":        {50 * time.Minute, Terms{Minimum: big.NewRat(10001, 10000)}, ReopeningNever, 0, 1},
		"nothing, but not less":      {50 * time.Minute, Terms{Minimum: new(big.Rat)}, ReopeningAt, begin + 7*time.Minute, 1}, // 28 leave
		"the last that may fail":     {38*time.Minute + 45*time.Second, Terms{Minimum: tenth}, ReopeningOpen, 0, 0},
		"the first that is too much": {39 * time.Minute, Terms{Minimum: tenth}, ReopeningAt, begin + time.Minute, 1},
		"one on top is too much":     {38*time.Minute + 45*time.Second, Terms{Minimum: tenth, More: 1}, ReopeningAt, begin + time.Minute, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, asked := month(test.outage), 0
			test.terms.Look = p.look(&asked)
			s := p.status(objective(t, "99.9"), 30*Day)
			got := s.Reopens(t.Context(), test.terms)
			want := Reopening{Kind: test.kind}
			if test.kind == ReopeningAt {
				want.At = s.At.Add(test.after)
			}
			if got != want || asked != test.asked {
				t.Errorf("%s after %s (%v), asked %d times; want %s after %s, %d times", got.Kind, got.At.Sub(s.At), got.Doubt, asked, test.kind, test.after, test.asked)
			}
		})
	}
}

// hoursOf has one hour for each pair of bad and events, the last of them now; an hour with -1 events has no data.
func hoursOf(counts ...Counts) (hours []Hour) {
	for i, c := range counts {
		if c.Events >= 0 {
			hours = append(hours, Hour{End: reopeningNow.Add(-time.Duration(len(counts)-1-i) * time.Hour), Counts: c})
		}
	}
	return hours
}

func bad(bad, events int64) Counts { return Counts{Bad: bad, Events: events} }

func TestReopensByHours(t *testing.T) {
	nothing, none := bad(0, -1), bad(0, 0)
	half := Terms{Minimum: big.NewRat(1, 2)} // of 50 %: a quarter may fail
	tests := map[string]struct {
		hours []Hour // of 4
		more  int64
		spent Counts
		kind  ReopeningKind
		after time.Duration
		doubt error
	}{
		"leaves with its hour":        {hoursOf(bad(0, 60), bad(60, 60), bad(60, 60), bad(0, 60)), 0, bad(120, 240), ReopeningAt, 2 * time.Hour, ErrNoLook},
		"a young one grows":           {hoursOf(bad(30, 60)), 0, bad(30, 60), ReopeningAt, time.Hour, nil},        // 30 of 120, with nothing to leave for 3 hours
		"a young one grows, in part":  {hoursOf(bad(16, 60)), 0, bad(16, 60), ReopeningAt, 4 * time.Minute, nil},  // 16 of 64
		"and with more":               {hoursOf(bad(16, 60)), 3, bad(16, 60), ReopeningAt, 13 * time.Minute, nil}, // 19 of 63 + 13
		"nothing leaves from a gap":   {hoursOf(bad(9, 10), nothing, nothing, bad(0, 10)), 0, bad(9, 20), ReopeningAt, time.Hour, ErrNoLook},
		"a gap does not help":         {hoursOf(nothing, nothing, bad(9, 10), bad(0, 10)), 0, bad(9, 20), ReopeningAt, 96 * time.Minute, nil}, // 9 of 36: 16 more at 10 an hour
		"an hour of no events":        {hoursOf(none, bad(9, 10), bad(0, 10)), 0, bad(9, 20), ReopeningAt, 96 * time.Minute, nil},
		"no more events, bad go":      {hoursOf(bad(0, 10), bad(9, 10), bad(0, 10), none), 0, bad(9, 30), ReopeningAt, 2 * time.Hour, ErrNoLook},
		"no more events, good go":     {hoursOf(bad(0, 10), bad(0, 10), bad(9, 10), none), 0, bad(9, 30), ReopeningNever, 0, ErrNoLook},
		"no event ever":               {hoursOf(none, none), 0, none, ReopeningNever, 0, nil},
		"no event, but hours unknown": {nil, 0, none, ReopeningUnknown, 0, ErrNoHours},
		"open without hours":          {nil, 0, bad(1, 4), ReopeningOpen, 0, nil},
		"spent without hours":         {nil, 0, bad(2, 4), ReopeningUnknown, 0, ErrNoHours},
		"the last hour has no data":   {hoursOf(bad(9, 10), bad(0, 10), nothing), 0, bad(9, 20), ReopeningUnknown, 0, ErrNoHours},
		"an hour before the period":   {hoursOf(bad(9, 10), bad(0, 10), none, none, none), 0, bad(9, 20), ReopeningUnknown, 0, ErrNoHours},
		"hours out of order":          {[]Hour{hoursOf(bad(9, 10))[0], hoursOf(bad(9, 10))[0]}, 0, bad(18, 20), ReopeningUnknown, 0, ErrNoHours},
		"half an hour":                {[]Hour{{reopeningNow.Add(-30 * time.Minute), bad(9, 10)}, {reopeningNow, bad(0, 10)}}, 0, bad(9, 20), ReopeningUnknown, 0, ErrNoHours},
		"less than nothing":           {hoursOf(bad(9, 10), bad(-1, 10)), 0, bad(8, 20), ReopeningUnknown, 0, ErrNoHours},
		"hours that hold too little":  {hoursOf(bad(0, 60), bad(60, 60), bad(0, 60), bad(0, 60)), 0, bad(121, 240), ReopeningAt, 4 * time.Hour, ErrHoursDiffer},
		"hours that hold too much":    {hoursOf(bad(0, 60), bad(62, 60), bad(0, 60), bad(0, 60)), 0, bad(61, 240), ReopeningAt, 2 * time.Hour, ErrHoursDiffer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := Status{Objective: objective(t, "50"), Period: 4 * time.Hour, At: reopeningNow, Spent: test.spent, Hours: test.hours}
			half.More = test.more
			got := s.Reopens(t.Context(), half)
			want := time.Time{}
			if test.kind == ReopeningAt {
				want = s.At.Add(test.after)
			}
			if got.Kind != test.kind || !got.At.Equal(want) || !errors.Is(got.Doubt, test.doubt) {
				t.Errorf("%s after %s (%v), want %s after %s (%v)", got.Kind, got.At.Sub(s.At), got.Doubt, test.kind, test.after, test.doubt)
			}
		})
	}
}

// TestReopensWithoutALook: a look that fails, or that does not fit its hour, costs the minute and nothing else.
func TestReopensWithoutALook(t *testing.T) {
	gone := errors.New("the server is gone")
	exact := make([]Counts, 60)
	exact[29], exact[59] = bad(60, 60), bad(0, 0)
	short, other, negative := exact[:30], slices.Clone(exact), slices.Clone(exact)
	other[3].Events++
	negative[3], negative[4] = bad(0, -1), bad(0, 1)
	tests := map[string]struct {
		counts []Counts
		err    error
		after  time.Duration
		doubt  string
	}{
		"exact":    {exact, nil, 90 * time.Minute, ""},
		"an error": {nil, gone, 2 * time.Hour, "looking into the hour that ends at 2026-03-31T10:34:00Z: the server is gone"},
		"short":    {short, nil, 2 * time.Hour, "looking into the hour that ends at 2026-03-31T10:34:00Z: 30 steps of 1m0s do not add up to its 60 bad of 60 events"},
		"other":    {other, nil, 2 * time.Hour, "looking into the hour that ends at 2026-03-31T10:34:00Z: 60 steps of 1m0s do not add up to its 60 bad of 60 events"},
		"negative": {negative, nil, 2 * time.Hour, "looking into the hour that ends at 2026-03-31T10:34:00Z: 60 steps of 1m0s do not add up to its 60 bad of 60 events"},
	}
	s := Status{Objective: objective(t, "50"), Period: 4 * time.Hour, At: reopeningNow, Spent: bad(110, 240), Hours: hoursOf(bad(0, 60), bad(60, 60), bad(50, 60), bad(0, 60))}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := s.Reopens(t.Context(), Terms{Minimum: big.NewRat(1, 2), Look: func(context.Context, Hour, time.Duration) ([]Counts, error) { return test.counts, test.err }})
			doubt := ""
			if got.Doubt != nil {
				doubt = got.Doubt.Error()
			}
			if got.Kind != ReopeningAt || !got.At.Equal(s.At.Add(test.after)) || doubt != test.doubt || test.err != nil && !errors.Is(got.Doubt, test.err) {
				t.Errorf("%s after %s (%s), want %s (%s)", got.Kind, got.At.Sub(s.At), doubt, test.after, test.doubt)
			}
		})
	}
}

func TestReopensOfNoTerms(t *testing.T) {
	s := month(time.Hour).status(objective(t, "99.9"), 30*Day)
	odd := s
	odd.Period = 90 * time.Minute
	for name, got := range map[string]Reopening{
		"no minimum":   s.Reopens(t.Context(), Terms{}),
		"7 minutes":    s.Reopens(t.Context(), Terms{Minimum: new(big.Rat), Step: 7 * time.Minute}),
		"backwards":    s.Reopens(t.Context(), Terms{Minimum: new(big.Rat), Step: -time.Minute}),
		"less failed":  s.Reopens(t.Context(), Terms{Minimum: new(big.Rat), More: -1}),
		"an odd one":   odd.Reopens(t.Context(), Terms{Minimum: new(big.Rat)}),
		"of no period": Status{At: reopeningNow, Spent: bad(1, 1)}.Reopens(t.Context(), Terms{Minimum: new(big.Rat)}),
	} {
		if got.Kind != ReopeningUnknown || got.Doubt == nil || !strings.HasPrefix(got.Doubt.Error(), "looking when ") {
			t.Errorf("%s: %s (%v)", name, got.Kind, got.Doubt)
		}
	}
}

func BenchmarkReopens(b *testing.B) {
	p := month(50 * time.Minute)
	s, minutes := p.status(objective(b, "99.9"), 30*Day), map[time.Time][]Counts{}
	asked := 0
	for _, h := range s.Hours {
		minutes[h.End], _ = p.look(&asked)(b.Context(), h, time.Minute)
	}
	look := func(_ context.Context, h Hour, _ time.Duration) ([]Counts, error) { return minutes[h.End], nil }
	for name, minimum := range map[string]*big.Rat{"after 10 days": big.NewRat(1, 10), "never": big.NewRat(2, 1)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Reopens(b.Context(), Terms{Minimum: minimum, Look: look})
			}
		})
	}
}
