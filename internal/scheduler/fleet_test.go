// Tests of many targets: reloads, removals, the limit, stalls and a thousand targets of which every fifth hangs.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"hash/fnv"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Thousands of slots of every kind of trouble, with reloads and removals all along: no slot is lost or doubled, and nothing of a removed target is recorded.
func TestEverySlotEndsInOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := newLedger(t)
		s := start(t, Options{Runner: &script{t: t, play: mixed}, Recorder: book})
		all := targets(60)
		removed := map[string]int{} // events when the target was removed for good
		for round := range 40 {
			s.Set(all[round/2:])
			for _, gone := range all[:round/2] {
				if n := len(book.of(gone.Name)); removed[gone.Name] == 0 {
					removed[gone.Name] = n
				} else if n != removed[gone.Name] {
					t.Errorf("%s: %d events after its removal", gone.Name, n-removed[gone.Name])
				}
			}
			time.Sleep(47 * time.Second)
		}
		stop(t, s)
		counts := map[chain.Outcome]int{}
		for i, target := range all {
			runs := book.of(target.Name)
			for j, run := range runs {
				counts[run.Verdict.Outcome]++
				if want := firstSlot(runs[0].Slot, target.Name, interval).Add(time.Duration(j) * interval); !run.Slot.Equal(want) {
					t.Fatalf("%s: event %d is of slot %s, want %s", target.Name, j, run.Slot, want)
				}
			}
			lifetime := time.Duration(min(2*(i+1), 40)) * 47 * time.Second
			if lost := int(lifetime/interval) - len(runs); lost > 2 { // the slot in flight, and one that a hanging run held
				t.Errorf("%s: %d slots of %d lost", target.Name, lost, int(lifetime/interval))
			}
		}
		if total := counts[chain.OutcomeSuccess] + counts[chain.OutcomeFailure] + counts[chain.OutcomeUnknown]; total != book.count() || total < 4_000 {
			t.Errorf("%d events, %v by outcome", book.count(), counts)
		}
		for _, outcome := range chain.Results {
			if counts[outcome] < 100 {
				t.Errorf("the mix is too thin to prove anything: %v", counts)
			}
		}
	})
}

// mixed behaves by a hash of target and slot: good, failing, hanging, overrunning, panicking or with an error.
func mixed(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	h := fnv.New64a()
	h.Write([]byte(target.Name + slot.UTC().String()))
	switch dice := h.Sum64() % 20; {
	case dice < 8:
		time.Sleep(time.Duration(dice) * time.Second)
		return succeed(ctx, target, slot)
	case dice < 12:
		return fail(target, slot, chain.ReasonTCPRefused)
	case dice < 15:
		return hang(ctx, target, slot)
	case dice < 17:
		return ignore(time.Duration(dice-13)*9*time.Second)(ctx, target, slot)
	case dice < 18:
		return ignore(interval)(ctx, target, slot)
	case dice < 19:
		panic("a defect of the prober")
	}
	return chain.Run{}, errors.New("a defect of another kind")
}

func TestThousandTargetsWithEveryFifthHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, minutes = 1_000, 10
		hanging := map[string]bool{}
		fleet := targets(n)
		for i := 0; i < n; i += 5 {
			hanging[fleet[i].Name] = true
		}
		book, eyes := newLedger(t), &watch{}
		runner := &script{t: t, play: func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
			if hanging[target.Name] {
				return hang(ctx, target, slot)
			}
			return succeed(ctx, target, slot)
		}}
		s := start(t, Options{Runner: runner, Recorder: book, Watcher: eyes})
		const others = 10 // of the test binary and the runtime
		began := runtime.NumGoroutine()
		s.Set(fleet)
		var goroutines []int
		for range minutes {
			time.Sleep(time.Minute) // a multiple of the interval, so the same runs are in flight each time
			synctest.Wait()
			goroutines = append(goroutines, runtime.NumGoroutine()-began)
		}
		const slots = minutes * int(time.Minute/interval)
		flying := int(eyes.flying.Load())
		if got, want := book.count(), n*slots-flying; got != want {
			t.Errorf("%d events, want %d", got, want)
		}
		if flying == 0 || flying > n/5 {
			t.Errorf("%d runs in flight", flying)
		}
		for _, target := range fleet {
			want := chain.OutcomeSuccess
			if hanging[target.Name] {
				want = chain.OutcomeFailure
			}
			for _, run := range book.of(target.Name) {
				if run.Verdict.Outcome != want {
					t.Fatalf("%s: %v, want %s", target.Name, run.Verdict, want)
				}
			}
		}
		if late := time.Duration(eyes.latest.Load()); late != 0 {
			t.Errorf("a run began %s after its slot", late)
		}
		for _, got := range goroutines {
			if limit := n + flying + others; got > limit {
				t.Errorf("goroutines grew to %v, want at most %d: one per target, one per run in flight, and %d others", goroutines, limit, others)
				break
			}
		}
		stop(t, s)
	})
}

