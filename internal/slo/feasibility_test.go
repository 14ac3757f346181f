// Tests of what alerts can tell of probes: the tables of docs/slo.md.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// each writes what f says of every tier of a plan.
func each(p Plan, f func(Tier) string) string {
	var all []string
	for _, t := range p.Windows.Tiers {
		all = append(all, f(t))
	}
	return strings.Join(all, " ")
}

func TestFailuresNeededByRatio(t *testing.T) {
	cadences := []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}
	tests := map[string][]string{ // failures of the four tiers / failures that the budget of 30 days holds, at each cadence
		"99":    {"52 130 260 260 / 2592", "35 87 173 173 / 1728", "18 44 87 87 / 864", "9 22 44 44 / 432"},
		"99.5":  {"26 65 130 130 / 1296", "18 44 87 87 / 864", "9 22 44 44 / 432", "5 11 22 22 / 216"},
		"99.9":  {"6 13 26 26 / 259", "4 9 18 18 / 172", "2 5 9 9 / 86", "1 3 5 5 / 43"},
		"99.95": {"3 7 13 13 / 129", "2 5 9 9 / 86", "1 3 5 5 / 43", "1 2 3 3 / 21"},
		"99.99": {"1 2 3 3 / 25", "1 1 2 2 / 17", "1 1 1 1 / 8", "1 1 1 1 / 4"},
	}
	for text, wanted := range tests {
		for i, cadence := range cadences {
			t.Run(text+" every "+FormatDuration(cadence), func(t *testing.T) {
				p := plan(t, text, cadence)
				_, bad := p.Budget()
				got := each(p, func(tier Tier) string { return fmt.Sprint(p.ByRatio(tier)) }) + fmt.Sprint(" / ", bad)
				if got != wanted[i] {
					t.Errorf("got %s, want %s", got, wanted[i])
				}
				if plain := p.Unguarded(); each(plain, func(tier Tier) string { return fmt.Sprint(plain.Needed(tier)) })+fmt.Sprint(" / ", bad) != wanted[i] {
					t.Error("without a floor, what is needed differs from what the ratio needs")
				}
			})
		}
	}
}

