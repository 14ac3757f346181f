// History is written as blocks before the engine opens, for a demonstration that begins with a month behind it.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

const (
	historyBlock  = 27 * tsdb.DefaultBlockDuration // 54h, the longest step of Prometheus' compactions that fits a tenth of 35 days
	historyCommit = 20_000                         // samples held by one appender
)

// Add takes one sample of the history. The samples of one series come in the order of time; series may follow one another or interleave.
type Add func(series labels.Labels, at time.Time, value float64) error

// WriteHistory writes what write adds, from (inclusive) to (exclusive), as blocks into dir, which no engine has open. Nothing of it is visible
// to an engine unless write succeeds for a block's whole time; a partial history is possible when the disk fills up meanwhile.
func WriteHistory(dir string, from, to time.Time, write func(add Add) error) (err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("writing history: %w", err)
	}
	h := &history{dir: dir, from: from.UnixMilli(), to: to.UnixMilli(), open: map[int64]*block{}}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := write(h.add); err != nil {
		return fmt.Errorf("writing history into %q: %w", dir, err)
	}
	if err := h.flush(); err != nil {
		return fmt.Errorf("writing history into %q: %w", dir, err)
	}
	return nil
}

type history struct {
	dir      string
	from, to int64
	open     map[int64]*block // by start
}

// block is one block in the making.
type block struct {
	writer  *tsdb.BlockWriter
	app     storage.Appender
	pending int
	added   uint64
	last    labels.Labels
	ref     storage.SeriesRef // of last
}

func (h *history) add(series labels.Labels, at time.Time, v float64) error {
	t := at.UnixMilli()
	if t < h.from || t >= h.to {
		return fmt.Errorf("adding a sample of %s at %s: want %s or later and before %s", series, at, time.UnixMilli(h.from), time.UnixMilli(h.to))
	}
	b, err := h.block(t - t%historyBlock)
	if err != nil {
		return err
	}
	if !labels.Equal(b.last, series) {
		b.last, b.ref = series, 0
	}
	if b.ref, err = b.app.Append(b.ref, series, t, v); err != nil {
		return fmt.Errorf("adding a sample of %s at %s: %w", series, at, err)
	}
	b.added++
	if b.pending++; b.pending < historyCommit {
		return nil
	}
	if err := b.app.Commit(); err != nil {
		return fmt.Errorf("committing %d samples: %w", b.pending, err)
	}
	b.app, b.pending = b.writer.Appender(context.Background()), 0
	return nil
}

// block gives the block of a start. A writer takes samples that are up to half its size older than the newest; with twice the size it takes
// all of the block's, as promtool does it.
func (h *history) block(start int64) (*block, error) {
	if b := h.open[start]; b != nil {
		return b, nil
	}
	w, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), h.dir, 2*historyBlock)
	if err != nil {
		return nil, fmt.Errorf("beginning the block of %s: %w", time.UnixMilli(start), err)
	}
	b := &block{writer: w, app: w.Appender(context.Background())}
	h.open[start] = b
	return b, nil
}

func (h *history) flush() error {
	for start, b := range h.open {
		if err := b.app.Commit(); err != nil {
			return fmt.Errorf("committing %d samples: %w", b.pending, err)
		}
		b.app = nil
		id, err := b.writer.Flush(context.Background())
		if err != nil {
			return fmt.Errorf("writing the block of %s: %w", time.UnixMilli(start), err)
		}
		if err := h.complete(filepath.Join(h.dir, id.String()), b.added); err != nil {
			return err
		}
	}
	return nil
}

// complete compares what a block holds with what was added: samples out of the order of time are dropped at the commit, without an error.
func (*history) complete(dir string, added uint64) error {
	written, err := tsdb.OpenBlock(slog.New(slog.DiscardHandler), dir, nil, nil)
	if err != nil {
		return fmt.Errorf("reading the block back: %w", err)
	}
	stored := written.Meta().Stats.NumSamples
	if err := written.Close(); err != nil {
		return fmt.Errorf("closing the block: %w", err)
	}
	if stored != added {
		return fmt.Errorf("block %q holds %d of %d samples: the others were not in the order of time", filepath.Base(dir), stored, added)
	}
	return nil
}

func (h *history) close() error {
	var errs []error
	for _, b := range h.open {
		if b.app != nil {
			errs = append(errs, b.app.Rollback())
		}
		errs = append(errs, b.writer.Close())
	}
	return errors.Join(errs...)
}
