// Pacing: between two slots of a target a pacer may put more than the target's own interval, and is asked for each slot as it comes near.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Pacer spaces the slots of alb targets, so that they share an API budget. It is called from many goroutines, for one target from one at a time, and must be cheap.
type Pacer interface {
	// Next tells when the target's next slot is: never before earliest, which is one own interval after its last slot, and now for its first. A time to come is what is expected as things are:
	// Next is asked again, with the same earliest, before that time and at the latest when it has come. A time that has come is the slot, and what is asked next is for the slot after it.
	Next(target chain.Target, earliest time.Time) time.Time
}

// first waits for the target's first slot; false when ctx ended.
func (w *worker) first(ctx context.Context) (time.Time, bool) {
	if w.paced() {
		return w.await(ctx, time.Now())
	}
	slot := firstSlot(time.Now(), w.target.Name, w.target.Interval)
	return slot, sleepUntil(ctx, slot)
}

// following waits for the slot after one. Its run has one own interval to return, however far away the next slot is.
func (w *worker) following(ctx context.Context, slot time.Time, last *flight) (time.Time, bool) {
	end := slot.Add(w.target.Interval)
	if !sleepUntil(ctx, end) {
		return end, false
	}
	w.abandon(last)
	if w.paced() {
		return w.await(ctx, end)
	}
	return end, true
}

func (w *worker) paced() bool { return w.options.Pacer != nil && w.target.Kind == chain.KindALB }

// await asks the pacer until the slot has come.
func (w *worker) await(ctx context.Context, earliest time.Time) (time.Time, bool) {
	for {
		slot := w.options.Pacer.Next(w.target, earliest)
		now := time.Now()
		wait := slot.Sub(now)
		if wait <= 0 {
			return slot, ctx.Err() == nil
		}
		if !sleepUntil(ctx, now.Add(pause(wait))) {
			return slot, false
		}
	}
}

// A promised slot is waited for in one piece when it is near; and nobody waits longer than askAgain without asking, so that a place that gets free is taken soon.
const (
	near     = time.Second
	askAgain = 5 * time.Second
)

// pause is how much of a wait passes before the pacer is asked again: half of it, so that few questions follow a slot that moves in either direction.
func pause(wait time.Duration) time.Duration {
	if wait <= near {
		return wait
	}
	return min(wait/2, askAgain)
}
