// Probing hands runs and discoveries to the prober of the last good configuration, and closes the ones before it.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
	"github.com/eks-slo/eks-slo-exporter/internal/scheduler"
)

// probing is the scheduler's Runner and Pacer: whatever the last good configuration made. A prober that was replaced ends with its last run, so that reloads leave no connections behind.
type probing struct {
	governor atomic.Pointer[scheduler.Governor]

	mu     sync.Mutex
	prober *Prober
	users  map[*Prober]int // runs and discoveries under way
	closed bool
}

// Run implements scheduler.Runner.
func (p *probing) Run(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	prober := p.take()
	defer p.giveBack(prober)
	return prober.Run(ctx, target, slot)
}

// discover asks a discovery once.
func (p *probing) discover(ctx context.Context, entry chain.Discovery) ([]chain.Target, error) {
	prober := p.take()
	defer p.giveBack(prober)
	return prober.Discover(ctx, entry)
}

// Next implements scheduler.Pacer.
func (p *probing) Next(target chain.Target, earliest time.Time) time.Time {
	return p.governor.Load().Next(target, earliest)
}

// stretch tells how far the governor stretches the intervals of each pool; before the first configuration there is none.
func (p *probing) stretch() (all []metrics.Stretch) {
	governor := p.governor.Load()
	if governor == nil {
		return nil
	}
	for _, pool := range governor.Pools() {
		all = append(all, metrics.Stretch{Account: pool.Account, Region: pool.Region, Service: "elasticloadbalancing", Factor: pool.Factor})
	}
	return all
}

// swap makes a prober the one that later runs use.
func (p *probing) swap(next *Prober) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.prober
	p.prober = next
	p.closeUnused(before)
	p.closeUnused(next)
}

// close ends the prober as soon as no run uses it.
func (p *probing) close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.closeUnused(p.prober)
	return nil
}

func (p *probing) take() *Prober {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == nil {
		p.users = map[*Prober]int{}
	}
	p.users[p.prober]++
	return p.prober
}

func (p *probing) giveBack(prober *Prober) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users[prober]--; p.users[prober] == 0 {
		delete(p.users, prober)
	}
	p.closeUnused(prober)
}

// closeUnused closes a prober that nobody uses and nobody will; the caller holds the lock.
func (p *probing) closeUnused(prober *Prober) {
	if prober != nil && p.users[prober] == 0 && (p.closed || prober != p.prober) {
		prober.Close()
	}
}
