// The measures of alerts, of gaps, and of what the rules cost.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// lead is a history that fills every window of a page.
const lead = 12 * time.Hour

func notFiniteIn(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	r, err := Run(ctx, rules, c.SLO, &Scenario{
		Name: "silence", History: 2 * time.Hour, Duration: 8 * time.Hour,
		Events: []Event{{Kind: Outage, At: 30 * time.Minute, For: 5 * time.Minute}, {Kind: Dead, At: time.Hour, For: time.Hour}, {Kind: Unscraped, At: 4 * time.Hour, For: time.Hour}},
	})
	if err != nil {
		return 0, err
	}
	return float64(r.NotFinite), nil
}

func failuresIn(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	r, err := Run(ctx, rules, c.SLO, &Scenario{
		Name: "changes", Duration: 8 * time.Hour,
		Events: []Event{
			{Kind: Restart, At: time.Hour, For: time.Minute}, {Kind: Replace, At: 2 * time.Hour}, {Kind: Unscraped, At: 3 * time.Hour, For: 10 * time.Minute},
			{Kind: Replica, At: 4 * time.Hour, For: time.Hour}, {Kind: PrometheusDown, At: 6 * time.Hour, For: 10 * time.Minute},
		},
	})
	if err != nil {
		return 0, err
	}
	return float64(r.Failed), nil
}

func falsePages(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	pages, err := FalseAlarms(ctx, rules, c.SLO, Chance{Probability: .0005, Severity: "page", Months: c.Months, Seed: 1})
	return float64(pages) / float64(max(c.Months, 1)), err
}

// outageToPage begins the outage just after a probe, and scrapes just before one: no outage is seen later.
func outageToPage(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	return c.firstAlert(ctx, rules, &Scenario{
		Name: "outage", History: lead, Duration: time.Hour, EvaluationOffset: 14 * time.Second,
		Events: []Event{{Kind: Outage, At: time.Second}},
	}, func(r rule) bool { return r.severity() == "page" && r.readsRatios() })
}

func blindness(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	return c.firstAlert(ctx, rules, &Scenario{
		Name: "blind", History: 2 * lead, Duration: time.Hour,
		Events: []Event{{Kind: Outage}, {Kind: Unscraped}},
	}, func(r rule) bool { return r.severity() == "page" })
}

// firstAlert is after how many seconds the first of some alerts fires; infinite when none does.
func (c Comparison) firstAlert(ctx context.Context, rules Rules, s *Scenario, of func(rule) bool) (float64, error) {
	r, err := Run(ctx, rules.needed(func(r rule) bool { return r.alert && of(r) }).bare(), c.SLO, s)
	if err != nil {
		return 0, err
	}
	first := math.Inf(1)
	for _, a := range r.Alerts {
		for _, e := range a.Episodes {
			if !e.FiringAt.IsZero() {
				first = min(first, e.FiringAt.Sub(r.Start).Seconds())
			}
		}
	}
	return first, nil
}

func pageFlaps(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	pages := rules.needed(func(r rule) bool { return r.alert && r.severity() == "page" && r.readsRatios() }).bare()
	r, err := Run(ctx, pages, c.SLO, &Scenario{
		Name: "brownout", History: lead, Duration: lead, Events: []Event{{Kind: Failures, For: 3 * time.Hour, Every: 50, First: 20}},
	})
	if err != nil {
		return 0, err
	}
	flaps := 0
	for _, a := range r.Alerts {
		flaps += a.Flaps(lead)
	}
	return float64(flaps), nil
}

func firstMinutes(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	alerts := 0
	for _, at := range []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute, 9 * time.Minute} {
		r, err := Run(ctx, rules.bare(), c.SLO, &Scenario{Name: "first minutes", Duration: 8 * time.Hour, Events: []Event{{Kind: Outage, At: at, For: c.Cadence}}})
		if err != nil {
			return 0, err
		}
		for _, a := range r.Alerts {
			alerts += a.Fired()
		}
	}
	return float64(alerts), nil
}

// labelGap is the longest time for which a recording has no sample after the value of a label in the spec has changed.
func labelGap(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	scenario := &Scenario{Name: "relabelled", History: 2 * time.Hour, Duration: 2 * time.Hour, Events: []Event{
		{Kind: Failures, At: -time.Hour, Every: 10}, // so that there are causes to record
		{Kind: Relabel, Labels: map[string]string{"team": "second"}},
	}}
	s := scenario.withDefaults(c.Cadence)
	w, err := s.world(rules, c.SLO)
	if err != nil {
		return 0, err
	}
	run, err := w.evaluated(ctx, rules.bare(), false)
	if err != nil {
		return 0, err
	}
	var longest int64
	for _, g := range rules.groups {
		steps := run.steps(span{from: s.zero(), to: s.end()}, g)
		for _, rule := range g.rules {
			if !rule.alert {
				longest = max(longest, steps.interval*w.missing(rule.name, steps))
			}
		}
	}
	return float64(longest) / 1000, nil
}

// missing is at how many steps in a row a recording has no sample, at most.
func (w *world) missing(name string, over steps) int64 {
	there := map[int64]bool{}
	for _, c := range w.store.selected(over.first, over.last, []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, name)}) {
		for _, p := range c.points {
			there[p.T] = there[p.T] || !value.IsStaleNaN(p.F)
		}
	}
	var longest, missing int64
	for at := over.first; at <= over.last; at += over.interval {
		missing++
		if there[at] {
			missing = 0
		}
		longest = max(longest, missing)
	}
	return longest
}

// samplesRead is how many samples the rules read a minute when they have a month behind them.
func samplesRead(ctx context.Context, c Comparison, rules Rules) (float64, error) {
	scenario := month("cost")
	s := scenario.withDefaults(c.Cadence)
	bare := rules.bare()
	w, err := s.world(bare, c.SLO)
	if err != nil {
		return 0, err
	}
	recent := s.end() - lookback.Milliseconds()
	run := newRun(w.store, s.EvaluationInterval, 0, []span{
		{from: s.begin(), to: recent - 1, rules: bare.needed(bare.readOverTime()), fresh: true},
		{from: recent, to: s.end(), rules: bare},
	})
	if err := run.bySpans(ctx); err != nil {
		return 0, err
	}
	var read float64
	for _, g := range bare.groups {
		interval := g.interval
		if interval == 0 {
			interval = 30 * time.Second // as ours, which say theirs
		}
		for _, rule := range g.rules {
			query, err := run.engine.NewInstantQuery(ctx, w.store, nil, rule.expr.String(), instant(s.end()))
			if err != nil {
				return 0, err
			}
			if result := query.Exec(ctx); result.Err != nil {
				return 0, result.Err
			}
			read += float64(query.Stats().Samples.TotalSamples) * float64(time.Minute) / float64(interval)
		}
	}
	return read, nil
}
