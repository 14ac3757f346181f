// A recorded range of a Prometheus as the world of a scenario: what really happened, against rules that did not exist then.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// Source answers PromQL queries at an instant; v1.NewAPI of client_golang makes one. Calls may be made one after the other only.
type Source interface {
	Query(ctx context.Context, query string, at time.Time, options ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error)
}

// Range says which samples are fetched.
type Range struct {
	From, To time.Time
	Matchers string        // of labels besides the name, as in cluster="payments"; may be empty
	Piece    time.Duration // of the range in one query; 0: 6 hours
}

// Recording holds samples as they were scraped. Prometheus does not tell that a series ended: it goes on for the 5 minutes that queries look back, as after a loss of the target that nobody marked.
type Recording struct {
	columns []recordedColumn
}

type recordedColumn struct {
	labels labels.Labels
	points []promql.FPoint
}

// Fetch reads the samples that rules need from a Prometheus, and returns them as a scenario. It asks for range selectors, which give the samples themselves and not, as range queries do, what they were at the steps.
func Fetch(ctx context.Context, source Source, rules Rules, r Range) (*Scenario, error) {
	if !r.To.After(r.From) {
		return nil, fmt.Errorf("fetching samples from %s to %s: that is no range", r.From.Format(time.RFC3339), r.To.Format(time.RFC3339))
	}
	recording := &Recording{}
	names := rules.raw()
	mentioned := rules.mentioned()
	for _, f := range productFamilies {
		if mentioned[f.name] {
			names = append(names, f.name)
		}
	}
	for _, name := range names {
		if err := recording.fetch(ctx, source, name, r); err != nil {
			return nil, err
		}
	}
	if len(recording.columns) == 0 {
		return nil, fmt.Errorf("fetching samples from %s to %s: there are none of what the rules read", r.From.Format(time.RFC3339), r.To.Format(time.RFC3339))
	}
	return &Scenario{Name: "recorded", Start: r.From.UTC(), Duration: r.To.Sub(r.From), Recording: recording}, nil
}

func (r *Recording) fetch(ctx context.Context, source Source, name string, all Range) error {
	piece := all.Piece
	if piece == 0 {
		piece = 6 * time.Hour
	}
	known := map[string]int{}
	for from := all.From; from.Before(all.To); from = from.Add(piece) {
		to := from.Add(piece)
		if to.After(all.To) {
			to = all.To
		}
		query := fmt.Sprintf("%s{%s}[%dms]", name, all.Matchers, to.Sub(from).Milliseconds())
		answer, _, _, err := source.Query(ctx, query, to)
		if err != nil {
			return fmt.Errorf("asking Prometheus for %s at %s: %w", query, to.Format(time.RFC3339), err)
		}
		matrix, ok := answer.(model.Matrix)
		if !ok {
			return fmt.Errorf("asking Prometheus for %s: the answer is a %s, not a matrix", query, answer.Type())
		}
		for _, stream := range matrix {
			r.add(known, stream)
		}
	}
	return nil
}

// add appends what one query gave of a series. Prometheus 2 includes the sample at the beginning of a range, which the query before gave as its end.
func (r *Recording) add(known map[string]int, stream *model.SampleStream) {
	b := labels.NewBuilder(labels.EmptyLabels())
	for name, value := range stream.Metric {
		b.Set(string(name), string(value))
	}
	lset := b.Labels()
	key := string(lset.Bytes(nil))
	i, ok := known[key]
	if !ok {
		i = len(r.columns)
		known[key] = i
		r.columns = append(r.columns, recordedColumn{labels: lset})
	}
	c := &r.columns[i]
	for _, sample := range stream.Values {
		t := int64(sample.Timestamp)
		if n := len(c.points); n == 0 || c.points[n-1].T < t {
			c.points = append(c.points, promql.FPoint{T: t, F: float64(sample.Value)})
		}
	}
}

// recordedWorld is the world of a scenario with a recording. Nobody knows its truth.
func (s *Scenario) recordedWorld() (*world, error) {
	w := &world{scenario: s, store: newStore()}
	for _, c := range s.Recording.columns {
		if err := w.store.add(w.store.column(c.labels, scrapedSeries), c.points...); err != nil {
			return nil, fmt.Errorf("holding the samples of %s: %w", c.labels, err)
		}
	}
	return w, nil
}
