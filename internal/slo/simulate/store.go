// The store: the samples of a simulated world, and those that rules record, held by series for the PromQL engine to read.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// column is one series: its samples in the order of time.
type column struct {
	labels labels.Labels
	points []promql.FPoint
	order  int // the place of the rule that records it, from 1; or one of the two below
}

// The order of series that no evaluation by spans has recorded.
const (
	scrapedSeries      = 0
	recordedByInstants = -1
)

// store holds columns by metric name and by labels. Readers and one writer of each column may work at the same time.
type store struct {
	mu     sync.RWMutex
	byName map[string][]*column
	byKey  map[string]*column
}

func newStore() *store {
	return &store{byName: map[string][]*column{}, byKey: map[string]*column{}}
}

// column returns the series with these labels, and makes it when it is new.
func (s *store) column(lset labels.Labels, order int) *column {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(lset.Bytes(nil))
	c, ok := s.byKey[key]
	if !ok {
		c = &column{labels: lset, order: order}
		s.byKey[key] = c
		name := lset.Get(model.MetricNameLabel)
		s.byName[name] = append(s.byName[name], c)
	}
	return c
}

// add puts samples at the end of a series. Those that are not later than its last one are dropped, and reported as Prometheus reports them.
func (s *store) add(c *column, points ...promql.FPoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if n := len(c.points); n > 0 && len(points) > 0 && points[0].T <= c.points[n-1].T {
		err = storage.ErrDuplicateSampleForTimestamp
		points = points[search(points, c.points[n-1].T+1):]
	}
	if len(c.points) == 0 {
		c.points = points
		return err
	}
	c.points = append(c.points, points...)
	return err
}

// stale is the mark of Prometheus that a series has ended.
func stale(at int64) promql.FPoint {
	return promql.FPoint{T: at, F: math.Float64frombits(value.StaleNaN)}
}

// all returns every series of which something was written, sorted by labels.
func (s *store) all() []column {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var columns []column
	for _, c := range s.byKey {
		columns = append(columns, *c)
	}
	slices.SortFunc(columns, func(a, b column) int { return labels.Compare(a.labels, b.labels) })
	return columns
}

// selected returns copies of the series that match, cut to a span of time, in the order of their labels.
func (s *store) selected(from, to int64, matchers []*labels.Matcher) []column {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []column
	look := func(columns []*column) {
		for _, c := range columns {
			if matches(c.labels, matchers) {
				found = append(found, column{c.labels, within(c.points, from, to), c.order})
			}
		}
	}
	if name := exactName(matchers); name != "" {
		look(s.byName[name])
	} else {
		for _, columns := range s.byName {
			look(columns)
		}
	}
	slices.SortFunc(found, func(a, b column) int { return labels.Compare(a.labels, b.labels) })
	return found
}

func exactName(matchers []*labels.Matcher) string {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

func matches(lset labels.Labels, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(lset.Get(m.Name)) })
}

// within cuts samples to from ≤ T ≤ to.
func within(points []promql.FPoint, from, to int64) []promql.FPoint {
	return points[search(points, from):search(points, to+1)]
}

// search is the first sample that is not before t.
func search(points []promql.FPoint, t int64) int {
	i, _ := slices.BinarySearchFunc(points, t, func(p promql.FPoint, t int64) int {
		switch {
		case p.T < t:
			return -1
		case p.T > t:
			return 1
		}
		return 0
	})
	return i
}

// view is the store as the rule in a place sees it at an instant: what that rule and later ones record is not there yet. The zero order sees everything.
type view struct {
	*store
	order int
	at    int64
}

// Querier implements storage.Queryable.
func (v view) Querier(from, to int64) (storage.Querier, error) {
	return &querier{view: v, from: from, to: to}, nil
}

// Querier implements storage.Queryable.
func (s *store) Querier(from, to int64) (storage.Querier, error) {
	return view{store: s}.Querier(from, to)
}

type querier struct {
	storage.LabelQuerier
	view
	from, to int64
}

// Select implements storage.Querier.
func (q *querier) Select(_ context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	from, to := q.from, q.to
	if hints != nil {
		from, to = max(from, hints.Start), min(to, hints.End)
	}
	set := &seriesSet{at: -1}
	for _, c := range q.selected(from, to, matchers) {
		if q.order > 0 && c.order >= q.order {
			c.points = within(c.points, from, q.at-1)
		}
		if len(c.points) > 0 {
			set.columns = append(set.columns, c)
		}
	}
	return set
}

// Close implements storage.Querier.
func (q *querier) Close() error { return nil }

type seriesSet struct {
	columns []column
	at      int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.columns) }
func (s *seriesSet) At() storage.Series                { return &s.columns[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// Appender implements storage.Appendable.
func (s *store) Appender(context.Context) storage.Appender { return appender{store: s} }

// appender writes what rule groups record. It takes floats: a recording rule of native histograms is an error.
type appender struct {
	storage.Appender
	store *store
}

var errNoHistograms = errors.New("recording a native histogram: the simulation holds numbers only")

// Append implements storage.Appender.
func (a appender) Append(_ storage.SeriesRef, lset labels.Labels, t int64, v float64) (storage.SeriesRef, error) {
	return 0, a.store.add(a.store.column(lset, recordedByInstants), promql.FPoint{T: t, F: v})
}

// AppendHistogram implements storage.HistogramAppender.
func (a appender) AppendHistogram(storage.SeriesRef, labels.Labels, int64, *histogram.Histogram, *histogram.FloatHistogram) (storage.SeriesRef, error) {
	return 0, errNoHistograms
}

func (a appender) SetOptions(*storage.AppendOptions) {}
func (a appender) Commit() error                     { return nil }
func (a appender) Rollback() error                   { return nil }
