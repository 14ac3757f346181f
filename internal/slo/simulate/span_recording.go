// A recording rule over a span: what its range query writes into the store.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"errors"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
)

func (s *spanRun) recording(ctx context.Context, rule rule, over steps) error {
	return s.query(ctx, rule, over, func(over steps, matrix promql.Matrix) error {
		b := labels.NewBuilder(labels.EmptyLabels())
		for i := range matrix {
			b.Reset(matrix[i].Metric)
			b.Set(model.MetricNameLabel, rule.name)
			rule.labels.Range(func(l labels.Label) { b.Set(l.Name, l.Value) })
			matrix[i].Metric = b.Labels()
		}
		matrix, skipped := merged(matrix)
		for _, at := range skipped {
			s.failed(at, rule, rules.ErrDuplicateRecordingLabelSet)
		}
		return s.write(rule, over.without(skipped), matrix)
	})
}

// merged joins series that have the same labels now. An instant at which two of them have a sample is an error: the rule records nothing then.
func merged(matrix promql.Matrix) (promql.Matrix, []int64) {
	if !matrix.ContainsSameLabelset() {
		return matrix, nil
	}
	byLabels := map[string]int{}
	var joined promql.Matrix
	twice := map[int64]bool{}
	for _, series := range matrix {
		key := string(series.Metric.Bytes(nil))
		i, ok := byLabels[key]
		if !ok {
			byLabels[key] = len(joined)
			joined = append(joined, series)
			continue
		}
		joined[i].Floats = append(joined[i].Floats, series.Floats...)
		slices.SortFunc(joined[i].Floats, func(a, b promql.FPoint) int { return int(a.T - b.T) })
		for j := 1; j < len(joined[i].Floats); j++ {
			if joined[i].Floats[j].T == joined[i].Floats[j-1].T {
				twice[joined[i].Floats[j].T] = true
			}
		}
	}
	for i := range joined {
		joined[i].Floats = slices.DeleteFunc(joined[i].Floats, func(p promql.FPoint) bool { return twice[p.T] })
	}
	var skipped []int64
	for at := range twice {
		skipped = append(skipped, at)
	}
	slices.Sort(skipped)
	return joined, skipped
}

// errTwice says that two rules record one series. Their order within an instant decides then, so that rules cannot be evaluated one after the other.
var errTwice = errors.New("two rules record one series")

// write stores what a rule has recorded at each of these instants, and marks where a series ended.
func (s *spanRun) write(rule rule, evaluated []int64, matrix promql.Matrix) error {
	if len(evaluated) == 0 {
		return nil
	}
	columns := make([]*column, len(matrix))
	memory := s.memory[rule.place]
	for i, series := range matrix {
		columns[i] = s.store.column(series.Metric, rule.place)
		if columns[i].order != rule.place {
			return errTwice
		}
		if startsAt(series, evaluated[0]) {
			memory.alive = slices.DeleteFunc(memory.alive, func(known *column) bool { return known == columns[i] })
		}
	}
	if err := s.markEnded(memory, evaluated[0]); err != nil {
		return err
	}
	for i, series := range matrix {
		points := series.Floats
		if len(points) == 0 {
			continue
		}
		if points[len(points)-1].T == evaluated[len(evaluated)-1] {
			memory.alive = append(memory.alive, columns[i])
		}
		if len(points) != len(evaluated) {
			points = marked(points, evaluated)
		}
		if err := s.store.add(columns[i], points...); err != nil {
			return err
		}
	}
	return nil
}

func startsAt(series promql.Series, at int64) bool {
	return len(series.Floats) > 0 && series.Floats[0].T == at
}

// markEnded marks all series that a rule recorded last, but for those that are taken off that list because they go on.
func (s *spanRun) markEnded(memory *memory, at int64) error {
	for _, c := range memory.alive {
		if err := s.store.add(c, stale(at)); err != nil {
			return err
		}
	}
	memory.alive = nil
	return nil
}

// marked are the samples of a series with a mark at each instant where it had ended.
func marked(points []promql.FPoint, evaluated []int64) []promql.FPoint {
	var all []promql.FPoint
	at, there := 0, false
	for _, t := range evaluated {
		has := at < len(points) && points[at].T == t
		switch {
		case has:
			all = append(all, points[at])
			at++
		case there:
			all = append(all, stale(t))
		}
		there = has
	}
	return all
}
