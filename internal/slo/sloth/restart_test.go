// Counters that are reset, in and around an outage: exact when the hour is full, and within an event until then.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestCountsSurviveRestarts(t *testing.T) {
	at := 2*time.Hour + 20*time.Minute
	cases := map[string]struct {
		slot     func(time.Time) result
		restarts []time.Duration
		below    float64 // how much less than the truth is known until the hour is full; 0: an event
	}{
		"in an outage":                       {outage(2*time.Hour, 3*time.Hour+10*time.Minute, always(good)), []time.Duration{at}, 0},
		"before an outage":                   {outage(at+10*time.Minute, 3*time.Hour+10*time.Minute, always(good)), []time.Duration{at}, 0},
		"after an outage":                    {outage(time.Hour, at-10*time.Minute, always(good)), []time.Duration{at}, 0},
		"in a second outage after a short":   {outage(time.Hour, time.Hour+5*time.Minute, outage(2*time.Hour, 3*time.Hour+10*time.Minute, always(good))), []time.Duration{at}, 0},
		"twice in an outage":                 {outage(2*time.Hour, 3*time.Hour+10*time.Minute, always(good)), []time.Duration{at, at + 20*time.Minute}, 0},
		"at a full hour":                     {outage(2*time.Hour, 4*time.Hour, always(good)), []time.Duration{3*time.Hour - 20*time.Second}, 0},
		"again and again, a process in need": {outage(2*time.Hour, 4*time.Hour, always(good)), []time.Duration{at, at + 5*time.Minute, at + 10*time.Minute, at + 15*time.Minute, at + 50*time.Minute}, 60},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &prober{slot: c.slot, up: func(at time.Time) bool {
				return !slices.ContainsFunc(c.restarts, func(r time.Duration) bool { return between(at, r, r+40*time.Second) })
			}}
			w := newWorldOf(t, countsOnly(generated(t, "testdata/access.yaml", Options{Period: "7d"})), p)
			w.run(time.Hour + 50*time.Minute)
			for range 20 {
				w.run(10 * time.Minute)
				w.checkWithin(t, max(c.below, 1.1), 1.1)
			}
			w.run(time.Hour)
			w.checkWithin(t, 0.001, 0.001)
		})
	}
}

// checkWithin compares the counts with the truth.
func (w *world) checkWithin(t *testing.T, below, above float64) {
	t.Helper()
	for suffix, window := range map[string]time.Duration{suffixHourly: time.Hour, "increase6h": 6 * time.Hour, suffixPeriod: 7 * 24 * time.Hour} {
		for prefix, want := range map[string]float64{badPrefix: w.truth(window, bad), eventsPrefix: w.truth(window, good, bad)} {
			if got := w.value(prefix + suffix); math.IsNaN(got) || got < want-below || got > want+above {
				t.Errorf("after %s: %s%s is %v, want %v", w.now.Sub(epoch), prefix, suffix, got, want)
			}
		}
	}
}
