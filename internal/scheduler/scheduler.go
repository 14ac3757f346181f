// The scheduler gives every target its fixed slots and makes every slot end in exactly one event.
//
// SPDX-License-Identifier: Apache-2.0

// Package scheduler decides when targets are probed: slots spread by a hash of the target's name or by an API budget, no overlap per target, a global concurrency limit, cancel on removal.
//
// Every slot of a target that is still configured ends in exactly one recorded run:
//
//	the run returned within its interval                            → the run, as it is
//	the run panicked, or returned an error that is not ours         → unknown, read_failed
//	the run had not returned within its interval                    → unknown, overrun, recorded at that moment; its late result is dropped
//	an earlier run kept the slot from beginning within its window   → unknown, overrun
//	the limit or a stalled process kept it from beginning so        → unknown, missed_slot
//
// The window is what the interval leaves beside the timeout and a little grace, so a run that begins late still has its whole timeout before the next slot.
//
// The next slot is one interval later. Of alb targets it may be more: a Pacer, which is the Governor, spaces them so that they share an API budget. Politeness is then a longer interval, and not an
// unknown event: a run is judged by the target's own interval, and the slots that a stalled process misses are the spaced ones.
//
// Time is monotonic after the first slot, so a step of the wall clock neither loses nor doubles a slot. When the process stands still (stopped, frozen, starved), each slot that
// passed is recorded as missed_slot once it goes on, one after another, with nothing kept: a day at one second is 86,400 events per target, each about ten microseconds. When the
// machine sleeps, the monotonic clock of Linux sleeps too: those slots never were, and the gap is one of data, as the scrapes show it.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Runner runs a target's chain once. It is called from many goroutines, never twice at once for one target.
//
// The context ends with context.DeadlineExceeded when the run's time is up (the cause names the target and the time): the run then ends as a result like any other.
// It ends with context.Canceled when the target was removed or the scheduler stops: Run returns an error, and the run is dropped. Any other error is recorded as unknown, read_failed.
type Runner interface {
	Run(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error)
}

// Recorder takes the event of a slot. It is called from many goroutines, for one target in the order of its slots, must not block, and must not call the scheduler.
type Recorder interface {
	Record(run chain.Run)
}

// Watcher watches the scheduler itself. It is called from many goroutines and must not block.
type Watcher interface {
	// ObserveLateness tells how long after its slot a run began.
	ObserveLateness(late time.Duration)
	// InFlight is +1 when a run begins and -1 when it has returned, however late.
	InFlight(delta int)
	// Overrun tells that a run had not returned within its interval; once per run.
	Overrun()
}

// Options configure a scheduler.
type Options struct {
	Runner   Runner
	Recorder Recorder
	Logger   *slog.Logger
	Watcher  Watcher // nil: nobody watches
	Pacer    Pacer   // nil: every target keeps its own interval. Only alb targets are paced; the slots of access targets are the same after every restart

	// Concurrency is the most runs in flight at once. A run holds its place until it returns, and those who wait are served in turn.
	// 0 is no limit of its own: since no target overlaps itself, there are never more runs than targets.
	Concurrency int
}

func (o Options) validate() error {
	switch {
	case o.Runner == nil:
		return errors.New("scheduler: Options.Runner is not set")
	case o.Recorder == nil:
		return errors.New("scheduler: Options.Recorder is not set")
	case o.Logger == nil:
		return errors.New("scheduler: Options.Logger is not set")
	case o.Concurrency < 0:
		return fmt.Errorf("scheduler: Options.Concurrency is %d, must not be negative", o.Concurrency)
	}
	return nil
}

// Scheduler runs targets in their slots: one goroutine per target, and one per run in flight. Its methods are safe for concurrent use.
type Scheduler struct {
	options Options
	places  places

	mu      sync.Mutex
	stopped bool
	workers map[string]*worker // by target name
	leaving map[string]*worker // removed ones that still have a run in flight; at most the newest per name, which waits for those before it
}

// New returns a scheduler without targets.
func New(options Options) (*Scheduler, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	if options.Watcher == nil {
		options.Watcher = nobody{}
	}
	return &Scheduler{options: options, places: newPlaces(options.Concurrency), workers: map[string]*worker{}, leaving: map[string]*worker{}}, nil
}

// Set makes targets the ones that are probed. New and changed ones begin at their next slot; removed and changed ones are cancelled, and once Set returns no run of theirs is
// recorded any more; unchanged ones keep their slots and the run in flight. Names are unique, intervals and timeouts positive (the configuration has checked that). After Stop it does nothing.
func (s *Scheduler) Set(targets []chain.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	wanted := make(map[string]chain.Target, len(targets))
	for _, target := range targets {
		wanted[target.Name] = target
	}
	for name, w := range s.workers {
		if target, ok := wanted[name]; !ok || !reflect.DeepEqual(target, w.target) {
			s.retire(w)
		}
	}
	for name, target := range wanted {
		if s.workers[name] == nil {
			s.start(target)
		}
	}
}

// Stop cancels every run, drops what they return, and waits until they have. The error tells how many had not returned when ctx ended.
func (s *Scheduler) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	for _, w := range s.workers {
		s.retire(w)
	}
	waiting := make([]*worker, 0, len(s.leaving))
	for _, w := range s.leaving {
		waiting = append(waiting, w)
	}
	s.mu.Unlock()
	for i, w := range waiting {
		select {
		case <-w.idle:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the runs of %d targets to return: %w", len(waiting)-i, context.Cause(ctx))
		}
	}
	return nil
}

// start begins a target's slots; the caller holds the lock.
func (s *Scheduler) start(target chain.Target) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w := &worker{options: s.options, places: s.places, target: target, cancel: cancel, idle: make(chan struct{}), log: s.options.Logger.With("target", target.Name)}
	earlier := landed()
	if before := s.leaving[target.Name]; before != nil {
		earlier = &flight{done: before.idle}
		earlier.settle()
	}
	s.workers[target.Name] = w
	go func() {
		w.loop(ctx, earlier)
		s.forget(w)
	}()
}

// retire takes a target off the schedule; the caller holds the lock.
func (s *Scheduler) retire(w *worker) {
	w.retire()
	delete(s.workers, w.target.Name)
	s.leaving[w.target.Name] = w
}

func (s *Scheduler) forget(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving[w.target.Name] == w {
		delete(s.leaving, w.target.Name)
	}
	close(w.idle)
}

type nobody struct{}

func (nobody) ObserveLateness(time.Duration) {}
func (nobody) InFlight(int)                  {}
func (nobody) Overrun()                      {}
