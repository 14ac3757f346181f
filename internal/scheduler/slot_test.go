// Tests of the slots' arithmetic: the grid, the spread, windows and allowances.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"testing"
	"time"
)

func TestFirstSlotLiesOnTheGrid(t *testing.T) {
	const name = "ci-deploy@prod"
	at := phase(name, interval)
	grid := time.Unix(0, 0).Add(1_000_000 * interval).Add(at)
	for title, c := range map[string]struct {
		now, want time.Time
	}{
		"just now":        {grid, grid},
		"just missed":     {grid.Add(1), grid.Add(interval)},
		"just before":     {grid.Add(-1), grid},
		"the same grid":   {grid.Add(interval / 2), grid.Add(interval)},
		"a restart later": {grid.Add(100*interval + 7), grid.Add(101 * interval)},
	} {
		t.Run(title, func(t *testing.T) {
			if got := firstSlot(c.now, name, interval); !got.Equal(c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	now := time.Now()
	if slot := firstSlot(now, name, interval); slot.String() == slot.Round(0).String() {
		t.Errorf("slot %s has lost its monotonic reading", slot)
	}
}

// The spread over an interval must look like chance: chi-square over 60 buckets stays below the 99.9 % quantile of 59 degrees of freedom.
func TestSpreadIsEven(t *testing.T) {
	const n, buckets, quantile = 6_000, 60, 98.3
	for title, name := range map[string]func(i int) string{
		"many identities, one cluster": func(i int) string { return fmt.Sprintf("ci-%d@prod", i) },
		"one identity, many clusters":  func(i int) string { return fmt.Sprintf("ci-deploy@cluster-%04d", i) },
		"a grid":                       func(i int) string { return fmt.Sprintf("team-%d@eu-west-1-%d", i%77, i/77) },
	} {
		t.Run(title, func(t *testing.T) {
			var count [buckets]int
			for i := range n {
				count[int(phase(name(i), interval)*buckets/interval)]++
			}
			chi := 0.0
			for _, got := range count {
				off := float64(got) - float64(n)/buckets
				chi += off * off / (float64(n) / buckets)
			}
			if chi > quantile {
				t.Errorf("chi-square is %.1f, above %.1f: %v", chi, quantile, count)
			}
		})
	}
}

func TestWindowAndAllowance(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for name, c := range map[string]struct {
		interval, timeout, window, onTime, latest time.Duration
	}{
		"default":                       {15 * s, 10 * s, 4500 * ms, 10 * s, 10 * s},
		"short timeout":                 {30 * s, 1 * s, 28500 * ms, 1 * s, 1 * s},
		"timeout as long as interval":   {15 * s, 15 * s, 500 * ms, 14500 * ms, 14 * s},
		"timeout nearly the interval":   {10 * s, 9800 * ms, 500 * ms, 9500 * ms, 9 * s},
		"a second":                      {1 * s, 1 * s, 100 * ms, 900 * ms, 800 * ms},
		"a second with a shorter limit": {1 * s, 500 * ms, 400 * ms, 500 * ms, 500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			if got := window(c.interval, c.timeout); got != c.window {
				t.Errorf("window is %s, want %s", got, c.window)
			}
			if got := allowance(0, c.interval, c.timeout); got != c.onTime {
				t.Errorf("on time the allowance is %s, want %s", got, c.onTime)
			}
			if got := allowance(c.window, c.interval, c.timeout); got != c.latest {
				t.Errorf("at the window's end the allowance is %s, want %s", got, c.latest)
			}
		})
	}
}

func TestSlotsAreSpeltByTodaysClock(t *testing.T) {
	slot := time.Now().Add(-time.Minute)
	if got := onWall(slot); got.Sub(slot).Abs() > time.Millisecond || got.String() != got.Round(0).String() {
		t.Errorf("got %s for %s", got, slot)
	}
}
