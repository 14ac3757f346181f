// The recorder hands each event to results and metrics, and logs a verdict when it changes.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

type recorder struct {
	store   *results.Store
	metrics *metrics.Metrics
	probing *probing
	logger  *slog.Logger

	mu   sync.Mutex
	last map[string]said
}

// said is what was last logged of a target.
type said struct {
	outcome chain.Outcome
	step    chain.Step
	reason  chain.Reason
}

func newRecorder(store *results.Store, m *metrics.Metrics, p *probing, logger *slog.Logger) *recorder {
	return &recorder{store: store, metrics: m, probing: p, logger: logger, last: map[string]said{}}
}

// Record implements scheduler.Recorder.
func (r *recorder) Record(run chain.Run) {
	r.store.Record(run)
	r.metrics.Record(run)
	r.expiry(run)
	r.probing.governor.Load().Observe(run)
	r.log(run)
}

// expiry shows the end of the session that the run signed in with. Credentials without an end have no series; a run that got no session says nothing about the last one.
func (r *recorder) expiry(run chain.Run) {
	for _, s := range run.Steps {
		if s.Step != chain.StepSTS || s.Outcome != chain.OutcomeSuccess {
			continue
		}
		end, err := time.Parse(time.RFC3339, s.Facts[chain.FactSessionExpires])
		if err != nil {
			end = time.Time{}
		}
		r.metrics.CredentialsExpiry(run.Target.Identity.Name, end)
	}
}

// log writes a line when the verdict is another than before; every run is a line at level debug.
func (r *recorder) log(run chain.Run) {
	v := run.Verdict
	now := said{v.Outcome, v.Step, v.Reason}
	r.mu.Lock()
	before, known := r.last[run.Target.Name]
	r.last[run.Target.Name] = now
	r.mu.Unlock()
	attrs := []any{"target", run.Target.Name, "result", v.Outcome.String(), "step", v.Step.String(), "reason", string(v.Reason), "detail", v.Detail, "run", run.ID}
	switch {
	case known && before == now:
		r.logger.Debug("run", attrs...)
	case v.Outcome == chain.OutcomeSuccess:
		r.logger.Info("verdict", attrs...)
	default:
		r.logger.Warn("verdict", attrs...)
	}
}

// retain forgets every target but these, and lets new ones exist before their first event.
func (r *recorder) retain(targets []chain.Target) {
	r.store.Retain(targets)
	r.metrics.SetTargets(targets)
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]bool{}
	for _, t := range targets {
		names[t.Name] = true
	}
	maps.DeleteFunc(r.last, func(name string, _ said) bool { return !names[name] })
}
