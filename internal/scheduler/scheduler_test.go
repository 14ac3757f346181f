// Tests that every slot ends in exactly one event, in virtual time: hangs, overruns, panics, reloads, removals and stalls.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const interval, timeout = 15 * time.Second, 10 * time.Second

func target(name string) chain.Target {
	return chain.Target{Name: name, Kind: chain.KindAccess, Interval: interval, Timeout: timeout}
}

func targets(n int) []chain.Target {
	list := make([]chain.Target, n)
	for i := range list {
		list[i] = target(chain.AccessName(fmt.Sprintf("identity-%d", i), "prod"))
	}
	return list
}

// ledger records every event, and refuses a second one for a slot.
type ledger struct {
	t      *testing.T
	mu     sync.Mutex
	events map[string][]chain.Run // by target name, in order
}

func newLedger(t *testing.T) *ledger { return &ledger{t: t, events: map[string][]chain.Run{}} }

func (l *ledger) Record(run chain.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, earlier := range l.events[run.Target.Name] {
		if earlier.Slot.Equal(run.Slot) {
			l.t.Errorf("%s: second event for slot %s: %v after %v", run.Target.Name, run.Slot, run.Verdict, earlier.Verdict)
		}
	}
	l.events[run.Target.Name] = append(l.events[run.Target.Name], run)
}

func (l *ledger) of(name string) []chain.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]chain.Run(nil), l.events[name]...)
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, runs := range l.events {
		n += len(runs)
	}
	return n
}

// story spells a target's events as "OFFSET OUTCOME REASON", offsets counted from its first slot.
func (l *ledger) story(name string) []string {
	var lines []string
	runs := l.of(name)
	for _, run := range runs {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", run.Slot.Sub(runs[0].Slot), run.Verdict.Outcome, run.Verdict.Reason)))
	}
	return lines
}

// script is a Runner that counts overlaps.
type script struct {
	t    *testing.T
	play func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error)

	mu      sync.Mutex
	busy    map[string]bool
	now     int
	highest int
}

func (s *script) Run(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	s.mu.Lock()
	if s.busy == nil {
		s.busy = map[string]bool{}
	}
	if s.busy[target.Name] {
		s.t.Errorf("%s: two runs at once", target.Name)
	}
	s.busy[target.Name] = true
	s.now++
	s.highest = max(s.highest, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy[target.Name] = false
		s.now--
	}()
	return s.play(ctx, target, slot)
}

func succeed(_ context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	return chain.Run{ID: slot.String(), Target: target, Slot: slot, Started: time.Now(), Verdict: chain.Verdict{Outcome: chain.OutcomeSuccess}}, nil
}

func fail(target chain.Target, slot time.Time, reason chain.Reason) (chain.Run, error) {
	return chain.Run{ID: slot.String(), Target: target, Slot: slot, Verdict: chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepEndpoint, Reason: reason}}, nil
}

// hang waits for the run's time to be up, as a good runner does.
func hang(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.Canceled) {
		return chain.Run{}, context.Cause(ctx)
	}
	return fail(target, slot, chain.ReasonHTTPTimeout)
}

// ignore returns after d, whatever its context says.
func ignore(d time.Duration) func(context.Context, chain.Target, time.Time) (chain.Run, error) {
	return func(_ context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
		time.Sleep(d)
		return fail(target, slot, chain.ReasonHTTPTimeout)
	}
}

// watch is an Watcher that keeps sums.
type watch struct {
	flying, begun, overruns atomic.Int64
	latest                  atomic.Int64 // the greatest lateness
	stall                   func()       // called in the run's goroutine
}

func (w *watch) ObserveLateness(late time.Duration) {
	w.begun.Add(1)
	w.latest.Store(max(w.latest.Load(), int64(late)))
	if w.stall != nil {
		w.stall()
	}
}
func (w *watch) InFlight(delta int) { w.flying.Add(int64(delta)) }
func (w *watch) Overrun()           { w.overruns.Add(1) }

func start(t *testing.T, options Options) *Scheduler {
	t.Helper()
	options.Logger = slog.New(slog.DiscardHandler)
	s, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *Scheduler) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewNamesTheField(t *testing.T) {
	good := Options{Runner: &script{}, Recorder: &ledger{}, Logger: slog.Default()}
	for name, c := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"runner":      {func(o *Options) { o.Runner = nil }, "scheduler: Options.Runner is not set"},
		"recorder":    {func(o *Options) { o.Recorder = nil }, "scheduler: Options.Recorder is not set"},
		"logger":      {func(o *Options) { o.Logger = nil }, "scheduler: Options.Logger is not set"},
		"concurrency": {func(o *Options) { o.Concurrency = -1 }, "scheduler: Options.Concurrency is -1, must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			options := good
			c.change(&options)
			if _, err := New(options); err == nil || err.Error() != c.want {
				t.Errorf("got error %v, want %s", err, c.want)
			}
		})
	}
}

