// Tests of budgets, burn rates and exhaustion against figures that were computed by hand.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"math"
	"math/big"
	"testing"
	"time"
)

func TestBudget(t *testing.T) {
	tests := map[string]struct {
		objective        string
		bad, events      int64
		allowed          string
		whole, left      int64
		burn, remaining  string
		overspent, known bool
	}{
		"61 of 86":                    {"99.9", 25, 86_400, "432/5", 86, 61, "125/432", "307/432", false, true},
		"nothing spent":               {"99.9", 0, 86_400, "432/5", 86, 86, "0", "1", false, true},
		"the last whole event":        {"99.9", 86, 86_400, "432/5", 86, 0, "215/216", "1/216", false, true},
		"one more":                    {"99.9", 87, 86_400, "432/5", 86, -1, "145/144", "-1/144", true, true},
		"all of it, exactly":          {"99.9", 172, 172_000, "172", 172, 0, "1", "0", false, true},
		"less than an event":          {"99.9", 0, 999, "999/1000", 0, 0, "0", "1", false, true},
		"and an event of it":          {"99.9", 1, 999, "999/1000", 0, -1, "1000/999", "-1/999", true, true},
		"a thousand times":            {"99.9", 240, 240, "6/25", 0, -240, "1000", "-999", true, true},
		"97 achieved of 95 per cent":  {"95", 173, 5_760, "288", 288, 115, "173/288", "115/288", false, true},
		"where a float says 71.99999": {"99.28", 72, 10_000, "72", 72, 0, "1", "0", false, true},
		"no events":                   {"99.9", 0, 0, "0", 0, 0, "", "", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := Budget{objective(t, test.objective), Counts{Bad: test.bad, Events: test.events}}
			if b.Allowed().RatString() != test.allowed || b.AllowedEvents() != test.whole || b.Left() != test.left {
				t.Errorf("allowed %s, in whole events %d, left %d; want %s, %d, %d", b.Allowed(), b.AllowedEvents(), b.Left(), test.allowed, test.whole, test.left)
			}
			burn, burns := b.Burn()
			remaining, remains := b.Remaining()
			if burns != test.known || remains != test.known || text(burn) != test.burn || text(remaining) != test.remaining {
				t.Errorf("burn %s (%v), remaining %s (%v); want %s and %s (%v)", text(burn), burns, text(remaining), remains, test.burn, test.remaining, test.known)
			}
			if enough, known := b.AtLeast(new(big.Rat)); known != test.known || enough != (test.known && !test.overspent) {
				t.Errorf("at least nothing: %v (%v)", enough, known)
			}
		})
	}
}

// text is a fraction, "" for none.
func text(x *big.Rat) string {
	if x == nil {
		return ""
	}
	return x.RatString()
}

// TestAtLeastIsExact: of 100,000 allowed, 90,000 are spent; 1 - 0.9 in floating point is 0.09999999999999998, and the float 0.1 is more than a tenth.
func TestAtLeastIsExact(t *testing.T) {
	b := Budget{objective(t, "99.9"), Counts{Bad: 90_000, Events: 100_000_000}}
	tenth, ok := Exact(0.1)
	if !ok || tenth.RatString() != "1/10" {
		t.Fatalf("0.1 is %v (%v)", tenth, ok)
	}
	if enough, known := b.AtLeast(tenth); !enough || !known {
		t.Errorf("a tenth is left and is not enough: %v, %v", enough, known)
	}
	b.Bad++
	if enough, known := b.AtLeast(tenth); enough || !known {
		t.Errorf("one event less than a tenth is left and is enough: %v, %v", enough, known)
	}
}

func TestExact(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.1: "1/10", 0.3: "3/10", 0.30000000000000004: "7500000000000001/25000000000000000", 1: "1", 1e-7: "1/10000000", 1e21: "1000000000000000000000", -0.25: "-1/4", 99.95: "1999/20",
		math.NaN(): "", math.Inf(1): "", math.Inf(-1): "",
	} {
		got, ok := Exact(x)
		if ok != (want != "") || ok && got.RatString() != want {
			t.Errorf("%v: got %v (%v), want %q", x, got, ok, want)
		}
	}
}

