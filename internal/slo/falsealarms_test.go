// Tests of the false-alarm estimates against known rates.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"math"
	"testing"
	"time"
)

// TestFalsePagesOfPlainRules: the rates of plain Sloth's rules at 99.9 %, as 12 runs of 30 days in the real engine had them. Those have a noise of their own, the root of what 12 runs counted,
// and began without a history, which the ticket's 3 days miss.
func TestFalsePagesOfPlainRules(t *testing.T) {
	tests := map[string]struct {
		burn           float64
		cadence        time.Duration
		floor          int64
		pages, tickets float64
	}{
		"full burn, 30s":          {1, 30 * time.Second, 1, 10.3, 25},
		"half burn, 30s":          {0.5, 30 * time.Second, 1, 2.6, 2.1},
		"half burn, 60s":          {0.5, time.Minute, 1, 21.4, 2.5},
		"full burn, 60s":          {1, time.Minute, 1, 41.7, 18.5},
		"half burn, 15s":          {0.5, 15 * time.Second, 1, 0, 0.3},
		"half burn, 10s":          {0.5, 10 * time.Second, 1, 0, 0.2},
		"half burn, 30s, floor 3": {0.5, 30 * time.Second, 3, 0.17, 2.1},
		"full burn, 30s, floor 3": {1, 30 * time.Second, 3, 1.3, 25},
		"a tenth of it, 30s":      {0.1, 30 * time.Second, 1, 0.17, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, "99.9", test.cadence)
			p.MinFailures = test.floor
			check := func(severity Severity, counted, history float64) {
				got := p.FalseAlarms(severity, test.burn, 0)
				noise := 3*math.Sqrt(max(counted, 1./12)/12) + 3*got.Error
				if math.Abs(got.PerMonth*history-counted) > noise {
					t.Errorf("%s: %.2f (± %.2f) a month, the engine counted %.2f", severity, got.PerMonth, got.Error, counted)
				}
			}
			check(Page, test.pages, 1)
			check(Ticket, test.tickets, 27./30)
		})
	}
}

// TestFalsePagesOfOurRules: nobody is woken for nothing more than once in five months, at half the budget.
func TestFalsePagesOfOurRules(t *testing.T) {
	for _, cadence := range []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second} {
		p := plan(t, "99.9", cadence)
		if got := p.FalseAlarms(Page, 0.5, p.KeepFiringFor(Page)); got.PerMonth+3*got.Error > 0.2 {
			t.Errorf("every %s: %.3f (± %.3f) pages a month at half the budget, want at most 0.2", cadence, got.PerMonth, got.Error)
		}
	}
}

// TestOneFailureRate: with 1 failure needed an alert begins at each failure that has none in the window before it, which has an exact rate.
func TestOneFailureRate(t *testing.T) {
	const budget, burn = 0.001, 0.5
	p := plan(t, "99.9", time.Minute).Unguarded()
	p.Windows.Tiers = p.Windows.Tiers[:1] // page quick: 1 failure in 1h, 1 in 5m
	const probes, quiet = 30 * 24 * 60, 4 // four probes before are within less than 5 minutes
	exact := probes * budget * burn * math.Pow(1-budget*burn, quiet)
	if got := p.FalseAlarms(Page, burn, 0); math.Abs(got.PerMonth-exact) > 4*got.Error {
		t.Errorf("%.3f (± %.3f) a month, exactly %.3f", got.PerMonth, got.Error, exact)
	}
	kept := probes * budget * burn * math.Pow(1-budget*burn, quiet+59) // an alert that is kept for an hour begins seldom again
	if got := p.FalseAlarms(Page, burn, time.Hour); math.Abs(got.PerMonth-kept) > 4*got.Error {
		t.Errorf("kept for an hour: %.3f (± %.3f) a month, exactly %.3f", got.PerMonth, got.Error, kept)
	}
}

func TestFalseAlarmsOfNothing(t *testing.T) {
	p := plan(t, "99.9", 15*time.Second)
	for name, got := range map[string]Estimate{
		"no burn": p.FalseAlarms(Page, 0, 0), "all fail": p.FalseAlarms(Page, 1000, 0), "no such alert": p.FalseAlarms(SeverityUnknown, 0.5, 0),
	} {
		if got.PerMonth != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if a, b := p.FalseAlarms(Ticket, 0.5, 0), p.FalseAlarms(Ticket, 0.5, 0); a != b {
		t.Errorf("the same plan has %v and %v", a, b)
	}
}

func BenchmarkFalseAlarms(b *testing.B) {
	p := plan(b, "99.9", 15*time.Second)
	for b.Loop() {
		p.FalseAlarms(Page, 1, 0)
	}
}
