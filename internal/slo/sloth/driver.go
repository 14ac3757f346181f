// Driving an SLO: which counters must count so that its queries see a good event, a bad one, or a slot that is neither.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"fmt"
	"maps"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// outcome is what happens in one slot of a test.
type outcome int

const (
	slotIdle    outcome = iota // counters stand still
	slotGood                   // an event that is good
	slotBad                    // an event that is bad
	slotUnknown                // a slot that is no event
	slotRestart                // counters begin again at 0
	slotGone                   // nothing is scraped any more
	slotUnborn                 // nothing is scraped yet
)

// driver are the counters of an SLO's queries. A set of them that counts together is nil when there is none that makes such an event.
type driver struct {
	series          []labels.Labels
	good, bad, slot map[int]bool // indices of series
	causes          map[int]bool // of the counters that say what bad events are put down to; they count with each
}

// newDriver finds the counters: it tries all small sets of series that the selectors of the queries can match.
func newDriver(s SLO) driver {
	d := driver{}
	for _, q := range []Query{s.Total, s.Error} {
		d.addSeries(s, q)
	}
	wants := func(bad float64) func(set map[int]bool) bool {
		return func(set map[int]bool) bool { return d.value(s.Total, set) == 1 && d.value(s.Error, set) == bad }
	}
	d.good, d.bad = d.find(0, wants(0)), d.find(0, wants(1))
	if s.Probes == nil || s.Probes.Slots == nil {
		return d
	}
	events := len(d.series)
	d.addSeries(s, *s.Probes.Slots)
	d.slot = d.find(events, func(set map[int]bool) bool {
		return d.value(*s.Probes.Slots, set) == 1 && d.value(s.Total, set) == 0 && d.value(s.Error, set) == 0
	})
	return d
}

// addCauses adds the counters of attributions, one for each, which are no events themselves.
func (d *driver) addCauses(s *sloRules) {
	d.causes = map[int]bool{}
	for _, a := range s.attributions() {
		for _, c := range a.Query.calls {
			matchers, err := parser.ParseMetricSelector(c.selector)
			if err != nil { // PromQL has parsed it
				continue
			}
			set := map[string]string{a.Label: "a"}
			for _, label := range s.Groups() {
				set[label] = "a"
			}
			d.series = append(d.series, labels.FromMap(multiplied([]map[string]string{set}, matchers...)[0]))
			d.causes[len(d.series)-1] = true
		}
	}
}

// find is the smallest set of series, from one index on, that fulfils a condition.
func (d *driver) find(from int, fulfils func(map[int]bool) bool) map[int]bool {
	n := min(len(d.series)-from, 8)
	masks := make([]uint, 0, 1<<n)
	for mask := uint(1); mask < 1<<n; mask++ {
		masks = append(masks, mask)
	}
	slices.SortStableFunc(masks, func(a, b uint) int { return bits.OnesCount(a) - bits.OnesCount(b) })
	for _, mask := range masks {
		set := map[int]bool{}
		for i := range n {
			if mask&(1<<i) != 0 {
				set[from+i] = true
			}
		}
		if fulfils(set) {
			return set
		}
	}
	return nil
}

// addSeries adds series that the selectors of a query match: one for each value that a regular expression lists.
func (d *driver) addSeries(s SLO, q Query) {
	for _, c := range q.calls {
		matchers, err := parser.ParseMetricSelector(c.selector)
		if err != nil {
			continue
		}
		sets := []map[string]string{{}}
		for _, label := range s.Groups() {
			sets[0][label] = "a"
		}
		for _, set := range multiplied(sets, matchers...) {
			if series := labels.FromMap(set); !slices.ContainsFunc(d.series, func(other labels.Labels) bool { return labels.Equal(series, other) }) {
				d.series = append(d.series, series)
			}
		}
	}
}

// multiplied are label sets with each value that matchers list.
func multiplied(sets []map[string]string, matchers ...*labels.Matcher) []map[string]string {
	for _, m := range matchers {
		var all []map[string]string
		for _, set := range sets {
			for _, value := range valuesOf(m) {
				more := maps.Clone(set)
				more[m.Name] = value
				all = append(all, more)
			}
		}
		sets = all
	}
	return sets
}

// valuesOf are the values that a matcher lists.
func valuesOf(m *labels.Matcher) []string {
	switch m.Type {
	case labels.MatchEqual:
		return []string{m.Value}
	case labels.MatchRegexp:
		return examples(m.Value)
	case labels.MatchNotEqual, labels.MatchNotRegexp:
	}
	return []string{"other"}
}

