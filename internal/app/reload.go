// A reload does all that can fail first, then swaps once; when anything fails, the last good configuration goes on.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
)

// plan is a configuration whose fallible work is done.
type plan struct {
	targets []chain.Target
	prober  *probes.Prober
	reads   float64 // the budget of EKS reads that the prober keeps
}

// prepare reads the configuration and makes its prober.
func (a *App) prepare(ctx context.Context) (plan, error) {
	cfg, err := config.Load(a.options.ConfigFile)
	if err != nil {
		return plan{}, err
	}
	if current := a.runner.prober.Load(); current != nil && a.reads == cfg.AWSAPIBudget.EKSReadsPerSecond {
		return plan{cfg.Access, current, a.reads}, nil // what is known of clusters, and what is left of the budget, outlive a reload
	}
	prober, err := NewProber(ctx, ProberOptions{Resolver: a.options.Resolver, EKSReadsPerSecond: cfg.AWSAPIBudget.EKSReadsPerSecond, Watch: a.metrics})
	if err != nil {
		return plan{}, fmt.Errorf("preparing %s: %w", a.options.ConfigFile, err)
	}
	return plan{cfg.Access, prober, cfg.AWSAPIBudget.EKSReadsPerSecond}, nil
}

// apply swaps the plan in: removed targets end, their series and results vanish, the new ones exist at 0, and only then begin.
func (a *App) apply(p plan) {
	a.runner.prober.Store(p.prober)
	a.scheduler.Set(stay(a.current, p.targets))
	a.recorder.retain(p.targets)
	a.scheduler.Set(p.targets)
	a.current, a.reads = p.targets, p.reads
	a.metrics.ReloadSucceeded(time.Now())
}

// stay returns the targets of before whose names are wanted further on.
func stay(before, after []chain.Target) []chain.Target {
	names := map[string]bool{}
	for _, t := range after {
		names[t.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(before), func(t chain.Target) bool { return !names[t.Name] })
}

// Reload reads the configuration again. On an error nothing has changed, and the gauge of the last reload is 0.
func (a *App) Reload() error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	p, err := a.prepare(context.Background())
	if err != nil {
		a.metrics.ReloadFailed()
		a.options.Logger.Error("configuration not reloaded, the last good one stays", "file", a.options.ConfigFile, "error", err)
		return err
	}
	a.apply(p)
	a.options.Logger.Info("configuration reloaded", "file", a.options.ConfigFile, "targets", len(p.targets))
	return nil
}

// runner is the scheduler's Runner: whatever prober the last good configuration made.
type runner struct{ prober atomic.Pointer[probes.Prober] }

// Run implements scheduler.Runner.
func (r *runner) Run(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	return r.prober.Load().Run(ctx, target, slot)
}
