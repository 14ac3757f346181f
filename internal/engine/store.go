// The storage as the engine's other parts see it: Prometheus' own, that can be closed under queries and is mended after a write that failed.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/fileutil"
	"github.com/prometheus/prometheus/util/compression"
)

const (
	room    = 16 << 20                   // bytes: the head's write buffer of 4 MiB, and what is written until the next look
	never   = 100 * 365 * 24 * time.Hour // of what Prometheus would do by itself
	mapping = time.Minute                // between two moves of full chunks out of memory, as Prometheus does it
	look    = 10 * time.Millisecond
)

// store is the storage. A write that fails half-way can leave a torn record in the write-ahead log, and a replay ends at the first of these (wlog.go of Prometheus says so of itself): what came after it
// would be lost at the next start. And Prometheus panics when it finds no room for the chunks that it moves out of memory. So the store looks for room before these are moved, writes nothing more once
// a write has failed, and when there is room again it opens the storage anew, which cuts the log off before the torn record.
type store struct {
	options    Options
	prometheus *slog.Logger // for what Prometheus itself says
	registerer *few
	mapped     time.Time

	using   sync.RWMutex // held for reading by every appender and querier in use
	db      *tsdb.DB     // nil while closed
	writing sync.Mutex   // nothing is written after a write that failed
	failed  atomic.Pointer[StorageError]
}

func openStore(o Options, prom *slog.Logger) (*store, error) {
	s := &store{options: o, prometheus: prom, mapped: time.Now()}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// open replays the write-ahead log. A corrupt record ends the replay there: Prometheus cuts the log off before it, logs that, and counts it.
func (s *store) open() error {
	dir := s.options.Dir
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return newStorageError(dir, err)
	}
	if err := findRoom(dir); err != nil {
		return newStorageError(dir, err)
	}
	options := tsdb.DefaultOptions()
	options.RetentionDuration = s.options.Retention.Milliseconds()
	options.MaxBlockDuration = max(options.MinBlockDuration, (s.options.Retention / 10).Milliseconds()) // as cmd/prometheus does
	options.WALCompression = compression.Snappy
	options.BlockReloadInterval = never // nobody else writes blocks; and this is also when chunks would be moved
	s.registerer = &few{next: s.options.Registerer}
	db, err := tsdb.Open(dir, s.prometheus, s.registerer, options, nil)
	if err != nil {
		s.registerer.unregister()
		return newStorageError(dir, err)
	}
	if err := sign(dir); err != nil {
		s.registerer.unregister()
		return newStorageError(dir, errors.Join(err, db.Close()))
	}
	s.db = db
	return nil
}

// findRoom asks the file system for room, and gives it back.
func findRoom(dir string) (err error) {
	f, err := os.CreateTemp(dir, "room.*.tmp")
	if err != nil {
		return fmt.Errorf("looking for room: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := fileutil.Preallocate(f, room, true); err != nil {
		return fmt.Errorf("looking for room of %d MiB: %w", room>>20, err)
	}
	return nil
}

// upkeep is called between collections. It moves full chunks out of memory, and mends the storage when a write has failed; the storage then knows no more the references that it gave before.
func (s *store) upkeep() (anew bool) {
	if s.failed.Load() != nil {
		return s.mend()
	}
	if now := time.Now(); now.Sub(s.mapped) >= mapping {
		s.mapped = now
		if err := findRoom(s.options.Dir); err != nil {
			_ = s.fail(err) // it is told there
			return false
		}
		s.using.RLock()
		defer s.using.RUnlock()
		s.db.ForceHeadMMap()
	}
	return false
}

// mend opens the storage anew once there is room. A query under way puts it off.
func (s *store) mend() bool {
	if findRoom(s.options.Dir) != nil || !s.using.TryLock() {
		return false
	}
	defer s.using.Unlock()
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			s.options.Logger.Debug("closing the storage after a failed write", "err", err)
		}
		s.db = nil
		s.registerer.unregister()
	}
	if err := s.open(); err != nil {
		s.options.Logger.Debug("opening the storage after a failed write", "err", err)
		return false
	}
	s.failed.Store(nil)
	s.options.Logger.Info("Samples are stored again", "dir", s.options.Dir)
	return true
}

// fail notes and tells the first failure.
func (s *store) fail(err error) error {
	failed := newStorageError(s.options.Dir, err)
	if s.failed.CompareAndSwap(nil, failed) {
		s.options.Logger.Error("Samples are not stored until there is room again: probes and metrics go on, rules, budgets and gates see no new data", "err", failed, "hint", failed.Hint)
	}
	return failed
}

// Querier reads samples; tsdb.ErrNotReady while the storage is closed.
func (s *store) Querier(mint, maxt int64) (storage.Querier, error) {
	db, release, err := s.use()
	if err != nil {
		return nil, err
	}
	q, err := db.Querier(mint, maxt)
	if err != nil {
		release()
		return nil, err //nolint:wrapcheck // the API maps Prometheus' own errors
	}
	return &querier{q, release}, nil
}

// ChunkQuerier reads chunks; tsdb.ErrNotReady while the storage is closed.
func (s *store) ChunkQuerier(mint, maxt int64) (storage.ChunkQuerier, error) {
	db, release, err := s.use()
	if err != nil {
		return nil, err
	}
	q, err := db.ChunkQuerier(mint, maxt)
	if err != nil {
		release()
		return nil, err //nolint:wrapcheck // the API maps Prometheus' own errors
	}
	return &chunkQuerier{q, release}, nil
}

// ExemplarQuerier finds none: none are kept.
func (*store) ExemplarQuerier(context.Context) (storage.ExemplarQuerier, error) {
	return nil, errors.New("exemplars are not stored")
}

// Appender writes samples. It must be ended by Commit or Rollback.
func (s *store) Appender(ctx context.Context) storage.Appender {
	db, release, err := s.use()
	if err != nil {
		return refusing{err}
	}
	return &appender{db.Appender(ctx), s, release}
}

// use keeps the storage open until the release, which may be called more than once.
func (s *store) use() (db *tsdb.DB, release func(), err error) {
	s.using.RLock()
	if s.db == nil {
		s.using.RUnlock()
		return nil, nil, tsdb.ErrNotReady
	}
	return s.db, sync.OnceFunc(s.using.RUnlock), nil
}

// Close ends the storage when no query uses it any more, at the latest when ctx ends: then it stays as a kill would leave it, which loses nothing that was committed.
func (s *store) Close(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !s.using.TryLock() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the queries under way: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
	defer s.using.Unlock()
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	s.registerer.unregister()
	return db.Close()
}
