// A worker walks one target's slots; a flight is one run that it started.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

type worker struct {
	options Options
	places  places
	target  chain.Target
	log     *slog.Logger
	cancel  context.CancelCauseFunc
	idle    chan struct{} // closed when the loop and its last run have returned

	mu   sync.Mutex
	gone bool // removed: nothing is recorded any more
}

// flight is one run. Whoever settles it records its slot's event: the run itself, or the worker, which abandons it one interval after its slot.
type flight struct {
	slot, next time.Time     // next: one interval after the slot
	done       chan struct{} // closed when the runner has returned and the event is recorded
	settled    atomic.Bool
}

// landed is a flight that is over.
func landed() *flight {
	f := &flight{done: make(chan struct{})}
	f.settle()
	close(f.done)
	return f
}

func (f *flight) settle() bool { return f.settled.CompareAndSwap(false, true) }

func (f *flight) landed() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// loop walks the slots until ctx ends, then waits for the last run.
func (w *worker) loop(ctx context.Context, last *flight) {
	for slot, ok := w.first(ctx); ok; slot, ok = w.following(ctx, slot, last) {
		if reason, detail := w.admit(ctx, slot, last); reason != "" {
			w.record(w.unknown(slot, reason, detail))
			continue
		}
		last = &flight{slot: slot, next: slot.Add(w.target.Interval), done: make(chan struct{})}
		go w.fly(ctx, last)
	}
	<-last.done
}

// admit waits until the slot's run may begin: the run before it has returned, and a place is free. Else it says why the slot is lost; for a cancelled worker it does not matter.
func (w *worker) admit(ctx context.Context, slot time.Time, last *flight) (chain.Reason, string) {
	deadline := slot.Add(window(w.target.Interval, w.target.Timeout))
	switch {
	case !receive(ctx, last.done, deadline) && !last.landed():
		return chain.ReasonOverrun, "the run of an earlier slot still had not returned"
	case !w.places.take(ctx, deadline):
		return chain.ReasonMissedSlot, w.missed()
	}
	return "", ""
}

func (w *worker) missed() string {
	return fmt.Sprintf("the run could not begin within %s of its slot: the concurrency limit or a stalled process held it back", window(w.target.Interval, w.target.Timeout))
}

// fly runs the chain once and records it, unless its interval is over.
func (w *worker) fly(ctx context.Context, f *flight) {
	defer close(f.done)
	defer w.places.giveBack()
	run := w.run(ctx, f.slot)
	if !time.Now().Before(f.next) {
		w.abandon(f)
	} else if f.settle() {
		w.record(run)
	}
}

// run gives the runner its time. A process that stalled since the run was admitted has cut that time short: such a slot is lost, rather than a failure of the target.
func (w *worker) run(ctx context.Context, slot time.Time) chain.Run {
	late := time.Since(slot)
	if late > window(w.target.Interval, w.target.Timeout) {
		return w.unknown(slot, chain.ReasonMissedSlot, w.missed())
	}
	w.options.Watcher.ObserveLateness(late)
	w.options.Watcher.InFlight(1)
	defer w.options.Watcher.InFlight(-1)
	limit := allowance(late, w.target.Interval, w.target.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("probing %s: its time of %s was up", w.target.Name, limit))
	defer cancel()
	return w.call(ctx, slot)
}

// call calls the runner; what returns no result is unknown.
func (w *worker) call(ctx context.Context, slot time.Time) (run chain.Run) {
	defer func() {
		if value := recover(); value != nil {
			w.log.Error("run panicked", "panic", chain.Redact(fmt.Sprint(value)), "stack", string(debug.Stack()))
			run = w.unknown(slot, chain.ReasonReadFailed, "the prober itself crashed in this run: its log has the stack")
		}
	}()
	run, err := w.options.Runner.Run(ctx, w.target, onWall(slot))
	if err != nil {
		return w.unknown(slot, chain.ReasonReadFailed, "the prober returned no result: "+chain.Redact(err.Error()))
	}
	return run
}

// abandon records the slot of a run that did not return in time.
func (w *worker) abandon(f *flight) {
	if !f.settle() {
		return
	}
	detail := fmt.Sprintf("the run had not returned within the interval of %s, although its timeout of %s was over", w.target.Interval, w.target.Timeout)
	if w.record(w.unknown(f.slot, chain.ReasonOverrun, detail)) {
		w.options.Watcher.Overrun()
	}
}

func (w *worker) unknown(slot time.Time, reason chain.Reason, detail string) chain.Run {
	return chain.UnknownRun(strings.ToLower(rand.Text()[:16]), w.target, onWall(slot), reason, detail)
}

// record reports false when the worker was retired, and the run is dropped.
func (w *worker) record(run chain.Run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return false
	}
	w.options.Recorder.Record(run)
	return true
}

// retire cancels the worker; once it returns, nothing is recorded.
func (w *worker) retire() {
	w.mu.Lock()
	w.gone = true
	w.mu.Unlock()
	w.cancel(fmt.Errorf("probing %s: the target was removed or changed, or the exporter stops", w.target.Name))
}
