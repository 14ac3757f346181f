// Shared reads: what the observer has just read answers every run that asks for the same, so that an incident of a thousand targets costs the reads of one.
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

// sharedTTL is how long a read of access entries answers for others. It is asked for after a refusal alone; an identity that is let in again never asks.
const sharedTTL = 15 * time.Second

// sharedLimit bounds what is kept; past it, what has expired is dropped.
const sharedLimit = 1000

// sharedReads keeps answers of one kind by key. Errors are not kept.
type sharedReads[K comparable, V any] struct {
	now func() time.Time

	mu      sync.Mutex
	answers map[K]*sharedAnswer[V]
}

// sharedAnswer is one key's. turn is held by the one run that reads.
type sharedAnswer[V any] struct {
	turn  chan struct{}
	value V
	read  time.Time // zero: never
}

func newSharedReads[K comparable, V any](now func() time.Time) *sharedReads[K, V] {
	return &sharedReads[K, V]{now: now, answers: map[K]*sharedAnswer[V]{}}
}

// get returns the key's answer when it is recent; else one run reads, and the others wait for it for as long as they have.
func (s *sharedReads[K, V]) get(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	answer, value, fresh := s.recent(key)
	if fresh {
		return value, nil
	}
	select {
	case answer.turn <- struct{}{}:
		defer func() { <-answer.turn }()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return value, ctx.Err()
		}
		return value, chain.Unsure(chain.ReasonObserverUnavailable, "the same read by another run took longer than this run had", nil, ctx.Err())
	}
	if _, value, fresh = s.recent(key); fresh {
		return value, nil
	}
	value, err := read(ctx)
	if err == nil {
		s.keep(answer, value)
	}
	return value, err
}

func (s *sharedReads[K, V]) recent(key K) (answer *sharedAnswer[V], value V, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	answer = s.answers[key]
	if answer == nil {
		s.sweep(now)
		answer = &sharedAnswer[V]{turn: make(chan struct{}, 1)}
		s.answers[key] = answer
	}
	return answer, answer.value, !answer.read.IsZero() && now.Sub(answer.read) < sharedTTL
}

func (s *sharedReads[K, V]) keep(answer *sharedAnswer[V], value V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer.value, answer.read = value, s.now()
}

// sweep drops what has expired and nobody reads.
func (s *sharedReads[K, V]) sweep(now time.Time) {
	if len(s.answers) < sharedLimit {
		return
	}
	for key, answer := range s.answers {
		if len(answer.turn) == 0 && now.Sub(answer.read) >= sharedTTL {
			delete(s.answers, key)
		}
	}
}

// entryKey is one principal on one cluster.
type entryKey struct {
	cluster chain.ClusterKey
	arn     string
}

// foundEntry is DescribeAccessEntry's answer.
type foundEntry struct {
	entry chain.AccessEntry
	found bool
}

// sharedEntries are the observer's reads of access entries, shared.
type sharedEntries struct {
	observer Observer
	lists    *sharedReads[chain.ClusterKey, []string]
	entries  *sharedReads[entryKey, foundEntry]
}

func newSharedEntries(observer Observer, now func() time.Time) *sharedEntries {
	return &sharedEntries{observer: observer, lists: newSharedReads[chain.ClusterKey, []string](now), entries: newSharedReads[entryKey, foundEntry](now)}
}

// find looks for the entry of a principal: through the list first, which answers for every target of the cluster, and which knows the path that STS does not show.
// An observer that may not list can still find the very ARN that is wanted.
func (s *sharedEntries) find(ctx context.Context, target chain.Target, wanted, caller string) (chain.AccessEntry, bool, error) {
	all, unlisted := s.lists.get(ctx, target.Cluster.Key(), func(ctx context.Context) ([]string, error) { return s.observer.AccessEntries(ctx, target) })
	arn := matching(all, wanted, caller)
	if unlisted != nil {
		arn = wanted
	}
	if arn == "" {
		return chain.AccessEntry{}, false, nil
	}
	answer, err := s.entries.get(ctx, entryKey{target.Cluster.Key(), arn}, func(ctx context.Context) (foundEntry, error) {
		entry, found, err := s.observer.AccessEntry(ctx, target, arn)
		return foundEntry{entry, found}, err
	})
	switch {
	case err == nil && answer.found:
		return answer.entry, true, nil
	case unlisted != nil:
		return chain.AccessEntry{}, false, unlisted
	}
	return chain.AccessEntry{PrincipalARN: arn}, true, nil // it is on the list; what it gives is not known
}

// matching returns the wanted ARN when it is on the list, else one that is the caller's but for its path, else "".
func matching(all []string, wanted, caller string) string {
	other := ""
	for _, arn := range all {
		switch {
		case arn == wanted:
			return arn
		case other == "" && chain.SamePrincipal(arn, caller):
			other = arn
		}
	}
	return other
}