func TestReload(t *testing.T) {
	changed := target("ci@prod")
	changed.Timeout = 9 * time.Second
	for name, c := range map[string]struct {
		next []chain.Target
		want []string
	}{
		"unchanged keeps its slots and its run": {[]chain.Target{target("ci@prod")}, []string{"0s success", "15s success", "30s success"}},
		"changed drops its run":                 {[]chain.Target{changed}, []string{"0s success", "30s success"}},
		"removed drops its run":                 {nil, []string{"0s success"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				book := newLedger(t)
				s := start(t, Options{Recorder: book, Runner: &script{t: t, play: func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
					time.Sleep(5 * time.Second)
					return succeed(ctx, target, slot)
				}}})
				s.Set([]chain.Target{target("ci@prod")})
				time.Sleep(time.Until(firstSlot(time.Now(), "ci@prod", interval)) + interval + time.Second) // in the middle of the second run
				s.Set(c.next)
				time.Sleep(2*interval - 2*time.Second)
				stop(t, s)
				if diff := cmp.Diff(c.want, book.story("ci@prod")); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A target that is removed and comes back does not overlap the run that it left behind.
func TestNoOverlapAfterRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := newLedger(t)
		first := true
		s := start(t, Options{Recorder: book, Runner: &script{t: t, play: func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
			if first {
				first = false
				return ignore(40*time.Second)(ctx, target, slot)
			}
			return succeed(ctx, target, slot)
		}}})
		one := []chain.Target{target("ci@prod")}
		s.Set(one)
		time.Sleep(time.Until(firstSlot(time.Now(), "ci@prod", interval)) + time.Second)
		for range 3 {
			s.Set(nil)
			s.Set(one)
		}
		time.Sleep(4*interval - 2*time.Second)
		stop(t, s)
		if diff := cmp.Diff([]string{"0s unknown overrun", "15s unknown overrun", "30s success"}, book.story("ci@prod")); diff != "" {
			t.Error(diff)
		}
		if len(s.leaving) != 0 {
			t.Errorf("%d workers never left", len(s.leaving))
		}
	})
}

func TestStopDropsRunsAndSaysWhoStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := newLedger(t)
		s := start(t, Options{Recorder: book, Runner: &script{t: t, play: ignore(interval - time.Second)}})
		s.Set(targets(3))
		time.Sleep(interval) // every run is in flight, or has just begun its next
		before := book.count()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("patience is over"))
		defer cancel()
		if err := s.Stop(ctx); err == nil || err.Error() != "waiting for the runs of 3 targets to return: patience is over" {
			t.Errorf("got %v", err)
		}
		stop(t, s)
		s.Set(targets(3)) // stopped is stopped
		time.Sleep(interval)
		if got := book.count(); got != before {
			t.Errorf("%d events after Stop", got-before)
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, limit = 40, 4 // 40 runs of 1 s in 15 s fit into 4 places; 40 of 2 s do not
		for _, c := range []struct {
			takes  time.Duration
			missed bool
		}{{time.Second, false}, {2 * time.Second, true}} {
			book, eyes := newLedger(t), &watch{}
			runner := &script{t: t, play: func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
				time.Sleep(c.takes)
				return succeed(ctx, target, slot)
			}}
			s := start(t, Options{Runner: runner, Recorder: book, Watcher: eyes, Concurrency: limit})
			s.Set(targets(n))
			time.Sleep(20 * interval)
			stop(t, s)
			if runner.highest != limit {
				t.Errorf("%d runs at once, want %d", runner.highest, limit)
			}
			reasons := map[chain.Reason]int{}
			for _, target := range targets(n) {
				runs := book.of(target.Name)
				for _, run := range runs {
					reasons[run.Verdict.Reason]++
				}
				if len(runs) < 18 {
					t.Errorf("%s: %d events in 20 slots", target.Name, len(runs))
				}
			}
			delete(reasons, "")
			if got := reasons[chain.ReasonMissedSlot] > 0; got != c.missed || len(reasons) > 1 {
				t.Errorf("runs of %s: reasons %v", c.takes, reasons)
			}
			if late := time.Duration(eyes.latest.Load()); late > window(interval, timeout) {
				t.Errorf("a run began %s after its slot", late)
			}
		}
	})
}

