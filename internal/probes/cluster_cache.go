// The cluster cache keeps DescribeCluster's answers, so that a healthy run reads no EKS API and a throttled read does not stop the probe.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// refusalTTL is how long a failed read answers for others that wait for it, so that a thousand targets do not each repeat it.
const refusalTTL = 5 * time.Second

type clusterCache struct {
	observer Observer
	ttl      time.Duration
	now      func() time.Time

	mu      sync.Mutex
	entries map[chain.ClusterKey]*clusterEntry
}

// clusterEntry is one cluster. turn is held by the one run that reads it; the rest wait for their turn and find the answer.
type clusterEntry struct {
	turn chan struct{}

	mu    sync.Mutex
	known clusterKnown
}

// clusterKnown is what is known of a cluster, and how the last read went.
type clusterKnown struct {
	info  chain.ClusterInfo
	err   error
	tried time.Time
}

func (e *clusterEntry) get() clusterKnown {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known
}

func (e *clusterEntry) set(known clusterKnown) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = known
}

func newClusterCache(observer Observer, ttl time.Duration, now func() time.Time) *clusterCache {
	return &clusterCache{observer: observer, ttl: ttl, now: now, entries: map[chain.ClusterKey]*clusterEntry{}}
}

// get returns the cluster, read at most once per ttl. With an error it may still return what was known before.
func (c *clusterCache) get(ctx context.Context, target chain.Target) (chain.ClusterInfo, error) {
	return c.lookup(ctx, target, c.ttl)
}

// refresh reads the cluster again, unless another run just has.
func (c *clusterCache) refresh(ctx context.Context, target chain.Target) (chain.ClusterInfo, error) {
	return c.lookup(ctx, target, refusalTTL)
}

func (c *clusterCache) lookup(ctx context.Context, target chain.Target, maxAge time.Duration) (chain.ClusterInfo, error) {
	entry := c.entry(target)
	if known := entry.get(); c.answers(known, maxAge) { // no turn is needed to read what is fresh: whoever holds it may wait for long
		return known.info, known.err
	}
	select {
	case entry.turn <- struct{}{}:
		defer func() { <-entry.turn }()
	case <-ctx.Done():
		return entry.get().info, waitError(ctx, target)
	}
	now, known := c.now(), entry.get()
	if c.answers(known, maxAge) {
		return known.info, known.err
	}
	info, err := c.observer.Cluster(ctx, target)
	if ctx.Err() != nil && err != nil {
		return known.info, err // this run's own end says nothing to the others
	}
	known.tried, known.err = now, err
	var e *chain.Error
	switch {
	case err == nil:
		info.Read = now
		known.info = info
	case errors.As(err, &e) && e.Outcome == chain.OutcomeFailure:
		known.info = chain.ClusterInfo{} // EKS says that it is gone
	}
	entry.set(known)
	return known.info, err
}

// answers reports whether what is known is recent enough: a refusal for a few seconds, a cluster for maxAge.
func (c *clusterCache) answers(known clusterKnown, maxAge time.Duration) bool {
	if known.err != nil {
		return c.now().Sub(known.tried) < refusalTTL
	}
	return known.info.Status != "" && c.now().Sub(known.info.Read) < maxAge
}

func (c *clusterCache) entry(target chain.Target) *clusterEntry {
	key := target.Cluster.Key()
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[key]
	if !ok {
		entry = &clusterEntry{turn: make(chan struct{}, 1)}
		c.entries[key] = entry
	}
	return entry
}

func waitError(ctx context.Context, target chain.Target) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return chain.Unsure(chain.ReasonObserverUnavailable, "another run's DescribeCluster for "+target.Cluster.EKSName+" took longer than this run had", nil, ctx.Err())
}