// TestFailuresNeededAreExact: at exactly the threshold nothing fires, as the comparison is strict; floats get 3 of these wrong.
func TestFailuresNeededAreExact(t *testing.T) {
	tests := map[string]struct {
		objective string
		cadence   time.Duration
		want      string
	}{
		"14.4 x 1 % x 100 = 14.4": {"99", 36 * time.Second, "15 37 73 73"},
		"exactly 6 x 0.5 % x 720": {"99.5", 30 * time.Second, "9 22 44 44"},
		"exactly 72 in the hour":  {"98", 14400 * time.Millisecond, "73 181 361 361"},
		"a floor of 3":            {"99.99", 15 * time.Second, "3 3 3 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, test.objective, test.cadence)
			if got := each(p, func(tier Tier) string { return fmt.Sprint(p.Needed(tier)) }); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestTiersThatCanNeverFire(t *testing.T) {
	tests := map[string]struct {
		objective string
		cadence   time.Duration
		want      string
	}{
		"99.9":                     {"99.9", 15 * time.Second, "true true true true"},
		"just above 93.06":         {"93.06", time.Second, "true true true true"},
		"14.4 x 6.95 % is over 1":  {"93.05", 15 * time.Second, "false true true true"},
		"6 x 16.67 %":              {"83.33", 15 * time.Second, "false false true true"},
		"3 x 33.34 %":              {"66.66", 15 * time.Second, "false false false true"},
		"as good as no objective":  {"0.5", 15 * time.Second, "false false false true"},
		"three probes in the hour": {"99.9", 5 * time.Minute, "true true true true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, test.objective, test.cadence)
			if got := each(p, func(tier Tier) string { return fmt.Sprint(p.CanFire(tier)) }); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	p := plan(t, "99.9", 5*time.Minute)
	p.MinFailures = 12 // as an hour holds
	if !p.CanFire(p.Windows.Tiers[0]) {
		t.Error("12 failures of 12 probes are thought impossible")
	}
	p.MinFailures = 13
	if p.CanFire(p.Windows.Tiers[0]) {
		t.Error("13 failures of 12 probes are thought possible")
	}
	if all := (Tier{Burn: big.NewRat(4, 1), Long: time.Hour, Short: 5 * time.Minute}); plan(t, "75", 15*time.Second).CanFire(all) {
		t.Error("a ratio of more than 1 is thought possible")
	}
}

func TestDetectionAndReset(t *testing.T) {
	tests := map[string]struct {
		objective        string
		cadence          time.Duration
		share            *big.Rat
		detection, reset string
	}{
		"99.9 every 15s, all fail": {"99.9", 15 * time.Second, big.NewRat(1, 1), "1m30s 2m45s 5m 5m", "5m30s 30m30s 2h15s 6h15s"},
		"99.9 every 15s, 10 %":     {"99.9", 15 * time.Second, big.NewRat(1, 10), "8m15s 20m45s 43m15s 43m15s", "5m30s 30m30s 1h58m 5h58m"},
		"99.9 every 15s, 2 %":      {"99.9", 15 * time.Second, big.NewRat(1, 50), "38m15s 1h40m45s 3h33m15s 3h33m15s", "5m30s 30m30s 1h48m 5h48m"},
		"99.9 every 15s, 0.5 %":    {"99.9", 15 * time.Second, big.NewRat(1, 200), "never never 14h10m45s 14h10m45s", "never never 1h10m30s 5h10m30s"},
		"99.9 every 15s, 0.15 %":   {"99.9", 15 * time.Second, big.NewRat(3, 2000), "never never never 1d23h14m5s", "never never never 3h13m50s"},
		"99.9 every 15s, 0.1 %":    {"99.9", 15 * time.Second, big.NewRat(1, 1000), "never never never 2d22h50m45s", "never never never 1h10m30s"}, // 18 of 17,280 are more than 0.1 %
		"99.9 every 15s, 0.09 %":   {"99.9", 15 * time.Second, big.NewRat(9, 10000), "never never never never", "never never never never"},
		"99.9 every 30s, all fail": {"99.9", 30 * time.Second, big.NewRat(1, 1), "1m45s 2m45s 4m45s 4m45s", "5m30s 30m30s 2h30s 6h30s"},
		"95 every 15s, all fail":   {"95", 15 * time.Second, big.NewRat(1, 1), "43m45s 1h48m45s 3h36m45s 3h36m45s", "2m 21m30s 1h42m30s 5h42m30s"},
		"90 every 15s, all fail":   {"90", 15 * time.Second, big.NewRat(1, 1), "never 3h36m45s 7h12m45s 7h12m45s", "never 12m30s 1h24m30s 5h24m30s"},
		"99.9 every 60s, 2 %":      {"99.9", time.Minute, big.NewRat(1, 50), "never 1h40m45s 3h20m45s 3h20m45s", "never 30m30s 2h30s 6h30s"}, // 3 failures do not come within the hour
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, test.objective, test.cadence)
			write := func(measure func(Tier, *big.Rat) (time.Duration, bool)) string {
				return each(p, func(tier Tier) string {
					if d, ok := measure(tier, test.share); ok {
						return FormatDuration(d)
					}
					return "never"
				})
			}
			if got := write(p.Detection); got != test.detection {
				t.Errorf("detection %s, want %s", got, test.detection)
			}
			if got := write(p.Reset); got != test.reset {
				t.Errorf("reset %s, want %s", got, test.reset)
			}
		})
	}
}

// TestDetectionFollowsTheFormula: the quantised time is burn × budget × long / share of the continuous formula, but for the waits and at most one gap between two failures.
func TestDetectionFollowsTheFormula(t *testing.T) {
	for _, text := range []string{"95", "99", "99.5", "99.9", "99.95"} {
		p := plan(t, text, 10*time.Second)
		for every := int64(1); every <= 100; every++ {
			share := big.NewRat(1, every)
			for _, tier := range p.Windows.Tiers {
				got, fires := p.Detection(tier, share)
				threshold := tier.Threshold(p.Objective)
				if !fires {
					if share.Cmp(threshold) > 0 {
						t.Fatalf("%s, 1 of %d, %s: does not fire", text, every, tier)
					}
					continue
				}
				formula := duration(threshold.Mul(threshold, big.NewRat(int64(tier.Long)*every, 1)))
				gap := time.Duration(every) * p.Cadence
				if off := got - p.Scrape - p.Evaluation - formula; off > 0 || off <= -gap {
					t.Errorf("%s, 1 of %d, %s: %s, by the formula %s", text, every, tier, got, formula)
				}
			}
		}
	}
}

func TestKeepFiringFor(t *testing.T) {
	tests := map[string]struct {
		objective    string
		cadence      time.Duration
		page, ticket string
	}{
		"99.9 every 15s":  {"99.9", 15 * time.Second, "20m", "1h25m"},
		"99.9 every 30s":  {"99.9", 30 * time.Second, "30m", "3h"},
		"99 every 15s":    {"99", 15 * time.Second, "5m", "5m"},
		"90, no quick":    {"90", 15 * time.Second, "0s", "0s"},
		"50, none at all": {"50", 15 * time.Second, "0s", "0s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, test.objective, test.cadence)
			if page, ticket := FormatDuration(p.KeepFiringFor(Page)), FormatDuration(p.KeepFiringFor(Ticket)); page != test.page || ticket != test.ticket {
				t.Errorf("page %s, ticket %s, want %s and %s", page, ticket, test.page, test.ticket)
			}
		})
	}
}

// TestKeepFiringForOfOneFailure: where a single failure fires, alerts come at every share, and what is kept is that of the share which spends the budget at the tier's rate: every 69th minute.
func TestKeepFiringForOfOneFailure(t *testing.T) {
	if got := FormatDuration(plan(t, "99.9", time.Minute).Unguarded().KeepFiringFor(Page)); got != "1h5m" {
		t.Errorf("got %s, want 1h5m", got)
	}
}

// TestKeepFiringForBridgesEveryGap counts failures, every n-th probe for all n at which the quick tier fires, and looks for a time in which neither the tier holds nor the alert is kept.
func TestKeepFiringForBridgesEveryGap(t *testing.T) {
	for _, text := range []string{"99", "99.5", "99.9", "99.95"} {
		for _, cadence := range []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute} {
			p := plan(t, text, cadence)
			keep := p.KeepFiringFor(Page)
			for every := int64(1); every < 2000; every++ {
				off, held := longestOff(p, p.Windows.Tiers[0], every)
				if fires := p.fires(p.Windows.Tiers[0], big.NewRat(every, 1)); fires != held {
					t.Errorf("%s every %s, 1 of %d: is said to fire: %t; it does: %t", text, cadence, every, fires, held)
				}
				if off > keep {
					t.Errorf("%s every %s, 1 of %d: off for %s, kept for %s", text, cadence, every, off, keep)
				}
			}
		}
	}
}

