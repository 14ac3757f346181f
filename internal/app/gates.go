// The gates of a running exporter: asked by callers, counted, and judged again and again for the gauge that says whether they are open.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/query"
)

// gateInterval is how often each gate is judged for eks_slo_gate_open: budgets move by the evaluation of the rules, every 30 s.
const gateInterval = 30 * time.Second

// gateTimeout bounds one judgement, so that a Prometheus that hangs holds up nothing for longer.
const gateTimeout = 25 * time.Second

// noQuery is the trouble of a configuration that names nothing to read from.
var noQuery = slo.Trouble{Kind: query.KindNoData.String(), Message: "nothing is recorded: the configuration has no section query; write query: {embedded: {}} for the engine inside the exporter, or name a Prometheus"}

// gatekeeper answers by the last good configuration.
type gatekeeper struct {
	budgets atomic.Pointer[Budgets] // nil: nothing to read from
	metrics *metrics.Metrics
	logger  *slog.Logger
}

// set makes these the budgets and gates that are asked.
func (g *gatekeeper) set(b *Budgets) {
	g.budgets.Store(b)
	g.metrics.SetGates(g.Gates())
}

// SLOs implements web.Budgets.
func (g *gatekeeper) SLOs(ctx context.Context) ([]slo.BudgetRow, *slo.Trouble) {
	if b := g.budgets.Load(); b != nil {
		return b.SLOs(ctx)
	}
	return nil, &noQuery
}

// Gates implements web.Budgets.
func (g *gatekeeper) Gates() []string {
	if b := g.budgets.Load(); b != nil {
		return b.Gates()
	}
	return nil
}

// Decide implements web.Budgets, and counts the answer.
func (g *gatekeeper) Decide(ctx context.Context, gate, change string) (slo.Decision, bool) {
	b := g.budgets.Load()
	if b == nil {
		return slo.Decision{}, false
	}
	decision, ok := b.Decide(ctx, gate, change)
	if ok {
		g.metrics.GateAsked(gate, decision.Answer.String(), decision.Exception())
		g.logger.Info("gate asked", "gate", gate, "change", change, "decision", decision.Answer.String(), "because", string(decision.Because), "message", decision.Message)
	}
	return decision, ok
}

// run judges every gate for ordinary changes, until the context ends.
func (g *gatekeeper) run(ctx context.Context) {
	ticker := time.NewTicker(gateInterval)
	defer ticker.Stop()
	for {
		g.judge(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (g *gatekeeper) judge(ctx context.Context) {
	b := g.budgets.Load()
	if b == nil {
		return
	}
	for _, name := range b.Gates() {
		one, cancel := context.WithTimeout(ctx, gateTimeout)
		decision, ok := b.Decide(one, name, "")
		cancel()
		if ok {
			g.metrics.GateJudged(name, decision.Open())
		}
	}
}
