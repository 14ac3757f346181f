// The ELB API as the scheduler's tests play it: two buckets, groups that turn bad, and the books of who read what when.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// own is the interval of the groups.
const own = 30 * time.Second

func group(name, account string) chain.Target {
	arn := fmt.Sprintf("arn:aws:elasticloadbalancing:eu-west-1:%s:targetgroup/%s/0123456789abcdef", account, name)
	return chain.Target{Name: name, Kind: chain.KindALB, Group: chain.TargetGroup{Region: "eu-west-1", ARN: arn}, Interval: own, Timeout: timeout}
}

func groups(n int) []chain.Target {
	list := make([]chain.Target, n)
	for i := range list {
		list[i] = group(fmt.Sprintf("group-%03d", i), "111122223333")
	}
	return list
}

// elb answers runs as a pool's API does: a read waits for the exporter's own bucket, and then takes from that of AWS.
type elb struct {
	bad     func(index int, since time.Duration) bool // whether group-INDEX has an unhealthy target
	refuses func(since time.Duration) bool            // whether AWS throttles, whatever its bucket says
	began   time.Time

	mu        sync.Mutex
	budget    *rate.Limiter
	aws       *rate.Limiter
	throttled int
	longest   time.Duration            // wait for the budget
	slots     map[string][]time.Time   // of the runs
	reads     map[string][]time.Time   // that brought a value
	all       []time.Time              // reads, the inventory's too
	shows     map[string][]bool        // per slot, whether trouble was seen
	ages      map[string]time.Duration // the greatest
}

func newELB(perSecond float64) *elb {
	return &elb{
		bad: func(int, time.Duration) bool { return false }, refuses: func(time.Duration) bool { return false }, began: time.Now(),
		budget: rate.NewLimiter(rate.Limit(perSecond), 5), aws: rate.NewLimiter(10, 40),
		slots: map[string][]time.Time{}, reads: map[string][]time.Time{}, shows: map[string][]bool{}, ages: map[string]time.Duration{},
	}
}

// take is one read: it waits for its turn, and reports whether AWS answered.
func (e *elb) take() bool {
	e.mu.Lock()
	wait := e.budget.Reserve().Delay()
	e.longest = max(e.longest, wait)
	e.mu.Unlock()
	<-time.After(wait)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, time.Now())
	if !e.aws.Allow() || e.refuses(time.Since(e.began)) {
		e.throttled++
		return false
	}
	return true
}

func (e *elb) run(_ context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	var index int
	_, _ = fmt.Sscanf(target.Name, "group-%d", &index)
	answered := e.take()
	bad := e.bad(index, time.Since(e.began))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slots[target.Name] = append(e.slots[target.Name], slot)
	e.shows[target.Name] = append(e.shows[target.Name], bad && answered)
	if !answered {
		return chain.UnknownRun("1", target, slot, chain.ReasonELBAPIThrottled, "throttled"), nil
	}
	e.read(target.Name)
	return seen(target, slot, bad), nil
}

// read books a value, and how old the one before it got; the caller holds the lock.
func (e *elb) read(name string) {
	before := e.began
	if n := len(e.reads[name]); n > 0 {
		before = e.reads[name][n-1]
	}
	e.ages[name] = max(e.ages[name], time.Since(before))
	e.reads[name] = append(e.reads[name], time.Now())
}

// oldest is the greatest age that a value of the targets had.
func (e *elb) oldest(targets []chain.Target) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	oldest := time.Duration(0)
	for _, target := range targets {
		last := e.began
		if n := len(e.reads[target.Name]); n > 0 {
			last = e.reads[target.Name][n-1]
		}
		oldest = max(oldest, e.ages[target.Name], time.Since(last))
	}
	return oldest
}

// waited is how long a read waited for the budget at most, and how many AWS throttled.
func (e *elb) waited() (longest time.Duration, throttled int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.longest, e.throttled
}

// busiest is the most reads within any minute.
func (e *elb) busiest() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	most, from := 0, 0
	for i, at := range e.all {
		for at.Sub(e.all[from]) >= time.Minute {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// seen is a run that read the group.
func seen(target chain.Target, slot time.Time, bad bool) chain.Run {
	run := chain.Run{ID: "1", Target: target, Slot: slot, Verdict: chain.Verdict{Outcome: chain.OutcomeSuccess}, Reading: &chain.GroupReading{}}
	health := chain.TargetHealthy
	if bad {
		health = chain.TargetUnhealthy
		run.Verdict = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepHealth, Reason: chain.ReasonHTTPTimeout}
	}
	run.Reading.Targets = []chain.TargetReading{{TargetHealth: chain.TargetHealth{State: health}}}
	return run
}

func newGovernor(t *testing.T, perSecond float64) *Governor {
	t.Helper()
	options := DefaultGovernorOptions()
	options.ReadsPerSecond = perSecond
	g, err := NewGovernor(options)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// govern starts a scheduler that the governor paces, and the inventory, which takes what is in reserve. The ledger sees to it that no slot has two events.
func govern(t *testing.T, g *Governor, e *elb) (s *Scheduler, book *ledger) {
	t.Helper()
	return governBy(t, g, g, e)
}

func governBy(t *testing.T, pacer Pacer, g *Governor, e *elb) (s *Scheduler, book *ledger) {
	t.Helper()
	book = newLedger(t)
	s = start(t, Options{Pacer: pacer, Runner: &script{t: t, play: e.run}, Recorder: recorderFunc(func(run chain.Run) {
		g.Observe(run)
		book.Record(run)
	})})
	done := make(chan struct{})
	go func() {
		for tick := time.NewTicker(10 * time.Second); ; {
			select {
			case <-tick.C:
				e.take()
			case <-done:
				return
			}
		}
	}()
	t.Cleanup(func() { close(done) })
	return s, book
}
