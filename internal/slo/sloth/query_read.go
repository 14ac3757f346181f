// Reading a query: it must count events, so that the same count can be taken over any window, and its labels must be known.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"errors"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// query reads a query that counts events; without text when it is not given or wrong.
func (r *reader) query(f diag.Fields, key string) Query {
	text := f.Text(key)
	if text == "" {
		return Query{}
	}
	q := &queryReader{reader: r, node: f.Node(key), key: key, marked: markWindows(text)}
	before := len(r.Problems())
	by := q.read()
	if len(r.Problems()) > before {
		return Query{}
	}
	return Query{Text: text, By: by, calls: q.calls, text: q.text}
}

// queryReader reads one query.
type queryReader struct {
	*reader
	marked

	node  *yaml.Node
	key   string
	calls []call
}

// report reports a part of the query.
func (q *queryReader) report(at posrange.PositionRange, of *diag.Message, args ...any) {
	q.Report(q.Within(q.node, q.original(int(at.Start)), q.original(int(at.End))), of, args...)
}

// read checks the query and returns the labels of its result, sorted.
func (q *queryReader) read() []string {
	if q.otherPlaceholders() {
		return nil
	}
	expr, ok := q.parse()
	if !ok {
		return nil
	}
	if len(q.marks) == 0 && !q.literalWindows(expr) {
		q.Report(q.At(q.node), noWindow, q.key)
		return nil
	}
	before := len(q.Problems())
	by, grouped := q.count(expr)
	if !grouped && len(q.Problems()) == before {
		q.Report(q.At(q.node), notGrouped, q.key)
	}
	if len(q.calls) < len(q.marks) && len(q.Problems()) == before {
		q.strayWindows()
	}
	slices.SortFunc(q.calls, func(a, b call) int { return a.start - b.start }) // as Query.replaced needs them
	return by
}

// otherPlaceholders reports placeholders other than the window's, and whether there were any.
func (q *queryReader) otherPlaceholders() bool {
	for _, at := range q.other {
		end := at + strings.Index(q.node.Value[at:], "}}") + 2
		q.Report(q.Within(q.node, at, end), unknownTemplate, q.node.Value[at:end])
	}
	return len(q.other) > 0
}

// parse parses the query.
func (q *queryReader) parse() (parser.Expr, bool) {
	expr, err := parser.ParseExpr(q.text)
	var list parser.ParseErrors
	switch {
	case err == nil:
		return expr, true
	case errors.As(err, &list) && len(list) > 0:
		what := strings.ReplaceAll(list[0].Err.Error(), windowMark, "{{.window}}")
		q.report(list[0].PositionRange, badPromQL, q.key, what)
	default:
		q.Report(q.At(q.node), badPromQL, q.key, err.Error())
	}
	return nil, false
}

// literalWindows reports ranges that are not {{.window}}, and whether there were any.
func (q *queryReader) literalWindows(expr parser.Expr) bool {
	found := false
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if matrix, ok := node.(*parser.MatrixSelector); ok && matrix.Range != windowMarkTime {
			found = true
			q.literalWindow(matrix)
		}
		return nil
	})
	return found
}

// literalWindow reports the range of a selector.
func (q *queryReader) literalWindow(matrix *parser.MatrixSelector) {
	at := posrange.PositionRange{Start: matrix.VectorSelector.PositionRange().End, End: matrix.EndPos}
	q.report(at, literalWindow, strings.TrimSpace(q.text[at.Start:at.End]))
}

// strayWindows reports the placeholders that are not in the range of a call.
func (q *queryReader) strayWindows() {
	for _, m := range q.marks {
		if !slices.ContainsFunc(q.calls, func(c call) bool { return c.window <= m.at && m.at < c.end }) {
			q.Report(q.Within(q.node, m.original, m.original+m.length), strayWindow)
		}
	}
}

// count checks that an expression counts events: built of sums, differences and multiples of increases. It returns the labels that the result has, and whether they are known.
func (q *queryReader) count(expr parser.Expr) (by []string, grouped bool) {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return q.count(e.Expr)
	case *parser.UnaryExpr:
		return q.count(e.Expr)
	case *parser.StepInvariantExpr:
		return q.count(e.Expr)
	case *parser.AggregateExpr:
		return q.sum(e)
	case *parser.BinaryExpr:
		return q.arithmetic(e)
	case *parser.Call:
		q.increase(e)
	case *parser.MatrixSelector, *parser.VectorSelector, *parser.SubqueryExpr, *parser.NumberLiteral, *parser.StringLiteral:
		q.report(expr.PositionRange(), notACount, "a value that is no increase", q.key)
	default:
		q.report(expr.PositionRange(), notACount, parser.DocumentedType(expr.Type()), q.key)
	}
	return nil, false
}