// One target, one behaviour: the exact events of its first slots.
func TestStories(t *testing.T) {
	second := func(n int, odd func(context.Context, chain.Target, time.Time) (chain.Run, error)) func(context.Context, chain.Target, time.Time) (chain.Run, error) {
		calls := 0
		return func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
			if calls++; calls == n {
				return odd(ctx, target, slot)
			}
			return succeed(ctx, target, slot)
		}
	}
	for name, c := range map[string]struct {
		play     func(context.Context, chain.Target, time.Time) (chain.Run, error)
		timeout  time.Duration
		want     []string
		overruns int64
	}{
		"all good": {succeed, timeout, []string{"0s success", "15s success", "30s success", "45s success"}, 0},
		"hangs until its timeout": {second(2, hang), timeout,
			[]string{"0s success", "15s failure http_timeout", "30s success", "45s success"}, 0},
		"hangs until a timeout as long as the interval": {hang, interval,
			[]string{"0s failure http_timeout", "15s failure http_timeout", "30s failure http_timeout", "45s failure http_timeout"}, 0},
		"ignores its timeout, but returns before the next slot": {second(2, ignore(14*time.Second)), timeout,
			[]string{"0s success", "15s failure http_timeout", "30s success", "45s success"}, 0},
		"overruns, and returns within the window of the next slot": {second(2, ignore(19*time.Second)), timeout,
			[]string{"0s success", "15s unknown overrun", "30s success", "45s success"}, 1},
		"overruns past the window of the next slot": {second(2, ignore(20*time.Second)), timeout,
			[]string{"0s success", "15s unknown overrun", "30s unknown overrun", "45s success"}, 1},
		"overruns three slots": {second(1, ignore(44*time.Second)), timeout,
			[]string{"0s unknown overrun", "15s unknown overrun", "30s unknown overrun", "45s success"}, 1},
		"returns at the very moment of the next slot": {second(2, ignore(interval)), timeout,
			[]string{"0s success", "15s unknown overrun", "30s success", "45s success"}, 1},
		"panics": {second(2, func(context.Context, chain.Target, time.Time) (chain.Run, error) { panic("boom") }), timeout,
			[]string{"0s success", "15s unknown read_failed", "30s success", "45s success"}, 0},
		"leaves without a word": {second(2, func(context.Context, chain.Target, time.Time) (chain.Run, error) {
			runtime.Goexit()
			return chain.Run{}, nil
		}), timeout,
			[]string{"0s success", "15s unknown overrun", "30s success", "45s success"}, 1},
		"returns an error that is not ours": {second(2, func(context.Context, chain.Target, time.Time) (chain.Run, error) {
			return chain.Run{}, errors.New("no")
		}), timeout,
			[]string{"0s success", "15s unknown read_failed", "30s success", "45s success"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := target("ci@prod")
				one.Timeout = c.timeout
				book, eyes := newLedger(t), &watch{}
				s := start(t, Options{Runner: &script{t: t, play: c.play}, Recorder: book, Watcher: eyes})
				s.Set([]chain.Target{one})
				time.Sleep(time.Until(firstSlot(time.Now(), one.Name, interval)) + 4*interval - time.Millisecond)
				stop(t, s)
				if diff := cmp.Diff(c.want, book.story(one.Name)); diff != "" {
					t.Error(diff)
				}
				if got := eyes.overruns.Load(); got != c.overruns {
					t.Errorf("%d overruns observed, want %d", got, c.overruns)
				}
				if got := eyes.flying.Load(); got != 0 {
					t.Errorf("%d runs in flight after Stop", got)
				}
			})
		})
	}
}

// An overrun is told when the next slot comes, not when the run returns.
func TestOverrunIsRecordedAtTheNextSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := newLedger(t)
		s := start(t, Options{Runner: &script{t: t, play: ignore(time.Hour)}, Recorder: book})
		s.Set(targets(1))
		time.Sleep(time.Until(firstSlot(time.Now(), targets(1)[0].Name, interval)) + interval - 1)
		if n := book.count(); n != 0 {
			t.Fatalf("%d events before the next slot", n)
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if n := book.count(); n != 1 {
			t.Fatalf("%d events just after the next slot, want 1", n)
		}
		stop(t, s) // waits an hour of virtual time
	})
}

func TestTimeoutHasACause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan string, 1)
		s := start(t, Options{Recorder: newLedger(t), Runner: &script{t: t, play: func(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
			<-ctx.Done()
			causes <- fmt.Sprint(ctx.Err(), "; ", context.Cause(ctx))
			return succeed(ctx, target, slot)
		}}})
		s.Set([]chain.Target{target("ci@prod")})
		if got, want := <-causes, "context deadline exceeded; probing ci@prod: its time of 10s was up"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		time.Sleep(interval - 10*time.Second + time.Second) // into the next run
		s.Set(nil)
		if got, want := <-causes, "context canceled; probing ci@prod: the target was removed or changed, or the exporter stops"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		stop(t, s)
	})
}

func TestPanicIsLoggedRedacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		book := newLedger(t)
		s, err := New(Options{Recorder: book, Logger: slog.New(slog.NewTextHandler(&log, nil)), Runner: &script{t: t, play: func(context.Context, chain.Target, time.Time) (chain.Run, error) {
			panic("token k8s-aws-v1.c2VjcmV0")
		}}})
		if err != nil {
			t.Fatal(err)
		}
		s.Set([]chain.Target{target("ci@prod")})
		time.Sleep(interval)
		stop(t, s)
		for _, want := range []string{"run panicked", "target=ci@prod", `panic="token [redacted]"`, "scheduler_test.go"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("log lacks %q:\n%s", want, log.String())
			}
		}
		if strings.Contains(log.String(), "c2VjcmV0") {
			t.Error("the log shows the token")
		}
	})
}
