// The measures of the period's budget: what is recorded at the end of a month, against the truth.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// month is a scenario whose period is full at its end.
func month(name string, events ...Event) *Scenario {
	return &Scenario{Name: name, History: 12 * time.Hour, Duration: 30 * slo.Day, Seed: 11, Events: events}
}

func steady() *Scenario {
	return month("steady", Event{Kind: Failures, Ratio: .0004}, Event{Kind: Outage, At: 10 * slo.Day, For: 15 * time.Minute})
}

func bursty() *Scenario {
	s := month("bursty")
	for day := range 30 {
		s.Events = append(s.Events, Event{Kind: Load, At: time.Duration(day) * slo.Day, For: 12 * time.Hour, Count: 100})
	}
	s.Events = append(s.Events,
		Event{Kind: Failures, At: 7*slo.Day + 5*time.Hour, For: 2 * time.Hour, Ratio: .5},
		Event{Kind: Failures, At: 20*slo.Day + 15*time.Hour, For: 2 * time.Hour, Ratio: .5})
	return s
}

func slowed() *Scenario {
	return month("slowed",
		Event{Kind: Outage, At: 5 * slo.Day, For: 3 * time.Hour}, Event{Kind: Slow, At: 5 * slo.Day, For: 3 * time.Hour, Every: 2},
		Event{Kind: Outage, At: 15*slo.Day + 31*time.Minute, For: time.Hour}, Event{Kind: Slow, At: 15*slo.Day + 31*time.Minute, For: time.Hour, Every: 2})
}

func lost() *Scenario {
	s := steady()
	s.Name = "lost"
	s.Events = append(s.Events, Event{Kind: ScrapeLoss, Ratio: .1})
	return s
}

func restarted() *Scenario {
	s := steady()
	s.Name = "restarted"
	for day := range 30 {
		s.Events = append(s.Events, Event{Kind: Restart, At: time.Duration(day)*slo.Day + 3*time.Hour, For: 30 * time.Second})
	}
	return s
}

func periodError(name string, scenario func() *Scenario) measure {
	return measure{
		name: "error of the budget left after a month: " + name, bound: "at most 0.1 % of the budget", most: .001, write: share,
		take: func(ctx context.Context, c Comparison, rules Rules) (float64, error) {
			recorded, truth, err := budgetLeft(ctx, c.SLO, rules, scenario())
			return math.Abs(recorded - truth), err
		},
	}
}

// readOnce are recordings that no rule reads over time: to know them at the end, they are evaluated at the end.
var readOnce = map[string]bool{ratioPrefix + "30d": true, "slo:period_burn_rate:ratio": true, remaining: true, badPeriod: true, eventsPeriod: true}

// budgetLeft is the share of the budget that is left at the end, as recorded and in truth. Recorded is NaN when nothing is.
func budgetLeft(ctx context.Context, about SLO, rules Rules, scenario *Scenario) (recorded, truth float64, err error) {
	s := scenario.withDefaults(about.Cadence)
	needed := rules.needed(func(r rule) bool { return r.name == remaining }).bare()
	w, err := s.world(needed, about)
	if err != nil {
		return 0, 0, err
	}
	before := span{from: s.begin(), to: s.end() - 1, rules: needed.keep(func(r rule) bool { return !readOnce[r.name] }), fresh: true}
	run := newRun(w.store, s.EvaluationInterval, 0, []span{before, {from: s.end(), to: s.end(), rules: needed}})
	if err := run.bySpans(ctx); err != nil {
		return 0, 0, err
	}
	counts, err := w.counts(ctx, about)
	if err != nil {
		return 0, 0, err
	}
	if len(counts) != 1 {
		return 0, 0, fmt.Errorf("counting the events of the scenario %s: there are %d groups, not one", s.Name, len(counts))
	}
	b := w.budget(counts[0], about)
	if b.Recorded == nil {
		return math.NaN(), b.Left, nil
	}
	return *b.Recorded, b.Left, nil
}

// replicas is a few days with failures, and another prober for some of them.
func replicas(event ...Event) *Scenario {
	return &Scenario{
		Name: "replicas", History: 12 * time.Hour, Duration: 3 * slo.Day, Seed: 11,
		Events: append([]Event{{Kind: Failures, Ratio: .001}, {Kind: Outage, At: 40 * time.Hour, For: 10 * time.Minute}}, event...),
	}
}

// withReplica is by how much another prober changes the budget left.
func withReplica(result string) func(context.Context, Comparison, Rules) (float64, error) {
	return func(ctx context.Context, c Comparison, rules Rules) (float64, error) {
		alone, _, err := budgetLeft(ctx, c.SLO, rules, replicas())
		both, _, err2 := budgetLeft(ctx, c.SLO, rules, replicas(Event{Kind: Replica, At: 30 * time.Hour, For: 20 * time.Hour, Result: result}))
		return math.Abs(alone - both), errors.Join(err, err2)
	}
}

var (
	replicaError      = withReplica("")
	blindReplicaError = withReplica(unknown)
)