// sum checks an aggregation.
func (q *queryReader) sum(e *parser.AggregateExpr) (by []string, grouped bool) {
	switch {
	case e.Op != parser.SUM:
		q.report(e.PosRange, notACount, e.Op.String(), q.key)
	case e.Without:
		q.report(e.PosRange, groupedWithout, q.key)
	}
	q.count(e.Expr)
	return slices.Sorted(slices.Values(e.Grouping)), true
}

// arithmetic checks an operation on two sides.
func (q *queryReader) arithmetic(e *parser.BinaryExpr) (by []string, grouped bool) {
	left, right := counts(e.LHS), counts(e.RHS)
	switch {
	case e.Op == parser.LOR && left && isZero(e.RHS):
		q.report(e.RHS.PositionRange(), zeroFallback, e.RHS.String(), q.key)
	case (e.Op == parser.ADD || e.Op == parser.SUB) && left && right:
		return q.both(e)
	case (e.Op == parser.MUL || e.Op == parser.DIV) && left && !right:
		by, grouped = q.count(e.LHS)
		return withIncluded(by, e), grouped
	case e.Op == parser.MUL && right && !left:
		by, grouped = q.count(e.RHS)
		return withIncluded(by, e), grouped
	default:
		q.report(e.PositionRange(), notACount, e.Op.String(), q.key)
	}
	return nil, false
}

// both checks a sum or a difference of two counts, whose labels must be the same.
func (q *queryReader) both(e *parser.BinaryExpr) (by []string, grouped bool) {
	left, leftGrouped := q.count(e.LHS)
	right, rightGrouped := q.count(e.RHS)
	if leftGrouped && rightGrouped && !slices.Equal(left, right) {
		q.report(e.PositionRange(), otherGroups, "one side of "+e.Op.String(), strings.Join(left, ", "), strings.Join(right, ", "))
	}
	return left, leftGrouped && rightGrouped
}

// withIncluded adds the labels that group_left or group_right takes over from the other side.
func withIncluded(by []string, e *parser.BinaryExpr) []string {
	if e.VectorMatching == nil {
		return by
	}
	all := append(slices.Clone(by), e.VectorMatching.Include...)
	slices.Sort(all)
	return slices.Compact(all)
}

// increase checks a call: an increase or a rate of one counter over the window.
func (q *queryReader) increase(e *parser.Call) {
	if e.Func.Name != "increase" && e.Func.Name != "rate" {
		q.report(e.PosRange, notACount, e.Func.Name+"()", q.key)
		return
	}
	matrix, ok := e.Args[0].(*parser.MatrixSelector)
	if !ok {
		q.report(e.PosRange, sumThenRate, e.Func.Name)
		return
	}
	selector, ok := matrix.VectorSelector.(*parser.VectorSelector)
	switch {
	case !ok:
		q.report(e.PosRange, notACount, matrix.String(), q.key)
	case selector.OriginalOffset != 0 || selector.Timestamp != nil || selector.StartOrEnd != 0:
		q.report(e.PosRange, noOffset, q.key)
	case matrix.Range != windowMarkTime:
		q.literalWindow(matrix)
	case strings.Contains(selector.Name, ":"):
		q.report(selector.PosRange, recordedSum, e.Func.Name, selector.Name)
	}
	if ok {
		q.calls = append(q.calls, call{e.Func.Name, selector.String(), int(e.PosRange.Start), int(selector.PosRange.End), int(e.PosRange.End)})
	}
}

// counts says whether an expression has a range in it.
func counts(expr parser.Expr) bool {
	found := false
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch node.(type) {
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			found = true
		}
		return nil
	})
	return found
}

// isZero says whether an expression is a made-up zero: vector(0), 0, or something times 0.
func isZero(expr parser.Expr) bool {
	text := strings.ReplaceAll(expr.String(), " ", "")
	return text == "0" || text == "vector(0)" || strings.HasSuffix(text, "*0") || strings.HasPrefix(text, "0*")
}
