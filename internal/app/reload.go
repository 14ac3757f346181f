// A reload does all that can fail first, then swaps once; when anything fails, the last good configuration goes on.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/scheduler"
)

// plan is a configuration whose fallible work is done.
type plan struct {
	targets     []chain.Target // the configured ones
	discoveries []chain.Discovery
	budget      config.AWSAPIBudget
	query       config.Query
	budgets     *Budgets
	prober      *Prober
	governor    *scheduler.Governor
}

// prepare reads the configuration and makes what probes by it.
func (a *App) prepare(ctx context.Context) (plan, error) {
	cfg, err := config.Load(a.options.ConfigFile)
	if err != nil {
		return plan{}, err
	}
	p := plan{targets: slices.Concat(cfg.Access, cfg.Groups), discoveries: cfg.Discoveries, budget: cfg.AWSAPIBudget, query: cfg.Query, prober: a.plan.prober, governor: a.plan.governor}
	if p.budgets, err = NewBudgets(cfg.Query, cfg.Gates, a.embedded); err != nil {
		return plan{}, fmt.Errorf("preparing %s: %w", a.options.ConfigFile, err)
	}
	if p.prober != nil && p.budget == a.plan.budget {
		return p, nil // what is known of clusters and groups, and what is left of the budget, outlive a reload
	}
	governing := scheduler.DefaultGovernorOptions()
	governing.ReadsPerSecond = p.budget.ELBReadsPerSecond
	if p.governor, err = scheduler.NewGovernor(governing); err != nil {
		return plan{}, fmt.Errorf("preparing %s: %w", a.options.ConfigFile, err)
	}
	p.prober, err = NewProber(ctx, ProberOptions{
		Resolver: a.options.Resolver, EKSReadsPerSecond: p.budget.EKSReadsPerSecond, ELBReadsPerSecond: p.budget.ELBReadsPerSecond, Watch: a.metrics,
	})
	if err != nil {
		return plan{}, fmt.Errorf("preparing %s: %w", a.options.ConfigFile, err)
	}
	return p, nil
}

// apply swaps the plan in; what its discoveries found before goes on being probed.
func (a *App) apply(p plan) {
	a.plan = p
	a.probing.swap(p.prober)
	a.probing.governor.Store(p.governor)
	a.discovery.set(p.discoveries)
	a.gates.set(p.budgets)
	a.retarget()
	a.metrics.ReloadSucceeded(time.Now())
}

// retarget makes the configured and the found targets the ones that are probed: removed ones end, their series and results vanish, the new ones exist at 0, and only then begin.
// The caller holds reloading.
func (a *App) retarget() {
	targets := slices.Concat(a.plan.targets, a.discovery.targets(a.plan.targets))
	a.plan.governor.Set(targets)
	a.scheduler.Set(stay(a.current, targets))
	a.recorder.retain(targets)
	a.scheduler.Set(targets)
	a.current = targets
	a.warnOfLongPass()
}

// rediscovered takes in what discovery has found.
func (a *App) rediscovered() {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.retarget()
}

// warnOfLongPass tells when a budget is too small for its groups; that a group is read again at once when it turns bad stays true.
func (a *App) warnOfLongPass() {
	for _, p := range a.plan.governor.Pools() {
		if p.Pass > scheduler.MaxAge {
			a.options.Logger.Warn("the ELB budget reads each target group less often than every three minutes: raise aws_api_budget.elb_reads_per_second, or probe fewer groups",
				"account", p.Account, "region", p.Region, "target_groups", p.Targets, "every", p.Pass.Round(time.Second), "reads_per_second", a.plan.budget.ELBReadsPerSecond)
		}
	}
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
	if err == nil {
		if err = a.reloadEngine(p.query.Embedded); err != nil && p.prober != a.plan.prober {
			p.prober.Close()
		}
	}
	if err != nil {
		a.metrics.ReloadFailed()
		a.options.Logger.Error("configuration not reloaded, the last good one stays", "file", a.options.ConfigFile, "error", err)
		return err
	}
	a.apply(p)
	a.discovery.wake()
	a.options.Logger.Info("configuration reloaded", "file", a.options.ConfigFile, "targets", len(a.current))
	return nil
}
