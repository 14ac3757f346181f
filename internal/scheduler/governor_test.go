// Tests of the governor in a scheduler, in virtual time, against the exporter's own bucket and that of AWS: who waits, how old values get, and how soon trouble is read again.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestFleetKeepsToItsBudget(t *testing.T) {
	const from, until = 200 * time.Second, 420 * time.Second
	during := func(n int) func(int, time.Duration) bool {
		return func(index int, since time.Duration) bool { return index < n && since > from && since < until }
	}
	for name, c := range map[string]struct {
		n      int
		bad    func(int, time.Duration) bool
		oldest time.Duration
	}{
		"300 groups, all well":                   {300, during(0), 160 * time.Second},
		"300 groups, 5 turn bad and well again":  {300, during(5), MaxAge},
		"300 groups, 5 turn bad and well often":  {300, func(i int, since time.Duration) bool { return i < 5 && int(since/own)%2 == 1 }, MaxAge},
		"300 groups, 60 turn bad and well again": {300, during(60), 255 * time.Second},
		"300 groups, all turn bad and well":      {300, during(300), 210 * time.Second},
		"300 groups, bad from the beginning":     {300, func(int, time.Duration) bool { return true }, 210 * time.Second},
		"50 groups, all well":                    {50, during(0), own},
		"50 groups, all bad":                     {50, func(int, time.Duration) bool { return true }, own},
		"3 groups, one turns bad":                {3, during(1), own},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, g := newELB(2), newGovernor(t, 2)
				e.bad = c.bad
				fleet := groups(c.n)
				s, book := govern(t, g, e)
				g.Set(fleet)
				s.Set(fleet)
				time.Sleep(10 * time.Minute)
				stop(t, s)
				oldest, busiest := e.oldest(fleet), e.busiest()
				longest, throttled := e.waited()
				t.Logf("oldest value %s, longest wait %s, %d reads in the busiest minute", oldest, longest, busiest)
				if oldest > c.oldest {
					t.Errorf("a value was %s old, want at most %s", oldest, c.oldest)
				}
				if longest > 2*time.Second || throttled > 0 || busiest > 120+5 {
					t.Errorf("a read waited %s, %d were throttled, %d in one minute", longest, throttled, busiest)
				}
				for _, target := range fleet {
					for _, run := range book.of(target.Name) {
						if run.Reading == nil {
							t.Fatalf("%s at %s: %v", target.Name, run.Slot, run.Verdict)
						}
					}
				}
			})
		})
	}
}

// Trouble is read again exactly one interval later, for as long as the budget has it; what is well again takes its old place.
func TestTroubleIsReadAgainWithinItsInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, g := newELB(2), newGovernor(t, 2)
		e.bad = func(index int, since time.Duration) bool { return index%15 == 0 && int(since/(4*time.Minute))%2 == 1 }
		fleet := groups(300)
		s, _ := govern(t, g, e)
		g.Set(fleet)
		s.Set(fleet)
		time.Sleep(20 * time.Minute)
		stop(t, s)
		again, far := 0, 0
		for _, target := range fleet {
			slots := e.slots[target.Name]
			for i, slot := range slots[:len(slots)-1] {
				switch gap := slots[i+1].Sub(slot); {
				case e.shows[target.Name][i]:
					again++
					if gap != own {
						t.Errorf("%s was bad at %s and had its next slot %s later", target.Name, slot.Sub(e.began), gap)
					}
				case gap > 2*time.Minute:
					far++
				}
			}
		}
		if again < 200 || far < 1000 {
			t.Errorf("%d bad runs and %d polite intervals prove nothing", again, far)
		}
	})
}

// Targets of different intervals are stretched alike.
func TestIntervalsKeepTheirRatio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, g := newELB(2), newGovernor(t, 2)
		fleet := groups(100) // 50 of 12 s and 50 of 48 s ask for 5.2 reads a second
		for i := range fleet {
			fleet[i].Interval = time.Duration(12+36*(i%2)) * time.Second
		}
		s, _ := govern(t, g, e)
		g.Set(fleet)
		s.Set(fleet)
		time.Sleep(time.Hour)
		stop(t, s)
		stretch := 50 * (1/12.0 + 1/48.0) / 1.9
		for _, target := range fleet {
			slots := e.slots[target.Name]
			mean := slots[len(slots)-1].Sub(slots[1]) / time.Duration(len(slots)-2)
			if got := mean.Seconds() / target.Interval.Seconds() / stretch; got < 0.95 || got > 1.05 {
				t.Errorf("%s: %d slots, %s apart, %.2f of the stretched interval", target.Name, len(slots), mean, got)
			}
		}
	})
}

func TestFewGroupsKeepTheirInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, g := newELB(2), newGovernor(t, 2)
		fleet := groups(3)
		s, _ := govern(t, g, e)
		g.Set(fleet)
		s.Set(fleet)
		time.Sleep(5*own - time.Second)
		stop(t, s)
		slices.SortFunc(fleet, func(a, b chain.Target) int { return e.slots[a.Name][0].Compare(e.slots[b.Name][0]) })
		for i, target := range fleet {
			want := e.began.Add(time.Duration(i) * seconds(1/1.9)) // the first ones one after another, as the budget has them
			for j, slot := range e.slots[target.Name] {
				if slot.Sub(want.Add(time.Duration(j)*own)).Abs() > time.Millisecond {
					t.Errorf("%s: slot %d at %s", target.Name, j, slot.Sub(e.began))
				}
			}
			if n := len(e.slots[target.Name]); n != 5 {
				t.Errorf("%s: %d slots", target.Name, n)
			}
		}
	})
}

// Targets come, go and change while others wait: nobody's value gets older for it than the pool of that moment takes.
func TestReloadsKeepTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, g := newELB(2), newGovernor(t, 2)
		fleet := groups(300)
		s, _ := govern(t, g, e)
		for round := range 60 {
			now := slices.Clone(fleet[:200+min(100, 5*round)])
			now = slices.Delete(now, 100, 100+round)
			for i := range now[:50] {
				now[i].Timeout = timeout - time.Duration(round%3)*time.Second // changed: their workers begin anew
			}
			g.Set(now)
			s.Set(now)
			time.Sleep(15 * time.Second)
		}
		stayed := append(slices.Clone(fleet[:100]), fleet[160:200]...)
		if oldest := e.oldest(stayed); oldest > 160*time.Second {
			t.Errorf("a value was %s old", oldest)
		}
		if longest, throttled := e.waited(); longest > 2*time.Second || throttled > 0 {
			t.Errorf("a read waited %s, %d were throttled", longest, throttled)
		}
		stop(t, s)
		if n := g.Pools()[0].Targets; n != 241 {
			t.Errorf("%d targets", n)
		}
	})
}

// While AWS throttles everything, reads do not become more; and nobody is in trouble for it.
func TestThrottlingHeatsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, g := newELB(2), newGovernor(t, 2)
		e.refuses = func(since time.Duration) bool { return since > 3*time.Minute && since < 6*time.Minute }
		fleet := groups(300)
		s, _ := govern(t, g, e)
		g.Set(fleet)
		s.Set(fleet)
		for range 40 {
			time.Sleep(15 * time.Second)
			if hot := g.Pools()[0].Hot; hot != 0 {
				t.Fatalf("%d targets are in trouble", hot)
			}
		}
		stop(t, s)
		if longest, throttled := e.waited(); throttled < 300 || longest > 2*time.Second {
			t.Errorf("%d reads were throttled, one waited %s", throttled, longest)
		}
	})
}

// stall lets everybody who asks stand still.
type stall struct {
	Pacer

	goesOn atomic.Int64 // Unix nanoseconds
}

func (s *stall) Next(target chain.Target, earliest time.Time) time.Time {
	time.Sleep(time.Until(time.Unix(0, s.goesOn.Load())))
	return s.Pacer.Next(target, earliest)
}

// A process that stood still misses the stretched slots that passed, and then goes on as the budget has it.
func TestStalledFleetMissesStretchedSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, g := newELB(2), newGovernor(t, 2)
		fleet := groups(300)
		stall := &stall{Pacer: g}
		s, book := governBy(t, stall, g, e)
		g.Set(fleet)
		s.Set(fleet)
		time.Sleep(5 * time.Minute)
		stall.goesOn.Store(time.Now().Add(time.Hour).UnixNano())
		time.Sleep(time.Hour)
		time.Sleep(10 * time.Minute)
		stop(t, s)
		for _, target := range fleet {
			missed := 0
			runs := book.of(target.Name)
			for i, run := range runs {
				if run.Verdict.Reason == chain.ReasonMissedSlot {
					missed++
				}
				if i > 0 && run.Slot.Sub(runs[i-1].Slot) < own {
					t.Errorf("%s: slots %s and %s", target.Name, runs[i-1].Slot, run.Slot)
				}
			}
			if missed < 22 || missed > 23 { // an hour has 22.8 intervals of 158 s
				t.Errorf("%s: %d slots missed", target.Name, missed)
			}
		}
		if longest, throttled := e.waited(); longest > 2*time.Second || throttled > 0 {
			t.Errorf("a read waited %s, %d were throttled", longest, throttled)
		}
	})
}
