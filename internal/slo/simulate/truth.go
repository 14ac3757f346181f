// The truth: what really happened in the SLO's period, counted where it happens, so that no scrape and no extrapolation stands between.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// truth counts what the first prober sees, over restarts and lost scrapes.
type truth struct {
	series []*served
	counts []float64
	before []float64 // the counts when the period began
	since  int64
}

func newTruth(p *prober, since int64) *truth {
	return &truth{series: p.series, counts: make([]float64, len(p.series)), since: since}
}

// at says that the time of a slot has come. An event at the very beginning of a period is not in it.
func (t *truth) at(now int64) {
	if t.before == nil && now > t.since {
		t.before = slices.Clone(t.counts)
	}
}

func (t *truth) end() {
	if t.before == nil {
		t.before = slices.Clone(t.counts)
	}
}

func (t *truth) count(p *prober, e event) {
	for _, i := range p.effects[e] {
		t.counts[i] += float64(e.times)
	}
}

// Count is how many events of a group were bad, and how many there were.
type Count struct {
	Labels map[string]string `json:"labels"`
	Bad    float64           `json:"bad"`
	Total  float64           `json:"total"`
}

// of counts by the queries of an SLI: each increase is the true one.
func (t *truth) of(ctx context.Context, bad, total string) ([]Count, error) {
	const at = 1000
	counted := newStore()
	for i, s := range t.series {
		pairs := []string{model.MetricNameLabel, s.family.name}
		for j, name := range s.family.labels {
			pairs = append(pairs, name, s.row[j])
		}
		c := counted.column(labels.FromStrings(pairs...), scrapedSeries)
		if err := counted.add(c, promql.FPoint{T: at, F: t.counts[i] - t.before[i]}); err != nil {
			return nil, err
		}
	}
	engine := newEngine(time.Minute)
	ask := func(query string) (promql.Vector, error) {
		expr, err := exactly(query)
		if err != nil {
			return nil, err
		}
		asked, err := engine.NewInstantQuery(ctx, counted, nil, expr, instant(at))
		if err != nil {
			return nil, err
		}
		return asked.Exec(ctx).Vector()
	}
	totals, err := ask(total)
	if err != nil {
		return nil, fmt.Errorf("counting the events of %q: %w", total, err)
	}
	bads, err := ask(bad)
	if err != nil {
		return nil, fmt.Errorf("counting the bad events of %q: %w", bad, err)
	}
	var counts []Count
	for _, sample := range totals {
		count := Count{Labels: sample.Metric.Map(), Total: sample.F}
		for _, b := range bads {
			if labels.Equal(b.Metric, sample.Metric) {
				count.Bad = b.F
			}
		}
		counts = append(counts, count)
	}
	return counts, nil
}

const windowVariable = "{{.window}}"

// withWindow puts a window into a query of a spec.
func withWindow(query, window string) string {
	return strings.NewReplacer(windowVariable, window, "{{ .window }}", window).Replace(query)
}

// exactly rewrites the query of a spec for series that are increases already.
func exactly(query string) (string, error) {
	expr, err := parser.ParseExpr(withWindow(query, "1s"))
	if err != nil {
		return "", err
	}
	return counted(expr).String(), nil
}

func counted(expr parser.Expr) parser.Expr {
	switch e := expr.(type) {
	case *parser.Call:
		if matrix, ok := soleRange(e); ok {
			return matrix.VectorSelector
		}
		for i := range e.Args {
			e.Args[i] = counted(e.Args[i])
		}
	case *parser.AggregateExpr:
		e.Expr = counted(e.Expr)
	case *parser.BinaryExpr:
		e.LHS, e.RHS = counted(e.LHS), counted(e.RHS)
	case *parser.ParenExpr:
		e.Expr = counted(e.Expr)
	case *parser.UnaryExpr:
		e.Expr = counted(e.Expr)
	}
	return expr
}

// soleRange is what a call of increase or rate ranges over. Both queries of an SLI use the same of the two, so that their ratio is that of the increases.
func soleRange(call *parser.Call) (*parser.MatrixSelector, bool) {
	if len(call.Args) != 1 || (call.Func.Name != "increase" && call.Func.Name != "rate") {
		return nil, false
	}
	matrix, ok := call.Args[0].(*parser.MatrixSelector)
	return matrix, ok
}
