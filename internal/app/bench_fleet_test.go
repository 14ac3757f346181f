// The fleet benchmark: a thousand real targets at 15 seconds against the sandbox, and what they cost.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package app

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/scheduler"
)

// tally is the fleet's recorder and watcher.
type tally struct {
	mu       sync.Mutex
	late     []time.Duration
	outcomes map[chain.Outcome]int
	first    string // the first verdict that is no success
}

func (t *tally) Record(run chain.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcomes[run.Verdict.Outcome]++
	if run.Verdict.Outcome != chain.OutcomeSuccess && t.first == "" {
		t.first = fmt.Sprintf("%s: %+v", run.Target.Name, run.Verdict)
	}
}

func (t *tally) ObserveLateness(late time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.late = append(t.late, late)
}

func (*tally) InFlight(int) {}
func (*tally) Overrun()     {}

// BenchmarkThousandTargets runs the fleet for three intervals; one iteration is enough (-benchtime 1x).
func BenchmarkThousandTargets(b *testing.B) {
	const fleet, interval, intervals = 1000, 15 * time.Second, 3
	world, dir := startWorld(b)
	target := benchTarget(b, world, dir)
	target.Cluster.Endpoint, target.Cluster.CAFile = "https://"+world.Prod, filepath.Join(dir, "prod-ca.pem")
	target.Interval, target.Timeout = interval, 10*time.Second
	prober, err := NewProber(b.Context(), ProberOptions{})
	if err != nil {
		b.Fatal(err)
	}
	targets := make([]chain.Target, fleet)
	for i := range targets {
		targets[i] = target
		targets[i].Name = fmt.Sprintf("ci-%04d@prod", i)
	}
	for b.Loop() {
		t := &tally{outcomes: map[chain.Outcome]int{}}
		s, err := scheduler.New(scheduler.Options{Runner: prober, Recorder: t, Watcher: t, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		cpu, began := processCPU(b), time.Now()
		s.Set(targets)
		timer := time.NewTimer(intervals * interval)
		<-timer.C
		report(b, t, processCPU(b)-cpu, time.Since(began))
		if err := s.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func report(b *testing.B, t *tally, cpu, wall time.Duration) {
	b.Helper()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(t.late)
	b.ReportMetric(cpu.Seconds()/wall.Seconds(), "cores")
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
	b.ReportMetric(float64(t.late[len(t.late)*99/100].Microseconds())/1000, "p99-late-ms")
	b.ReportMetric(float64(t.outcomes[chain.OutcomeSuccess]), "good")
	b.ReportMetric(float64(t.outcomes[chain.OutcomeFailure]+t.outcomes[chain.OutcomeUnknown]), "not-good")
	if t.first != "" {
		b.Log(t.first)
	}
}
