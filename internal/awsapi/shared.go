// Shared work: who needs an answer that another is asking for waits for it, and what was answered serves for a while. No goroutine is started.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// underWay is work in progress, by key. Who came first does it, in its own time; the others share its end.
type underWay[V any] struct {
	what string // that is waited for, for the text of a wait that was too long

	mu    sync.Mutex
	works map[string]*sharedWork[V]
}

// sharedWork is one key's. What it holds may be read once done is closed.
type sharedWork[V any] struct {
	done     chan struct{}
	value    V
	err      error
	cutShort bool // the time of the run that did it was over, which says nothing to the others
}

// share does the work, or waits for the one who does. Errors are those of do, or say that the wait was longer than ctx.
func (u *underWay[V]) share(ctx context.Context, key string, do func(context.Context) (V, error)) (V, error) {
	for {
		work, first := u.join(key)
		if first {
			defer u.end(key, work)
			work.value, work.err = do(ctx)
			work.cutShort = work.err != nil && (ctx.Err() != nil || errors.Is(work.err, errNoTurn))
			return work.value, work.err
		}
		select {
		case <-work.done:
			if !work.cutShort {
				return work.value, work.err
			}
		case <-ctx.Done():
			var none V
			return none, fmt.Errorf("waiting for %s: %w", u.what, context.Cause(ctx))
		}
	}
}

// join returns the work under way, or begins one: then the caller is the first, does it and ends it.
func (u *underWay[V]) join(key string) (work *sharedWork[V], first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if found, ok := u.works[key]; ok {
		return found, false
	}
	if u.works == nil {
		u.works = map[string]*sharedWork[V]{}
	}
	u.works[key] = &sharedWork[V]{done: make(chan struct{}), cutShort: true}
	return u.works[key], true
}

func (u *underWay[V]) end(key string, work *sharedWork[V]) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.works, key)
	close(work.done)
}

// keptReads keep the answers to one kind of read, by key. Errors are not kept. What is kept is shared, and never changed.
type keptReads[V any] struct {
	now     func() time.Time
	keep    time.Duration // from the beginning of the read
	reading underWay[V]

	mu    sync.Mutex
	kept  map[string]keptRead[V]
	swept time.Time // when what was too old was last dropped
}

type keptRead[V any] struct {
	value V
	read  time.Time
}

func newKeptReads[V any](now func() time.Time, keep time.Duration) *keptReads[V] {
	return &keptReads[V]{now: now, keep: keep, reading: underWay[V]{what: "the same read of another run"}, kept: map[string]keptRead[V]{}}
}

// get returns the key's answer while it is kept; else one run reads it, and the others wait for that one.
func (k *keptReads[V]) get(ctx context.Context, key string, read func(context.Context) (V, error)) (V, error) {
	if value, ok := k.recent(key); ok {
		return value, nil
	}
	return k.reading.share(ctx, key, func(ctx context.Context) (V, error) {
		if value, ok := k.recent(key); ok { // by the one before
			return value, nil
		}
		began := k.now()
		value, err := read(ctx)
		if err == nil {
			k.put(key, value, began)
		}
		return value, err
	})
}

func (k *keptReads[V]) recent(key string) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.kept[key]
	return found.value, ok && k.now().Sub(found.read) < k.keep
}

func (k *keptReads[V]) put(key string, value V, read time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if read.Sub(k.swept) >= k.keep {
		k.swept = read
		for other, old := range k.kept {
			if read.Sub(old.read) >= k.keep {
				delete(k.kept, other)
			}
		}
	}
	k.kept[key] = keptRead[V]{value, read}
}

func (k *keptReads[V]) drop(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, key)
}
