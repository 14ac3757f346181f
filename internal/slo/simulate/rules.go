// Rule files as the runner holds them: parsed by Prometheus, in the order in which they are evaluated, with what each rule reads.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// Rules are the groups of rule files, ready to run.
type Rules struct {
	groups []group
}

type group struct {
	name     string
	interval time.Duration // 0: the scenario's
	offset   time.Duration
	limit    int
	rules    []rule
}

// rule is a recording or an alerting rule.
type rule struct {
	name        string
	alert       bool
	expr        parser.Expr
	hold, keep  time.Duration
	labels      labels.Labels
	annotations labels.Labels
	place       int    // among all rules, from 1
	reads       []read // sorted
	reach       reach
}

// reach says which samples an expression may read besides those of named series up to now.
type reach struct {
	unnamed bool // series that are not selected by one name
	ahead   bool // samples after the instant of the evaluation, or at the ends of the query
}

// ParseRules reads Prometheus rule files, several as if they were one. Its errors are Prometheus' own.
func ParseRules(files ...[]byte) (Rules, error) {
	var rules Rules
	place := 0
	for _, content := range files {
		parsed, errs := rulefmt.Parse(content, false, model.UTF8Validation)
		if len(errs) > 0 {
			return Rules{}, fmt.Errorf("reading the rules: %w", errors.Join(errs...))
		}
		for _, g := range parsed.Groups {
			group := group{name: g.Name, interval: time.Duration(g.Interval), limit: g.Limit}
			if g.QueryOffset != nil {
				group.offset = time.Duration(*g.QueryOffset)
			}
			for _, r := range g.Rules {
				place++
				rule, err := newRule(r, g.Labels, place)
				if err != nil {
					return Rules{}, fmt.Errorf("reading the rule %s of the group %s: %w", cmp.Or(r.Record, r.Alert), g.Name, err)
				}
				group.rules = append(group.rules, rule)
			}
			rules.groups = append(rules.groups, group)
		}
	}
	return rules, nil
}

func newRule(r rulefmt.Rule, common map[string]string, place int) (rule, error) {
	expr, err := parser.ParseExpr(r.Expr)
	if err != nil {
		return rule{}, err
	}
	own := maps.Clone(common)
	if own == nil {
		own = map[string]string{}
	}
	maps.Copy(own, r.Labels)
	reads, reach := readBy(expr)
	return rule{
		name: cmp.Or(r.Record, r.Alert), alert: r.Alert != "", expr: expr, place: place, reads: reads, reach: reach,
		hold: time.Duration(r.For), keep: time.Duration(r.KeepFiringFor),
		labels: labels.FromMap(own), annotations: labels.FromMap(r.Annotations),
	}, nil
}

// read is the name of a metric that an expression reads.
type read struct {
	name string
	past bool // only samples from before the instant of the evaluation
	over bool // also samples that are older than what Prometheus looks back
}

// readBy returns what an expression reads, by name, and what else it may read.
func readBy(expr parser.Expr) ([]read, reach) {
	var reach reach
	found := map[string]*read{}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			name := cmp.Or(n.Name, exactName(n.LabelMatchers))
			if name == "" {
				reach.unnamed = true
				return nil
			}
			offset, ranged := pathOf(path)
			offset += n.OriginalOffset
			if found[name] == nil {
				found[name] = &read{name: name, past: true}
			}
			found[name].past = found[name].past && offset > 0
			found[name].over = found[name].over || ranged || offset > 0
			reach.ahead = reach.ahead || n.OriginalOffset < 0 || n.Timestamp != nil || n.StartOrEnd != 0
		case *parser.SubqueryExpr:
			reach.ahead = reach.ahead || n.OriginalOffset < 0 || n.Timestamp != nil || n.StartOrEnd != 0
		}
		return nil
	})
	var reads []read
	for _, name := range slices.Sorted(maps.Keys(found)) {
		reads = append(reads, *found[name])
	}
	return reads, reach
}

// pathOf is by how much the subqueries around a selector move it into the past, and whether it is of a range.
func pathOf(path []parser.Node) (offset time.Duration, ranged bool) {
	for _, node := range path {
		switch n := node.(type) {
		case *parser.SubqueryExpr:
			offset += n.OriginalOffset
			ranged = true
		case *parser.MatrixSelector:
			ranged = true
		}
	}
	return offset, ranged
}

// all returns every rule in the order of evaluation.
func (r Rules) all() []rule {
	var all []rule
	for _, g := range r.groups {
		all = append(all, g.rules...)
	}
	return all
}

// recorded are the names of the metrics that the rules record.
func (r Rules) recorded() map[string]bool {
	names := map[string]bool{alertsMetric: true, alertsForMetric: true}
	for _, rule := range r.all() {
		if !rule.alert {
			names[rule.name] = true
		}
	}
	return names
}

// raw are the names of the metrics that must be scraped: those that rules read and none records.
func (r Rules) raw() []string {
	recorded, found := r.recorded(), map[string]bool{}
	for _, rule := range r.all() {
		for _, read := range rule.reads {
			if !recorded[read.name] {
				found[read.name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// mentioned are the words of the annotations' templates that may be names of metrics: a template may ask for anything, so that every word is one.
func (r Rules) mentioned() map[string]bool {
	words := map[string]bool{}
	for _, rule := range r.all() {
		rule.annotations.Range(func(l labels.Label) {
			for _, word := range strings.FieldsFunc(l.Value, betweenNames) {
				words[word] = true
			}
		})
	}
	return words
}

func betweenNames(c rune) bool {
	return c != '_' && c != ':' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}

// relabeled are the rules with other values of the labels that they set: the file as it is written again after somebody changed a label in a spec. A label that a rule does not set is not added.
func (r Rules) relabeled(values map[string]string) Rules {
	changed := Rules{groups: slices.Clone(r.groups)}
	for i, g := range changed.groups {
		changed.groups[i].rules = slices.Clone(g.rules)
		for j, rule := range g.rules {
			b := labels.NewBuilder(rule.labels)
			for name, value := range values {
				if rule.labels.Has(name) {
					b.Set(name, value)
				}
			}
			changed.groups[i].rules[j].labels = b.Labels()
		}
	}
	return changed
}

// The series that Prometheus writes for alerts.
const (
	alertsMetric    = "ALERTS"
	alertsForMetric = "ALERTS_FOR_STATE"
)

// writes are the names of the metrics that a rule records.
func (r rule) writes() []string {
	if r.alert {
		return []string{alertsMetric, alertsForMetric}
	}
	return []string{r.name}
}
