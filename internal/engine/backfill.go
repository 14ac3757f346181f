// Recording rules are evaluated over a written history by range queries, as `promtool tsdb create-blocks-from rules` does, and in the order in which they read each other.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb"
)

// Backfill says which recording rules are evaluated over which history.
type Backfill struct {
	Dir      string // the folder of the data, which no engine has open
	Rules    fs.FS
	From, To time.Time // From is evaluated, To is not
	Step     time.Duration
	Filter   func(record string) bool // nil takes every recording rule
}

// recording is one rule to evaluate, and the place in the order that what it reads gives it.
type recording struct {
	name   string
	expr   parser.Expr
	labels map[string]string
	level  int
}

// BackfillRules writes what the rules would have recorded. A rule may read what rules before it in the files record; each such step reads what
// the step before has written. Rules without the filter's consent are not evaluated, and nothing is then read from them.
func BackfillRules(ctx context.Context, b Backfill) error {
	rules, err := readRules(b.Rules)
	if err != nil {
		return err
	}
	all, err := b.recordings(rules)
	if err != nil {
		return err
	}
	deepest := -1
	for _, r := range all {
		deepest = max(deepest, r.level)
	}
	for level := range deepest + 1 {
		if err := b.level(ctx, all, level); err != nil {
			return fmt.Errorf("back-filling rules in %q: %w", b.Dir, err)
		}
	}
	return nil
}

func (b Backfill) recordings(rules *ruleSet) ([]recording, error) {
	var all []recording
	for _, name := range rules.names {
		for _, group := range rules.files[name].Groups {
			for _, rule := range group.Rules {
				if rule.Record == "" || b.Filter != nil && !b.Filter(rule.Record) {
					continue
				}
				expr, err := parser.ParseExpr(rule.Expr)
				if err != nil {
					return nil, fmt.Errorf("reading the rule %q: %w", rule.Record, err)
				}
				all = append(all, recording{rule.Record, expr, labels.FromMap(group.Labels).Map(), levelOf(expr, all)})
				maps.Copy(all[len(all)-1].labels, rule.Labels)
			}
		}
	}
	return all, nil
}

// levelOf is one more than the highest level of the rules that expr reads.
func levelOf(expr parser.Expr, before []recording) int {
	level := 0
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		selector, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, m := range selector.LabelMatchers {
			for _, r := range before {
				if m.Name == model.MetricNameLabel && m.Matches(r.name) {
					level = max(level, r.level+1)
				}
			}
		}
		return nil
	})
	return level
}

// level evaluates the rules of one level over the blocks that are there, into new ones.
func (b Backfill) level(ctx context.Context, all []recording, level int) (err error) {
	logger := slog.New(slog.DiscardHandler)
	db, err := tsdb.OpenDBReadOnly(b.Dir, "", logger)
	if err != nil {
		return fmt.Errorf("opening the blocks: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	query := promql.NewEngine(promql.EngineOpts{
		Logger: logger, MaxSamples: querySamples, Timeout: time.Hour, EnableAtModifier: true, EnableNegativeOffset: true,
	})
	defer func() { err = errors.Join(err, query.Close()) }()
	return WriteHistory(b.Dir, b.From, b.To, func(add Add) error { //nolint:contextcheck // ctx ends the queries; writing a block is short
		for _, r := range all {
			if r.level != level {
				continue
			}
			e := &evaluation{Backfill: b, rule: r, query: query, db: db, add: add, alive: map[string]labels.Labels{}}
			if err := e.all(ctx); err != nil {
				return fmt.Errorf("evaluating the rule %q: %w", r.name, err)
			}
		}
		return nil
	})
}

// evaluation is one rule on its way through time, a block's length at a time.
type evaluation struct {
	Backfill

	rule  recording
	query *promql.Engine
	db    *tsdb.DBReadOnly
	add   Add
	alive map[string]labels.Labels // series with a value at the last step before
}

func (e *evaluation) all(ctx context.Context) error {
	steps := max(1, historyBlock*int64(time.Millisecond)/int64(e.Step))
	length := time.Duration(steps) * e.Step
	for from := e.From; from.Before(e.To); from = from.Add(length) {
		last := from.Add(length - e.Step)
		for !last.Before(e.To) {
			last = last.Add(-e.Step)
		}
		if err := e.span(ctx, from, last); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluation) span(ctx context.Context, from, last time.Time) error {
	q, err := e.query.NewRangeQuery(ctx, e.db, nil, e.rule.expr.String(), from, last, e.Step)
	if err != nil {
		return err
	}
	defer q.Close()
	matrix, err := q.Exec(ctx).Matrix()
	if err != nil {
		return err
	}
	before := e.alive
	e.alive = map[string]labels.Labels{}
	for _, s := range matrix {
		if len(s.Histograms) > 0 {
			return errors.New("it records histograms, which are not back-filled")
		}
		series := e.named(s.Metric)
		key := string(series.Bytes(nil))
		if len(s.Floats) > 0 && s.Floats[0].T == from.UnixMilli() {
			delete(before, key)
		}
		if err := e.series(series, s.Floats, last.UnixMilli(), before); err != nil {
			return err
		}
	}
	for _, series := range before {
		if err := e.add(series, from, stale); err != nil {
			return err
		}
	}
	return nil
}

var stale = math.Float64frombits(value.StaleNaN)

// series writes one series, with an end where a step has no value, as the rule manager does.
func (e *evaluation) series(series labels.Labels, points []promql.FPoint, last int64, before map[string]labels.Labels) error {
	key := string(series.Bytes(nil))
	if _, ended := before[key]; ended { // it begins later in this span, so its end comes first
		delete(before, key)
		if err := e.add(series, time.UnixMilli(points[0].T).Add(-e.Step), stale); err != nil {
			return err
		}
	}
	for i, p := range points {
		if err := e.add(series, time.UnixMilli(p.T), p.F); err != nil {
			return err
		}
		next := p.T + e.Step.Milliseconds()
		switch {
		case p.T == last:
			e.alive[key] = series
		case i+1 == len(points) || points[i+1].T != next:
			if err := e.add(series, time.UnixMilli(next), stale); err != nil {
				return err
			}
		}
	}
	return nil
}

// named gives a result the rule's name and labels, which win over its own.
func (e *evaluation) named(result labels.Labels) labels.Labels {
	b := labels.NewBuilder(result)
	for k, v := range e.rule.labels {
		b.Set(k, v)
	}
	return b.Set(model.MetricNameLabel, e.rule.name).Labels()
}
