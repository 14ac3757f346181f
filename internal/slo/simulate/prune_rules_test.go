// Parts of a rule file: the rules that something needs, so that a question about one alert does not cost the evaluation of all.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// keep returns the rules for which a question is answered with yes, in their groups.
func (r Rules) keep(wanted func(rule) bool) Rules {
	var kept Rules
	for _, g := range r.groups {
		g.rules = slices.DeleteFunc(slices.Clone(g.rules), func(r rule) bool { return !wanted(r) })
		if len(g.rules) > 0 {
			kept.groups = append(kept.groups, g)
		}
	}
	return kept
}

// needed returns the rules that some rules read, and these themselves.
func (r Rules) needed(roots func(rule) bool) Rules {
	writers := map[string][]rule{}
	for _, rule := range r.all() {
		for _, name := range rule.writes() {
			writers[name] = append(writers[name], rule)
		}
	}
	places := map[int]bool{}
	var add func(rule)
	add = func(rule rule) {
		if places[rule.place] {
			return
		}
		places[rule.place] = true
		for _, read := range rule.reads {
			for _, writer := range writers[read.name] {
				add(writer)
			}
		}
	}
	for _, rule := range r.all() {
		if roots(rule) {
			add(rule)
		}
	}
	return r.keep(func(rule rule) bool { return places[rule.place] })
}

// readOverTime asks of a recording whether a rule reads more of it than its latest sample.
func (r Rules) readOverTime() func(rule) bool {
	over := map[string]bool{}
	for _, rule := range r.all() {
		for _, read := range rule.reads {
			over[read.name] = over[read.name] || read.over
		}
	}
	return func(rule rule) bool { return !rule.alert && over[rule.name] }
}

// severity is what an alert is to those who get it: the label sloth_severity, or severity.
func (r rule) severity() string {
	if severity := r.labels.Get("sloth_severity"); severity != "" {
		return severity
	}
	return r.labels.Get("severity")
}

// bare returns the rules without annotations, which cost queries and change nothing.
func (r Rules) bare() Rules {
	bare := r.keep(func(rule) bool { return true })
	for _, g := range bare.groups {
		for i := range g.rules {
			g.rules[i].annotations = labels.EmptyLabels()
		}
	}
	return bare
}