// longestOff runs probes of which every n-th fails, counts both windows at each, and returns the longest time between two in which the tier holds, once it has held,
// and whether it ever does.
func longestOff(p Plan, tier Tier, every int64) (longest time.Duration, held bool) {
	last := int64(-1)
	inWindow := func(at, probes int64) int64 { // failures at 0, every, 2×every … in the last so many probes
		return at/every - max(-1, floorDiv(at-probes, every))
	}
	long, short := p.Events(tier.Long), p.Events(tier.Short)
	needed, over := p.Needed(tier), p.over(tier, tier.Short)
	for at := int64(0); at < 3*long; at++ {
		if inWindow(at, long) < needed || inWindow(at, short) < over {
			continue
		}
		if last >= 0 {
			longest = max(longest, time.Duration(at-last-1)*p.Cadence)
		}
		last = at
	}
	return longest, last >= 0
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -1
	}
	return a / b
}

func TestColdStart(t *testing.T) {
	tests := map[string]struct {
		cadence  time.Duration
		guarded  bool
		severity Severity
		failures int64
		want     string
	}{
		"plain Sloth, one failure, 30s":        {30 * time.Second, false, Ticket, 1, "8h20m"},
		"plain Sloth, one failure, 15s":        {15 * time.Second, false, Ticket, 1, "4h10m"},
		"plain Sloth, one failure, 15s, page":  {15 * time.Second, false, Page, 1, "41m40s"},
		"plain Sloth, one failure, 10m, page":  {5 * time.Minute, false, Page, 1, "6h"}, // not longer than its window
		"ours, one failure":                    {15 * time.Second, true, Ticket, 1, "0s"},
		"ours, two failures":                   {15 * time.Second, true, Ticket, 2, "0s"},
		"ours, three of the many needed later": {15 * time.Second, true, Ticket, 3, "12h30m"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, "99.9", test.cadence)
			if !test.guarded {
				p = p.Unguarded()
			}
			if got := FormatDuration(p.ColdStart(test.severity, test.failures)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestPlanRefusesACadenceThatNoWindowHolds(t *testing.T) {
	for _, cadence := range []time.Duration{0, -time.Second, 5*time.Minute + 1} {
		if got, err := NewPlan(objective(t, "99.9"), windows(t, "30d"), cadence); !errors.Is(err, errCadence) {
			t.Errorf("%s: got %v and %v", cadence, got, err)
		}
	}
}

func plan(t testing.TB, text string, cadence time.Duration) Plan {
	t.Helper()
	p, err := NewPlan(objective(t, text), windows(t, "30d"), cadence)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
