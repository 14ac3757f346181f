// Reading what an SLO counts, and the queries beside it: all must have the same labels, and count with the same function.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// functions are the names of the functions that a query takes its increases with.
func (q Query) functions() string {
	var names []string
	for _, c := range q.calls {
		names = append(names, c.function)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " and ")
}

// sameGroups reports a query whose labels, or whose functions, are not those of total_query.
func (r *reader) sameGroups(f diag.Fields, key string, q, total Query) {
	if q.text == "" || total.text == "" {
		return
	}
	if !slices.Equal(q.By, total.By) {
		r.Report(f.At(key), otherGroups, key, strings.Join(q.By, ", "), strings.Join(total.By, ", "))
	}
	if q.functions() != total.functions() || strings.Contains(q.functions(), " ") {
		r.Report(f.At(key), mixedFunctions, key, q.functions(), "total_query", total.functions())
	}
}

// sli reads what is counted.
func (r *reader) sli(f diag.Fields, s *SLO) {
	sli := f.Mapping("sli", "events", "raw", "plugin")
	r.refuse(sli, "raw", rawSLI)
	r.refuse(sli, "plugin", pluginSLI)
	if f.Has("sli") && !sli.Has("raw") && !sli.Has("plugin") {
		sli.Require("events", "error_query and total_query")
	}
	events := sli.Mapping("events", "error_query", "total_query")
	if !sli.Has("events") {
		return
	}
	events.Require("error_query", "PromQL that counts the bad events in a window")
	events.Require("total_query", "PromQL that counts all events in a window")
	s.Error, s.Total = r.query(events, "error_query"), r.query(events, "total_query")
	if s.Error.text != "" && s.Error.text == s.Total.text {
		r.Report(events.At("error_query"), sameQueries)
	}
	r.sameGroups(events, "error_query", s.Error, s.Total)
}

// targets reads the query of how many targets one group sums up. It is an instant query, so it has no window.
func (r *reader) targets(x diag.Fields, total Query) string {
	const key = "targets_query"
	q, by := r.aggregate(x, key)
	if q.text == "" {
		return ""
	}
	if q.Text != q.text {
		r.Report(x.At(key), strayWindow)
	}
	if total.text != "" && !slices.Equal(by, total.By) {
		r.Report(x.At(key), otherGroups, key, strings.Join(by, ", "), strings.Join(total.By, ", "))
	}
	return q.text
}

// attribution reads a query that says what failures are put down to. It may be any aggregation: it is only asked which of its values is the largest.
func (r *reader) attribution(f diag.Fields, label string) Query {
	q, by := r.aggregate(f, label)
	switch {
	case q.text == "":
	case q.Text == q.text:
		r.Report(f.At(label), noWindow, label)
	case !slices.Contains(by, label):
		r.Report(f.At(label), missingGroup, label, strings.Join(by, ", "), label)
	}
	return q
}

// aggregate reads a query that is one aggregation, and its labels; without text when it is not given or wrong.
func (r *reader) aggregate(f diag.Fields, key string) (q Query, by []string) {
	text := f.Text(key)
	if text == "" {
		return Query{}, nil
	}
	reading := &queryReader{reader: r, node: f.Node(key), key: key, marked: markWindows(text)}
	if reading.otherPlaceholders() {
		return Query{}, nil
	}
	expr, ok := reading.parse()
	if !ok {
		return Query{}, nil
	}
	for paren, is := expr.(*parser.ParenExpr); is; paren, is = expr.(*parser.ParenExpr) {
		expr = paren.Expr
	}
	aggregate, ok := expr.(*parser.AggregateExpr)
	if !ok || aggregate.Without {
		r.Report(f.At(key), notGrouped, key)
		return Query{}, nil
	}
	by = slices.Sorted(slices.Values(aggregate.Grouping))
	return Query{Text: text, By: by, text: reading.text, calls: plainIncrease(aggregate)}, by
}

// plainIncrease is the call of a sum of one counter's increases over the window; none of any other expression.
func plainIncrease(sum *parser.AggregateExpr) []call {
	increase, ok := sum.Expr.(*parser.Call)
	if !ok || sum.Op != parser.SUM || increase.Func.Name != "increase" {
		return nil
	}
	matrix, ok := increase.Args[0].(*parser.MatrixSelector)
	if !ok || matrix.Range != windowMarkTime {
		return nil
	}
	selector, ok := matrix.VectorSelector.(*parser.VectorSelector)
	if !ok || selector.OriginalOffset != 0 || selector.Timestamp != nil || selector.StartOrEnd != 0 {
		return nil
	}
	return []call{{increase.Func.Name, selector.String(), int(increase.PosRange.Start), int(selector.PosRange.End), int(increase.PosRange.End)}}
}