func TestBurnOfWindows(t *testing.T) {
	s := Status{Objective: objective(t, "99.9"), Windows: []Window{{5 * time.Minute, Counts{}}, {time.Hour, Counts{Bad: 4, Events: 240}}, {6 * time.Hour, Counts{Events: 1440}}}}
	for window, want := range map[time.Duration]string{5 * time.Minute: "", BurnNow: "50/3", 6 * time.Hour: "0", Day: ""} {
		if got, known := s.Burn(window); text(got) != want || known != (want != "") {
			t.Errorf("%s: got %s (%v), want %s", window, text(got), known, want)
		}
	}
}

func TestExhaustion(t *testing.T) {
	tests := map[string]struct {
		spent, window Counts
		want          Exhaustion
	}{
		"at the rate of the quick page": {Counts{Bad: 0, Events: 720_000}, Counts{Bad: 144, Events: 10_000}, Exhaustion{ExhaustionIn, 5 * time.Hour}}, // 720 allowed, 144 an hour
		"a part of an event is left":    {Counts{Bad: 86, Events: 86_400}, Counts{Bad: 2, Events: 240}, Exhaustion{ExhaustionIn, 12 * time.Minute}},
		"nothing burns":                 {Counts{Bad: 86, Events: 86_400}, Counts{Events: 240}, Exhaustion{Kind: ExhaustionNever}},
		"nothing burns, all was spent":  {Counts{Bad: 87, Events: 86_400}, Counts{Events: 240}, Exhaustion{Kind: ExhaustionSpent}},
		"spent to the event":            {Counts{Bad: 86, Events: 86_000}, Counts{Bad: 1, Events: 240}, Exhaustion{Kind: ExhaustionSpent}},
		"no event in the window":        {Counts{Bad: 1, Events: 86_400}, Counts{}, Exhaustion{}},
		"nor in it, and spent":          {Counts{Bad: 87, Events: 86_400}, Counts{}, Exhaustion{Kind: ExhaustionSpent}},
		"no event in the period":        {Counts{}, Counts{Bad: 1, Events: 1}, Exhaustion{}},
		"in 292 years":                  {Counts{Events: 2_562_047_000}, Counts{Bad: 1, Events: 240}, Exhaustion{ExhaustionIn, 2_562_047 * time.Hour}},
		"later":                         {Counts{Events: 2_562_048_000}, Counts{Bad: 1, Events: 240}, Exhaustion{Kind: ExhaustionNever}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := Status{Objective: objective(t, "99.9"), Period: 30 * Day, Spent: test.spent, Windows: []Window{{BurnNow, test.window}}}
			if got := s.Exhaustion(BurnNow); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if got := (Status{Objective: objective(t, "99.9"), Spent: Counts{Events: 1}}).Exhaustion(BurnNow); got != (Exhaustion{}) {
		t.Errorf("without the window: %v", got)
	}
}

func TestObserved(t *testing.T) {
	tests := map[string]struct {
		observed float64
		partial  bool
		time     time.Duration
	}{
		"all":       {1, false, 30 * Day},
		"three d":   {72. / 720, true, 3 * Day},
		"a third":   {241. / 720, true, 241 * time.Hour},
		"none":      {0, true, 0},
		"no number": {math.NaN(), true, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := Status{Period: 30 * Day, Observed: test.observed}
			if s.Partial() != test.partial || s.ObservedTime() != test.time {
				t.Errorf("partial %v, observed %s; want %v, %s", s.Partial(), s.ObservedTime(), test.partial, test.time)
			}
		})
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		newest time.Time
		age    time.Duration
		known  bool
	}{
		"a minute": {now.Add(-time.Minute), time.Minute, true},
		"ahead":    {now.Add(time.Second), -time.Second, true},
		"no data":  {time.Time{}, 0, false},
	} {
		if age, known := (Status{Newest: test.newest}).Age(now); age != test.age || known != test.known {
			t.Errorf("%s: got %s (%v), want %s (%v)", name, age, known, test.age, test.known)
		}
	}
}

func TestNamesOfKinds(t *testing.T) {
	for kind, want := range map[ExhaustionKind]string{ExhaustionUnknown: "unknown", ExhaustionIn: "in", ExhaustionNever: "never", ExhaustionSpent: "spent", -1: "unknown"} {
		if kind.String() != want {
			t.Errorf("got %s, want %s", kind, want)
		}
	}
	for kind, want := range map[ReopeningKind]string{ReopeningUnknown: "unknown", ReopeningOpen: "open", ReopeningAt: "at", ReopeningNever: "never", -1: "unknown"} {
		if kind.String() != want {
			t.Errorf("got %s, want %s", kind, want)
		}
	}
}
