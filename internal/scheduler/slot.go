// Slots are the fixed points of a target's schedule, and the arithmetic of when a run may begin and must end.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// phase is where in the interval a target's slots lie, in whole milliseconds: even over names, and the same after every restart and in every replica.
func phase(name string, interval time.Duration) time.Duration {
	sum := sha256.Sum256([]byte(name))
	rest := binary.BigEndian.Uint64(sum[:]) % uint64(interval) //nolint:gosec // an interval is positive
	return time.Duration(rest).Truncate(time.Millisecond)      //nolint:gosec // below interval
}

// firstSlot is the first slot at or after now, on the grid of the wall clock. It keeps the monotonic reading of now.
func firstSlot(now time.Time, name string, interval time.Duration) time.Time {
	wait := phase(name, interval) - time.Duration(now.UnixNano())%interval
	if wait < 0 {
		wait += interval
	}
	return now.Add(wait)
}

// onWall spells a slot by today's wall clock, which may have been set since the first slot was laid. The monotonic reading is gone.
func onWall(slot time.Time) time.Time {
	now := time.Now()
	return now.Add(slot.Sub(now)).Round(time.Millisecond)
}

// graceLimit bounds grace.
const graceLimit = 500 * time.Millisecond

// grace is what timers and goroutines are allowed to be late by: a tenth of the interval, at most half a second.
func grace(interval time.Duration) time.Duration { return min(interval/10, graceLimit) }

// window is how long after its slot a run may begin: what the interval leaves beside the timeout and the grace, and never less than the grace.
func window(interval, timeout time.Duration) time.Duration {
	return max(interval-timeout-grace(interval), grace(interval))
}

// allowance is the time that a run may take which began so late after its slot: the timeout, cut so that it ends a grace before the next slot. Within the window the cut
// matters only to a timeout nearly as long as the interval, whose runs so end as their own failures and not as overruns.
func allowance(late, interval, timeout time.Duration) time.Duration {
	return min(timeout, interval-late-grace(interval))
}

// sleepUntil reports false when ctx ended instead.
func sleepUntil(ctx context.Context, slot time.Time) bool {
	timer := time.NewTimer(time.Until(slot))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// receive takes from c before the deadline; one that has passed takes nothing.
func receive(ctx context.Context, c <-chan struct{}, deadline time.Time) bool {
	left := time.Until(deadline)
	if left < 0 {
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	}
}

// places are the concurrency limit: a channel that holds the free ones. nil is no limit.
type places chan struct{}

func newPlaces(limit int) places {
	if limit == 0 {
		return nil
	}
	p := make(places, limit)
	for range limit {
		p <- struct{}{}
	}
	return p
}

func (p places) take(ctx context.Context, deadline time.Time) bool {
	if p == nil {
		return time.Until(deadline) >= 0
	}
	return receive(ctx, p, deadline)
}

func (p places) giveBack() {
	if p != nil {
		p <- struct{}{}
	}
}
