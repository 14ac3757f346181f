// Tests of paced workers: every slot ends in one event by the target's own interval, and only alb targets are paced.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// doubler is a pacer that doubles every interval.
type doubler struct{ asked atomic.Int64 }

func (d *doubler) Next(target chain.Target, earliest time.Time) time.Time {
	d.asked.Add(1)
	return earliest.Add(target.Interval)
}

func TestPacedStories(t *testing.T) {
	second := func(odd func(context.Context, chain.Target, time.Time) (chain.Run, error)) func(context.Context, chain.Target, time.Time) (chain.Run, error) {
		calls := 0
		return func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
			if calls++; calls == 2 {
				return odd(ctx, target, slot)
			}
			return succeed(ctx, target, slot)
		}
	}
	for name, c := range map[string]struct {
		kind chain.Kind
		play func(context.Context, chain.Target, time.Time) (chain.Run, error)
		want []string
	}{
		"all good":                       {chain.KindALB, succeed, []string{"0s success", "30s success", "1m0s success"}},
		"hangs until its timeout":        {chain.KindALB, second(hang), []string{"0s success", "30s failure http_timeout", "1m0s success"}},
		"longer than its own interval":   {chain.KindALB, second(ignore(interval)), []string{"0s success", "30s unknown overrun", "1m0s success"}},
		"until the window's end of next": {chain.KindALB, second(ignore(2*interval + 5*time.Second)), []string{"0s success", "30s unknown overrun", "1m0s unknown overrun"}},
		"access targets are not paced":   {chain.KindAccess, succeed, []string{"0s success", "15s success", "30s success", "45s success", "1m0s success"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := target("ci@prod")
				one.Kind = c.kind
				book, pacer := newLedger(t), &doubler{}
				s := start(t, Options{Runner: &script{t: t, play: c.play}, Recorder: book, Pacer: pacer})
				first := time.Now().Add(interval)
				if c.kind == chain.KindAccess {
					first = firstSlot(time.Now(), one.Name, interval)
				}
				s.Set([]chain.Target{one})
				time.Sleep(time.Until(first) + 5*interval - time.Millisecond)
				stop(t, s)
				if diff := cmp.Diff(c.want, book.story(one.Name)); diff != "" {
					t.Error(diff)
				}
				if asked := pacer.asked.Load(); (asked > 0) != (c.kind == chain.KindALB) || asked > 30 {
					t.Errorf("the pacer was asked %d times", asked)
				}
			})
		})
	}
}

// An overrun is told one interval after its slot, however far away the next slot is.
func TestPacedOverrunIsToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, eyes := newLedger(t), &watch{}
		one := target("shop")
		one.Kind = chain.KindALB
		s := start(t, Options{Runner: &script{t: t, play: ignore(time.Hour)}, Recorder: book, Watcher: eyes, Pacer: &doubler{}})
		s.Set([]chain.Target{one})
		time.Sleep(2*interval - time.Millisecond)
		if n := book.count(); n != 0 {
			t.Fatalf("%d events within the interval", n)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if n := book.count(); n != 1 || eyes.overruns.Load() != 1 {
			t.Fatalf("%d events and %d overruns after the interval, want 1", n, eyes.overruns.Load())
		}
		stop(t, s)
	})
}

func TestPauseComesNearerAndNearer(t *testing.T) {
	for wait, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond: 10 * time.Millisecond, time.Second: time.Second, 3 * time.Second: 1500 * time.Millisecond, time.Minute: 5 * time.Second,
	} {
		if got := pause(wait); got != want {
			t.Errorf("pause of %s is %s, want %s", wait, got, want)
		}
	}
}
