// The governor is the pacer that keeps reads of the ELB API within their budget: groups in trouble are read at their interval, stable ones as often as what is left allows.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// MaxAge is what a pool's full pass should not take longer than: beyond it, its values are older than whoever looks at them believes.
const MaxAge = 3 * time.Minute

// GovernorOptions configure a Governor.
type GovernorOptions struct {
	// ReadsPerSecond is the budget of ELB reads in one account and region.
	ReadsPerSecond float64
	// Reserve is the share of the budget, from 0 to below 1, that runs leave to discovery and to the inventory of groups and load balancers.
	Reserve float64
	Now     func() time.Time
}

// DefaultGovernorOptions returns the default budget: 2 reads a second, which is a fifth of what AWS refills (Elastic Load Balancing, "API throttling": a bucket of 40, 10 a second), and of them
// 5 % in reserve, 6 reads a minute.
func DefaultGovernorOptions() GovernorOptions {
	return GovernorOptions{ReadsPerSecond: 2, Reserve: 0.05, Now: time.Now}
}

func (o GovernorOptions) validate() error {
	switch {
	case !(o.ReadsPerSecond > 0):
		return fmt.Errorf("scheduler: GovernorOptions.ReadsPerSecond is %g, must be above 0", o.ReadsPerSecond)
	case !(o.Reserve >= 0 && o.Reserve < 1):
		return fmt.Errorf("scheduler: GovernorOptions.Reserve is %g, must be from 0 to below 1", o.Reserve)
	case o.Now == nil:
		return errors.New("scheduler: GovernorOptions.Now is not set")
	}
	return nil
}

// Governor is a Pacer that shares the budget of each pool, an account in a region, among its alb targets. One run costs one read (DescribeTargetHealth); what else is read is shared, and paid from
// the reserve. All of its methods are safe for concurrent use.
//
// A target in trouble is hot, any other is stable. Hot ones keep their own interval while that takes no more than half of the pool's budget, or than the stable ones leave; beyond that they take
// turns. Stable ones take turns for the rest, oldest first, and keep their own interval while there is enough. Where hot ones ask for most of too much, all take turns alike. So the reads keep to the
// budget in every moment, and no stable target waits longer than it takes to read each of the others once.
//
// Nothing survives a restart: every target is stable at first, and the first pass goes through the targets by name.
type Governor struct {
	options GovernorOptions

	mu      sync.Mutex
	pools   map[poolKey]*pool
	members map[string]*member // by target name
}

// NewGovernor returns a governor without targets, which paces none.
func NewGovernor(options GovernorOptions) (*Governor, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	return &Governor{options: options, pools: map[poolKey]*pool{}, members: map[string]*member{}}, nil
}

// Set makes the alb targets among targets the ones that share the budget. Targets that stay keep their place, also when they change; new ones come after those that wait. Call it before Scheduler.Set,
// with the same targets: one that is not set is not paced.
func (g *Governor) Set(targets []chain.Target) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.options.Now()
	wanted := make(map[string]bool, len(targets))
	for _, target := range targets {
		if target.Kind == chain.KindALB {
			wanted[target.Name] = true
			g.put(target, now)
		}
	}
	for name, m := range g.members {
		if !wanted[name] {
			m.pool.remove(m)
			delete(g.members, name)
		}
	}
	for key, p := range g.pools {
		if len(p.members) == 0 {
			delete(g.pools, key)
			continue
		}
		p.share(now)
	}
}

// put takes a new or changed target in; the caller holds the lock.
func (g *Governor) put(target chain.Target, now time.Time) {
	key := poolOf(target)
	p := g.pools[key]
	if p == nil {
		p = newPool(g.options.ReadsPerSecond*(1-g.options.Reserve), now)
		g.pools[key] = p
	}
	m := g.members[target.Name]
	if m == nil {
		m = &member{name: target.Name, left: target.Interval.Seconds()}
		g.members[target.Name] = m
	}
	m.interval, m.window = target.Interval, window(target.Interval, target.Timeout)
	if m.pool != p {
		p.adopt(m, now)
	}
}

// Observe learns from a run whether its target is in trouble. Runs of other targets than those that are set are ignored.
func (g *Governor) Observe(run chain.Run) {
	hot, told := trouble(run)
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.members[run.Target.Name]
	if m == nil || !told || m.hot == hot {
		return
	}
	m.hot = hot
	m.pool.share(g.options.Now())
}

// trouble reports whether a run shows a group in trouble: it failed, its targets are not all healthy, or nobody could tell. It is not told by runs that were throttled, of which more would only
// be throttled again, nor by slots in which nobody read: the prober's own haste or standstill is no trouble of the group.
func trouble(run chain.Run) (hot, told bool) {
	switch {
	case run.Verdict.Outcome == chain.OutcomeFailure || run.Reading != nil && !run.Reading.Settled():
		return true, true
	case run.Verdict.Outcome != chain.OutcomeUnknown:
		return false, true
	}
	switch run.Verdict.Reason {
	case chain.ReasonELBAPIThrottled, chain.ReasonEKSAPIThrottled, chain.ReasonSTSThrottled, chain.ReasonEKSAuthThrottled, chain.ReasonMissedSlot, chain.ReasonOverrun:
		return false, false
	}
	return true, true
}

// Next implements Pacer. A target that is not set is not paced.
func (g *Governor) Next(target chain.Target, earliest time.Time) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.members[target.Name]
	if m == nil {
		return earliest
	}
	return m.pool.next(m, earliest, g.options.Now())
}

// PoolState is how a pool shares its budget now.
type PoolState struct {
	Account string // "observer NAME" of groups whose account is not known, since only their name is
	Region  string
	Targets int
	Hot     int // of the targets, those in trouble
	// Factor and HotFactor are what the own interval of stable and of hot targets is multiplied by; at least 1.
	Factor, HotFactor float64
	// Pass is how long it takes until every target of the pool was read once more; above MaxAge the budget is too small for what the pool asks now.
	Pass time.Duration
}

// Pools returns every pool, by account and region.
func (g *Governor) Pools() []PoolState {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]PoolState, 0, len(g.pools))
	for key, p := range g.pools {
		s := PoolState{Account: key.account, Region: key.region, Targets: len(p.members), Factor: p.stable.stretch, HotFactor: p.hot.stretch}
		if p.alike {
			s.HotFactor = s.Factor
		}
		for m := range p.members {
			if m.hot {
				s.Hot++
			}
			s.Pass = max(s.Pass, p.lane(m).stretched(m.interval))
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b PoolState) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Region, b.Region))
	})
	return list
}