// examples are texts that a regular expression matches: one for each alternative of it.
func examples(pattern string) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil { // PromQL has parsed it
		return nil
	}
	parsed = parsed.Simplify()
	if parsed.Op != syntax.OpAlternate {
		return []string{example(parsed)}
	}
	var all []string
	for _, alternative := range parsed.Sub {
		all = append(all, example(alternative))
	}
	return all
}

// example is a short text that a regular expression matches.
func example(re *syntax.Regexp) string {
	switch re.Op { //nolint:exhaustive // the others may match nothing
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(re.Rune[:1])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return example(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(example(sub))
		}
		return b.String()
	case syntax.OpRepeat:
		return strings.Repeat(example(re.Sub[0]), re.Min)
	}
	return ""
}

// value is what a query counts when each series of a set counts one.
func (d *driver) value(q Query, set map[int]bool) float64 {
	expr, err := parser.ParseExpr(q.text)
	if err != nil {
		return 0
	}
	return d.count(expr, set)
}

// count is the value of an expression of increases. What has no increase in it is taken for 1.
func (d *driver) count(expr parser.Expr, set map[int]bool) float64 {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return d.count(e.Expr, set)
	case *parser.UnaryExpr:
		if e.Op == parser.SUB {
			return -d.count(e.Expr, set)
		}
		return d.count(e.Expr, set)
	case *parser.AggregateExpr:
		return d.count(e.Expr, set)
	case *parser.NumberLiteral:
		return e.Val
	case *parser.BinaryExpr:
		return d.arithmetic(e, set)
	case *parser.Call:
		return d.increase(e, set)
	}
	return 1
}

func (d *driver) arithmetic(e *parser.BinaryExpr, set map[int]bool) float64 {
	left, right := d.count(e.LHS, set), d.count(e.RHS, set)
	switch e.Op {
	case parser.ADD:
		return left + right
	case parser.SUB:
		return left - right
	case parser.DIV:
		return left / right
	default:
		return left * right
	}
}

func (d *driver) increase(e *parser.Call, set map[int]bool) float64 {
	matrix, ok := e.Args[0].(*parser.MatrixSelector)
	if !ok {
		return 0
	}
	selector, ok := matrix.VectorSelector.(*parser.VectorSelector)
	if !ok {
		return 0
	}
	n := 0.0
	for i := range set {
		if matches(d.series[i], selector.LabelMatchers) {
			n++
		}
	}
	return n
}

func matches(series labels.Labels, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Get(m.Name)) })
}

// counts says whether a series counts in a slot.
func (d *driver) counts(series int, o outcome) bool {
	switch o {
	case slotGood:
		return d.good[series] || d.slot[series]
	case slotBad:
		return d.bad[series] || d.slot[series] || d.causes[series]
	case slotUnknown:
		return d.slot[series]
	case slotIdle, slotRestart, slotGone, slotUnborn:
	}
	return false
}

// series writes the samples of all counters through some phases, in promtool's notation. The first sample is a 0 before the first slot.
func (t tester) series(extra map[string]string, phases ...phase) []inputSeries {
	var all []inputSeries
	for i, series := range t.drive.series {
		var parts []string
		value := 0
		if phases[0].slots != slotUnborn {
			parts = append(parts, "0")
		} else {
			parts = append(parts, "_")
		}
		for _, p := range phases {
			n := int(p.lasts / t.step)
			switch {
			case n == 0:
			case p.slots == slotGone || p.slots == slotUnborn:
				parts = append(parts, fmt.Sprintf("_x%d", n))
			case p.slots == slotRestart:
				value = 0
				parts = append(parts, times("0", n))
			case t.drive.counts(i, p.slots):
				parts = append(parts, fmt.Sprintf("%d+1x%d", value+1, n-1))
				value += n
			default:
				parts = append(parts, times(fmt.Sprint(value), n))
			}
		}
		all = append(all, inputSeries{describe(series, extra), strings.Join(parts, " ")})
	}
	return all
}

// times repeats a value n times.
func times(value string, n int) string {
	if n == 1 {
		return value
	}
	return fmt.Sprintf("%sx%d", value, n-1)
}

// describe writes a series with more labels.
func describe(series labels.Labels, extra map[string]string) string {
	builder := labels.NewBuilder(series)
	for name, value := range extra {
		builder.Set(name, value)
	}
	return builder.Labels().String()
}
