// An alerting rule over a span: the rule of Prometheus is asked at each instant at which its state can change, with the answers of one range query.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
)

// alertState is an alerting rule of Prometheus, without annotations: these change nothing, and cost queries at every evaluation.
type alertState struct {
	rule    *rules.AlertingRule
	present []bool        // which series the latest evaluation saw
	written promql.Vector // what it wrote
	steady  bool          // another evaluation that sees the same changes nothing
	unread  []*unread     // alerts that have fired, and whose annotations are to be asked for
}

// unread is an alert that fired at an instant, with what its expression gave then.
type unread struct {
	at      int64
	vector  promql.Vector
	episode *Episode
}

func newAlertState(r rule) *alertState {
	if !r.alert {
		return nil
	}
	return &alertState{rule: newAlerting(r, labels.EmptyLabels())}
}

// plainLabels says that the labels of an alert do not change while the series that it comes from stays.
func plainLabels(r rule) bool {
	plain := true
	r.labels.Range(func(l labels.Label) {
		if strings.Contains(l.Value, "{{") && (strings.Contains(strings.ToLower(l.Value), "value") || strings.Contains(l.Value, "query")) {
			plain = false
		}
	})
	return plain
}

func (s *spanRun) alerting(ctx context.Context, rule rule, over steps) error {
	state := s.memory[rule.place].alert
	return s.query(ctx, rule, over, func(over steps, matrix promql.Matrix) error {
		state.steady = state.steady && len(matrix) == 0 && len(state.written) == 0 // else the series are not those of the piece before
		var wrote writing
		next, skipped := make([]int, len(matrix)), []int64{}
		for at := over.first; at <= over.last; at += over.interval {
			vector, present := take(matrix, next, at)
			if !state.steady || !slices.Equal(present, state.present) {
				if err := s.ask(ctx, rule, at, vector); err != nil {
					s.failed(at, rule, err)
					skipped = append(skipped, at)
					continue
				}
				state.present = present
			}
			wrote.add(at, state.written)
		}
		return s.write(rule, over.without(skipped), wrote.matrix)
	})
}

// writing gathers what an alerting rule writes at one instant after another.
type writing struct {
	matrix promql.Matrix
	index  map[string]int
}

func (w *writing) add(at int64, vector promql.Vector) {
	for _, sample := range vector {
		key := string(sample.Metric.Bytes(nil))
		i, ok := w.index[key]
		if !ok {
			if w.index == nil {
				w.index = map[string]int{}
			}
			i = len(w.matrix)
			w.index[key] = i
			w.matrix = append(w.matrix, promql.Series{Metric: sample.Metric})
		}
		w.matrix[i].Floats = append(w.matrix[i].Floats, promql.FPoint{T: at, F: sample.F})
	}
}

// take returns what a range query's answer says of an instant, and which series have a sample then. next holds how much of each series is read.
func take(matrix promql.Matrix, next []int, at int64) (promql.Vector, []bool) {
	var vector promql.Vector
	present := make([]bool, len(matrix))
	for i, series := range matrix {
		if next[i] < len(series.Floats) && series.Floats[next[i]].T == at {
			vector = append(vector, promql.Sample{T: at, F: series.Floats[next[i]].F, Metric: series.Metric})
			present[i] = true
			next[i]++
		}
	}
	return vector, present
}

// ask evaluates the rule of Prometheus at an instant.
func (s *spanRun) ask(ctx context.Context, rule rule, at int64, vector promql.Vector) error {
	state := s.memory[rule.place].alert
	answer := func(context.Context, string, time.Time) (promql.Vector, error) { return slices.Clone(vector), nil }
	written, err := state.rule.Eval(ctx, 0, instant(at), answer, &url.URL{}, 0)
	if err != nil {
		return err
	}
	active := state.rule.ActiveAlerts()
	for _, episode := range s.observe(rule, at, active) {
		state.unread = append(state.unread, &unread{at, vector, episode})
	}
	state.written = written
	state.steady = len(active) == len(vector) && !slices.ContainsFunc(active, func(a *rules.Alert) bool {
		return a.State != rules.StateFiring // one that only keeps firing is in no vector
	})
	return nil
}

// annotate asks what the annotations said of the alerts of a rule when they fired: the queries of their templates see what the rule saw then.
func (s *spanRun) annotate(ctx context.Context, rule rule) error {
	if !rule.alert {
		return nil
	}
	state := s.memory[rule.place].alert
	for _, fired := range state.unread {
		query := rules.EngineQueryFunc(s.engine, view{s.store, rule.place, fired.at})
		full := newAlerting(rule, rule.annotations)
		_, err := full.Eval(ctx, 0, instant(fired.at), func(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
			if expr == rule.expr.String() {
				return slices.Clone(fired.vector), nil
			}
			return query(ctx, expr, at)
		}, &url.URL{}, 0)
		if err != nil {
			return err
		}
		for _, alert := range full.ActiveAlerts() {
			if labels.Equal(alert.Labels, fired.episode.labels) {
				fired.episode.Annotations = alert.Annotations.Map()
			}
		}
	}
	state.unread = nil
	return nil
}
