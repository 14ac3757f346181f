// Appenders and queriers that keep the storage open while they are in use.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	prometheusmetadata "github.com/prometheus/prometheus/model/metadata"
	"github.com/prometheus/prometheus/storage"
)

type querier struct {
	storage.Querier
	release func()
}

// Close lets the storage go.
func (q *querier) Close() error {
	defer q.release()
	return q.Querier.Close()
}

type chunkQuerier struct {
	storage.ChunkQuerier
	release func()
}

// Close lets the storage go.
func (q *chunkQuerier) Close() error {
	defer q.release()
	return q.ChunkQuerier.Close()
}

type appender struct {
	storage.Appender

	store   *store
	release func()
}

// Commit stores the samples, unless a write has failed before.
func (a *appender) Commit() error {
	defer a.release()
	a.store.writing.Lock()
	defer a.store.writing.Unlock()
	if failed := a.store.failed.Load(); failed != nil {
		_ = a.Appender.Rollback() // it cannot write either
		return failed
	}
	if err := a.Appender.Commit(); err != nil {
		return a.store.fail(err)
	}
	return nil
}

// Rollback drops the samples.
func (a *appender) Rollback() error {
	defer a.release()
	return a.Appender.Rollback()
}

// refusing is the appender of a storage that is closed.
type refusing struct{ err error }

// SetOptions has nothing to set.
func (refusing) SetOptions(*storage.AppendOptions) {}

// Append refuses.
func (r refusing) Append(storage.SeriesRef, labels.Labels, int64, float64) (storage.SeriesRef, error) {
	return 0, r.err
}

// AppendExemplar refuses.
func (r refusing) AppendExemplar(storage.SeriesRef, labels.Labels, exemplar.Exemplar) (storage.SeriesRef, error) {
	return 0, r.err
}

// AppendHistogram refuses.
func (r refusing) AppendHistogram(storage.SeriesRef, labels.Labels, int64, *histogram.Histogram, *histogram.FloatHistogram) (storage.SeriesRef, error) {
	return 0, r.err
}

// AppendHistogramSTZeroSample refuses.
func (r refusing) AppendHistogramSTZeroSample(storage.SeriesRef, labels.Labels, int64, int64, *histogram.Histogram, *histogram.FloatHistogram) (storage.SeriesRef, error) {
	return 0, r.err
}

// AppendSTZeroSample refuses.
func (r refusing) AppendSTZeroSample(storage.SeriesRef, labels.Labels, int64, int64) (storage.SeriesRef, error) {
	return 0, r.err
}

// UpdateMetadata refuses.
func (r refusing) UpdateMetadata(storage.SeriesRef, labels.Labels, prometheusmetadata.Metadata) (storage.SeriesRef, error) {
	return 0, r.err
}

// Commit refuses.
func (r refusing) Commit() error { return r.err }

// Rollback has nothing to drop.
func (refusing) Rollback() error { return nil }
