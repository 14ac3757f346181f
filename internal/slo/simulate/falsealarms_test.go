// Tests of counting false alarms.
//
// SPDX-License-Identifier: Apache-2.0

// The race detector makes this ten times slower, and finds nothing here that it does not find in runners_test.go.
//go:build !race

package simulate

import (
	"flag"
	"testing"
	"time"
)

var months = flag.Int("months", 12, "how many months BenchmarkFalseAlarms counts over")

// At 30 s plain Sloth pages on two failures in an hour, some 2.6 times a month with half the budget spent by chance; ours needs three.
func TestFalseAlarms(t *testing.T) {
	about := access(t)
	count := func(rules Rules, seed uint64) int {
		alarms, err := FalseAlarms(t.Context(), rules, about, Chance{Probability: .0005, Severity: "page", Months: 2, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return alarms
	}
	plain := rulesOf(t, "sloth.yaml")
	sloth := count(plain, 1)
	if sloth < 2 || sloth > 12 {
		t.Errorf("plain Sloth: %d false pages in 2 months, want some 5", sloth)
	}
	if ours := count(ours(t, 30*time.Second), 1); ours > 1 {
		t.Errorf("ours: %d false pages in 2 months, want at most 1", ours)
	}
	if again := count(plain, 1); again != sloth {
		t.Errorf("the same seed: %d and then %d", sloth, again)
	}
}

// BenchmarkFalseAlarms counts the false pages and tickets of a year.
func BenchmarkFalseAlarms(b *testing.B) {
	for _, severity := range []string{"page", "ticket"} {
		for _, cadence := range []time.Duration{15 * time.Second, 30 * time.Second} {
			for _, p := range []float64{.0005, .001} {
				for name, rules := range map[string]Rules{"ours": ours(b, cadence), "sloth": rulesOf(b, "sloth.yaml")} {
					b.Run(severity+"/"+cadence.String()+"/"+decimal(1000*p)+"‰/"+name, func(b *testing.B) {
						about := access(b)
						about.Cadence = cadence
						for b.Loop() {
							alarms, err := FalseAlarms(b.Context(), rules, about, Chance{Probability: p, Severity: severity, Months: *months, Seed: 1})
							if err != nil {
								b.Fatal(err)
							}
							b.ReportMetric(float64(alarms)/float64(*months), "alarms/month")
						}
					})
				}
			}
		}
	}
}
