// Once: every target is probed a single time, now, for people who wait; target groups as fast as their API budget lets them.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// atOnce is how many targets are probed side by side.
const atOnce = 16

// RunAll runs each target once, and returns the runs in the order of the targets. The only error is the context's own cancellation.
func (p *Prober) RunAll(ctx context.Context, targets []chain.Target) ([]chain.Run, error) {
	runs := make([]chain.Run, len(targets))
	all, pools := make(lane, atOnce), p.newPools(targets)
	var group errgroup.Group
	for i, target := range targets {
		group.Go(func() (err error) {
			if pool := pools[poolOf(target)]; target.Kind == chain.KindALB {
				if err := pool.enter(ctx); err != nil {
					return err
				}
				defer pool.leave()
			}
			if err := all.enter(ctx); err != nil {
				return err
			}
			defer all.leave()
			runs[i], err = p.Run(ctx, target, time.Now())
			return err
		})
	}
	return runs, group.Wait()
}

// lane lets as many in as it has places.
type lane chan struct{}

func (l lane) enter(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l lane) leave() { <-l }

// groupPool paces the runs of the target groups that share an API budget: a run begins when the budget has a read for it, and no more are under way than wait two seconds for a read each. Without
// it the runs of twenty groups would take each other's time, and all end as elb_api_throttled.
type groupPool struct {
	lane
	turns *rate.Limiter
}

// poolShare is the part of the budget that paces runs, the rest is for what they share: the list of groups and load balancers (see scheduler.DefaultGovernorOptions).
const poolShare = 0.95

func (p *Prober) newPools(targets []chain.Target) map[string]groupPool {
	pools := map[string]groupPool{}
	for _, target := range targets {
		if _, known := pools[poolOf(target)]; !known && target.Kind == chain.KindALB {
			pools[poolOf(target)] = groupPool{make(lane, min(max(1, int(2*p.elbReads)), atOnce)), rate.NewLimiter(rate.Limit(poolShare*p.elbReads), 1)}
		}
	}
	return pools
}

func poolOf(target chain.Target) string { return target.Group.Pool() + " " + target.Group.Region }

func (g groupPool) enter(ctx context.Context) error {
	if err := g.lane.enter(ctx); err != nil {
		return err
	}
	if err := g.turns.Wait(ctx); err != nil {
		g.leave()
		return err
	}
	return nil
}