// A process that stood still for a day at one second: every slot of that day has its event, soon, and the schedule goes on where it lay.
func TestStalledForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		one := chain.Target{Name: "ci@prod", Kind: chain.KindAccess, Interval: time.Second, Timeout: 500 * time.Millisecond}
		var events []chain.Run
		calls := 0
		runner := &script{t: t, play: func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
			if calls++; calls == 3 {
				return ignore(1100*time.Millisecond)(ctx, target, slot)
			}
			return succeed(ctx, target, slot)
		}}
		s := start(t, Options{Runner: runner, Recorder: recorderFunc(func(run chain.Run) {
			if events = append(events, run); len(events) == 3 { // the overrun, which the target's own goroutine records
				time.Sleep(day)
			}
		})})
		s.Set([]chain.Target{one})
		time.Sleep(day + 10*time.Second)
		stop(t, s)
		var reasons []chain.Reason
		for i, run := range events {
			if want := events[0].Slot.Add(time.Duration(i) * time.Second); !run.Slot.Equal(want) {
				t.Fatalf("event %d is of slot %s, want %s", i, run.Slot, want)
			}
			reasons = append(reasons, run.Verdict.Reason)
		}
		if got, want := slices.Compact(reasons), []chain.Reason{"", chain.ReasonOverrun, chain.ReasonMissedSlot, ""}; !reflect.DeepEqual(got, want) {
			t.Errorf("reasons in order: %v, want %v", got, want)
		}
		if n := len(events); n < 86_400 || n > 86_411 {
			t.Errorf("%d events", n)
		}
	})
}

// A process that stalls around a run has eaten its time: the slot is lost, the target is not blamed.
func TestStalledAroundTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		late, takes time.Duration
		want        string
		overruns    int64
	}{
		"no stall":                       {0, 10 * time.Second, "0s failure http_timeout", 0},
		"before it, within the window":   {window(interval, timeout), 10 * time.Second, "0s failure http_timeout", 0},
		"before it, past the window":     {window(interval, timeout) + 1, 0, "0s unknown missed_slot", 0},
		"in it, until the next slot":     {0, interval, "0s unknown overrun", 1},
		"in it, just short of next slot": {0, interval - 1, "0s failure http_timeout", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				book, eyes := newLedger(t), &watch{}
				w := &worker{options: Options{Runner: &script{t: t, play: ignore(c.takes)}, Recorder: book, Watcher: eyes}, target: target("ci@prod")}
				slot := time.Now()
				time.Sleep(c.late)
				w.fly(t.Context(), &flight{slot: slot, next: slot.Add(interval), done: make(chan struct{})}) // no next slot abandons it
				if diff := cmp.Diff([]string{c.want}, book.story("ci@prod")); diff != "" {
					t.Error(diff)
				}
				if got := eyes.overruns.Load(); got != c.overruns {
					t.Errorf("%d overruns observed, want %d", got, c.overruns)
				}
			})
		})
	}
}

type recorderFunc func(chain.Run)

func (f recorderFunc) Record(run chain.Run) { f(run) }
