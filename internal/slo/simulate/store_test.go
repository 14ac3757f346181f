// Tests of the store, as the engine and the rule groups use it.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

func metric(name string, pairs ...string) labels.Labels {
	return labels.FromStrings(append(pairs, model.MetricNameLabel, name)...)
}

// overlapping includes the beginning of ranges, as Prometheus 2 does: its ranges begin a millisecond earlier.
type overlapping struct{ Source }

func (o overlapping) Query(ctx context.Context, query string, at time.Time, options ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error) {
	return o.Source.Query(ctx, strings.Replace(query, "0ms]", "1ms]", 1), at, options...)
}

func TestStoreSelects(t *testing.T) {
	s := newStore()
	for _, lset := range []labels.Labels{metric("b", "x", "2"), metric("a", "x", "1"), metric("a", "x", "2")} {
		if err := s.add(s.column(lset, scrapedSeries), promql.FPoint{T: 10, F: 1}, promql.FPoint{T: 20, F: 2}, promql.FPoint{T: 30, F: 3}); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		matchers []*labels.Matcher
		from, to int64
		want     map[string]int
	}{
		"by name":        {[]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "__name__", "a")}, 0, 100, map[string]int{`{__name__="a", x="1"}`: 3, `{__name__="a", x="2"}`: 3}},
		"by a label":     {[]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "x", "2")}, 0, 100, map[string]int{`{__name__="a", x="2"}`: 3, `{__name__="b", x="2"}`: 3}},
		"cut, both ends": {[]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "__name__", "b")}, 20, 30, map[string]int{`{__name__="b", x="2"}`: 2}},
		"none in time":   {[]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "__name__", "b")}, 31, 90, map[string]int{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := s.Querier(c.from, c.to)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for set := q.Select(t.Context(), true, nil, c.matchers...); set.Next(); {
				for it := set.At().Iterator(nil); it.Next() != chunkenc.ValNone; {
					got[set.At().Labels().String()]++
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want - and got +:\n%s", diff)
			}
		})
	}
}

func TestStoreRefusesThePast(t *testing.T) {
	s := newStore()
	c := s.column(metric("a"), scrapedSeries)
	if err := s.add(c, promql.FPoint{T: 10, F: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.add(c, promql.FPoint{T: 5, F: 5}, promql.FPoint{T: 10, F: 9}, promql.FPoint{T: 11, F: 2}); !errors.Is(err, storage.ErrDuplicateSampleForTimestamp) {
		t.Errorf("error: %v", err)
	}
	if diff := cmp.Diff([]promql.FPoint{{T: 10, F: 1}, {T: 11, F: 2}}, c.points); diff != "" {
		t.Errorf("want - and got +:\n%s", diff)
	}
	if _, err := s.Appender(t.Context()).AppendHistogram(0, metric("h"), 1, nil, nil); !errors.Is(err, errNoHistograms) {
		t.Errorf("error of a histogram: %v", err)
	}
}

// A rule does not see what it and later rules record at its instant.
func TestView(t *testing.T) {
	s := newStore()
	for order := range 3 {
		c := s.column(metric("m", "order", string(rune('0'+order))), order)
		if err := s.add(c, promql.FPoint{T: 10, F: 1}, promql.FPoint{T: 20, F: 2}); err != nil {
			t.Fatal(err)
		}
	}
	q, err := view{s, 2, 20}.Querier(0, 20)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for set := q.Select(t.Context(), true, nil, labels.MustNewMatcher(labels.MatchEqual, "__name__", "m")); set.Next(); {
		for it := set.At().Iterator(nil); it.Next() != chunkenc.ValNone; {
			got[set.At().Labels().Get("order")] = it.AtT()
		}
	}
	if diff := cmp.Diff(map[string]int64{"0": 20, "1": 20, "2": 10}, got); diff != "" {
		t.Errorf("want - and got +:\n%s", diff)
	}
}

func TestIteratorSeeks(t *testing.T) {
	c := &column{points: []promql.FPoint{{T: 10, F: 1}, {T: 20, F: 2}, {T: 30, F: 3}}}
	it := c.Iterator(nil)
	for _, step := range []struct{ seek, want int64 }{{5, 10}, {20, 20}, {11, 20}, {21, 30}} {
		if it.Seek(step.seek) != chunkenc.ValFloat || it.AtT() != step.want {
			t.Errorf("seek %d: at %d, want %d", step.seek, it.AtT(), step.want)
		}
	}
	if it.Seek(31) != chunkenc.ValNone || it.Next() != chunkenc.ValNone {
		t.Error("a sample after the last one")
	}
	if again := c.Iterator(it); again != it || again.Next() != chunkenc.ValFloat || again.AtT() != 10 {
		t.Error("the iterator does not begin again")
	}
}
