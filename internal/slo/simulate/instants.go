// Evaluation instant by instant, by the rule groups of Prometheus themselves: slow, and what the evaluation by spans is held to.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"net/url"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// live is a rule group of Prometheus beside what it was made from.
type live struct {
	group
	running *rules.Group
	rules   []rules.Rule
}

// byInstants evaluates every group at every instant.
func (r *run) byInstants(ctx context.Context) error {
	var running []live
	for _, span := range r.spans {
		running = r.load(span, running)
		for at, due := range r.timetable(span) {
			for _, i := range due {
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				r.evaluate(ctx, running[i], at)
			}
		}
	}
	r.sortErrors()
	return nil
}

// load makes the groups of a span. Those that were running hand over their state, as at a reload, unless Prometheus has restarted.
func (r *run) load(s span, before []live) []live {
	loaded := make([]live, len(s.rules.groups))
	for i, g := range s.rules.groups {
		loaded[i] = live{group: g}
		for _, rule := range g.rules {
			loaded[i].rules = append(loaded[i].rules, newLive(rule))
		}
		offset := g.offset
		loaded[i].running = rules.NewGroup(rules.GroupOptions{
			Name: g.name, Interval: r.interval, Limit: g.limit, Rules: loaded[i].rules, QueryOffset: &offset,
			Opts: &rules.ManagerOptions{
				QueryFunc: rules.EngineQueryFunc(r.engine, r.store), Appendable: r.store, Queryable: r.store,
				NotifyFunc:  func(context.Context, string, ...*rules.Alert) {},
				ExternalURL: &url.URL{}, Logger: promslog.NewNopLogger(),
			},
		})
		if i < len(before) && !s.fresh {
			loaded[i].running.CopyState(before[i].running)
		}
	}
	return loaded
}

// newLive makes the rule of Prometheus.
func newLive(r rule) rules.Rule {
	if r.alert {
		return newAlerting(r, r.annotations)
	}
	return rules.NewRecordingRule(r.name, r.expr, r.labels)
}

func newAlerting(r rule, annotations labels.Labels) *rules.AlertingRule {
	return rules.NewAlertingRule(r.name, r.expr, r.hold, r.keep, r.labels, annotations, labels.EmptyLabels(), "", true, promslog.NewNopLogger())
}

func (r *run) evaluate(ctx context.Context, g live, at int64) {
	g.running.Eval(ctx, instant(at))
	r.count += len(g.rules)
	for i, rule := range g.rules {
		if err := rule.LastError(); err != nil {
			r.failed(at, g.group.rules[i], err)
			continue
		}
		if alerting, ok := rule.(*rules.AlertingRule); ok {
			r.observe(g.group.rules[i], at, alerting.ActiveAlerts())
		}
	}
}

// timetable yields the instants of a span in order, and which groups are due then.
func (r *run) timetable(s span) func(yield func(int64, []int) bool) {
	due := make([]steps, len(s.rules.groups))
	for i, g := range s.rules.groups {
		due[i] = r.steps(s, g)
	}
	return func(yield func(int64, []int) bool) {
		for {
			next := s.to + 1
			var groups []int
			for i, d := range due {
				switch {
				case d.none() || d.first > next:
				case d.first < next:
					next, groups = d.first, []int{i}
				default:
					groups = append(groups, i)
				}
			}
			if next > s.to || !yield(next, groups) {
				return
			}
			for _, i := range groups {
				due[i].first += due[i].interval
			}
		}
	}
}
