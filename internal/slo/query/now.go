// The present values: counts of windows and of the period, coverage, age, and the alerts that fire.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// readNow asks for what is recorded now. Groups are those of which events are counted; objective and period have no group, and are those of every group of the SLO.
func (q *asking) readNow(ctx context.Context) (func(), error) {
	vector, err := q.vector(ctx, q.selection.ofAny(named(recordedNow)))
	return func() {
		for _, sample := range vector {
			switch name := string(sample.Metric[model.MetricNameLabel]); {
			case name == metricObjective || name == metricPeriodDays:
				q.loaded = append(q.loaded, sample)
			case strings.HasPrefix(name, eventsPrefix) || strings.HasPrefix(name, badPrefix):
				if labels, _ := q.groups.identity(sample.Metric, ""); q.selection.matches(labels) {
					q.groups.open(sample.Metric)
				}
			}
		}
		for _, sample := range vector {
			name := string(sample.Metric[model.MetricNameLabel])
			if splits[name] != "" {
				q.keepThen(sample.Metric, 0, float64(sample.Value))
			} else if g := q.groups.of(sample.Metric, ""); g != nil {
				g.set(name, float64(sample.Value))
			}
		}
		for _, sample := range q.loaded {
			for _, g := range q.groups.all {
				if g.id == string(sample.Metric[labelID]) {
					g.set(string(sample.Metric[model.MetricNameLabel]), float64(sample.Value))
				}
			}
		}
	}, err
}

// readEvaluations asks when that was recorded.
func (q *asking) readEvaluations(ctx context.Context) (func(), error) {
	vector, err := q.vector(ctx, "timestamp("+eventsPrefix+suffixPeriod+q.selection.ofGroup()+")")
	return func() {
		for _, sample := range vector {
			if g := q.groups.of(sample.Metric, ""); g != nil && g.sound("the time of an evaluation", float64(sample.Value)) {
				g.evaluated = later(g.evaluated, seconds(sample.Value))
			}
		}
	}, err
}

// readAlerts asks for the burn alerts that fire. An alert has labels of its own besides those of its group.
func (q *asking) readAlerts(ctx context.Context) (func(), error) {
	vector, err := q.vector(ctx, "ALERTS"+q.selection.ofGroup(`alertstate="firing"`, `sloth_severity=~"page|ticket"`, `alertname!~"`+otherAlerts+`"`))
	return func() {
		for _, sample := range vector {
			severity := slo.Ticket
			if string(sample.Metric["sloth_severity"]) == slo.Page.String() {
				severity = slo.Page
			}
			for _, g := range q.groups.all {
				if g.id == string(sample.Metric[labelID]) && g.within(sample.Metric) && !slices.Contains(g.firing, severity) {
					g.firing = append(g.firing, severity)
					slices.Sort(g.firing)
				}
			}
		}
	}, err
}

// within says whether something with these labels is of the group.
func (g *group) within(metric model.Metric) bool {
	for label, value := range g.labels {
		if string(metric[model.LabelName(label)]) != value {
			return false
		}
	}
	return true
}

// readNewest asks for the newest data of groups whose rules see none any more: within a day it is old, and not absent.
func (q *asking) readNewest(ctx context.Context) (func(), error) {
	missing := slices.ContainsFunc(q.groups.sorted(), func(g *group) bool { _, ok := g.value(metricNewest); return !ok })
	if !missing {
		return func() {}, nil
	}
	vector, err := q.vector(ctx, "last_over_time("+metricNewest+q.selection.ofGroup()+"[1d])")
	return func() {
		for _, sample := range vector {
			if g := q.groups.of(sample.Metric, ""); g != nil {
				g.set(metricNewest, float64(sample.Value))
			}
		}
	}, err
}

func seconds(value model.SampleValue) time.Time {
	return time.UnixMilli(int64(float64(value)*1000 + .5)).UTC()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// status makes a status of what is known. It is nothing when the group has a problem then.
func (g *group) status() slo.Status {
	spent, counted := g.counted(suffixPeriod)
	if _, events := g.value(eventsPrefix + suffixPeriod); !counted || g.evaluated.IsZero() {
		missing := badPrefix + suffixPeriod
		if !events || g.evaluated.IsZero() {
			missing = eventsPrefix + suffixPeriod
		}
		g.fail(errorOf(KindNoData, "there is no %s of %s, although others of its series are there", missing, g))
	}
	s := slo.Status{ID: g.id, Service: g.service, Name: g.name, Labels: g.labels, Period: g.period(), At: g.evaluated, Firing: g.firing}
	ratio, known := g.value(metricObjective)
	var err error
	if s.Objective, err = objective(ratio); !known {
		g.fail(errorOf(KindNoData, "there is no %s of %s", metricObjective, g.id))
	} else if err != nil {
		g.fail(errorOf(KindNotANumber, "%s of %s is %v, which is no objective", metricObjective, g.id, ratio))
	}
	if g.problem != nil {
		return slo.Status{}
	}
	s.Spent = spent.rounded()
	if newest, ok := g.value(metricNewest); ok {
		s.Newest = seconds(model.SampleValue(newest))
	}
	s.Windows = g.windows()
	s.Hours = g.hours()
	s.Observed = g.now[metricObserved] // 0 when it is not known
	s.Coverage, s.CoverageHour = g.share(metricPeriodCoverage), g.share(metricCoverage)
	if s.Coverage != nil && *s.Coverage > 0 {
		s.Spent.Slots = whole(spent.events / *s.Coverage)
	}
	var steps, reasons []slo.Part
	for c, bad := range g.causes {
		switch {
		case c.hour >= int(s.Period/time.Hour):
		case c.split == splits[metricBySteps]:
			steps = append(steps, slo.Part{Step: c.value, Bad: bad})
		default:
			reasons = append(reasons, slo.Part{Reason: c.value, Bad: bad})
		}
	}
	s.Steps, s.Causes = slo.Attribute(s.Spent.Bad, steps), slo.Attribute(s.Spent.Bad, reasons)
	return s
}

// period is that of the SLO. It is the group's problem when it is not known.
func (g *group) period() time.Duration {
	days, ok := g.value(metricPeriodDays)
	if !ok {
		g.fail(errorOf(KindNoData, "there is no %s of %s", metricPeriodDays, g.id))
		return 0
	}
	const longest = 366
	if days < 1 || days > longest || days != float64(int(days)) {
		g.fail(errorOf(KindNotANumber, "%s of %s is %v, which is no period", metricPeriodDays, g.id, days))
		return 0
	}
	return time.Duration(days) * slo.Day
}

// windows are those of which both counts are known.
func (g *group) windows() []slo.Window {
	var known []slo.Window
	for _, w := range windows {
		counted, ok := g.counted("increase" + w.name)
		if !ok {
			continue
		}
		window := slo.Window{Length: w.length, Counts: counted.rounded()}
		if w.length == time.Hour {
			window.Slots = whole(g.now[metricSlots])
		}
		known = append(known, window)
	}
	return known
}

func (g *group) share(name string) *float64 {
	if value, ok := g.value(name); ok {
		return &value
	}
	return nil
}
