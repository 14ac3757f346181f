// Tests of whole runs: restarts of Prometheus and of the prober, replicas, changes of labels, and runs that end early.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestS17 restarts Prometheus in the middle of an outage: the page goes on, since no wait stands before it.
func TestS17RestartTurnsFiringAlertsBackToPending(t *testing.T) {
	r := reportOf(t, ours(t, 30*time.Second).bare(), &Scenario{Name: "restart", History: 12 * time.Hour, Duration: 3 * time.Hour, Events: []Event{
		{Kind: Outage, For: 30 * time.Minute}, {Kind: PrometheusDown, At: 10 * time.Minute, For: 2 * time.Minute},
	}})
	for _, a := range r.Alerts {
		if a.Name == "EKSAccessBudgetBurn" && (a.Fired() != 1 || len(a.Episodes) != 1) {
			t.Errorf("%s: %v", a.Severity, episodes(r))
		}
	}
	if lines := episodes(r); len(lines) != 2 || !strings.HasPrefix(lines[0], "page +1m to ") {
		t.Errorf("alerts: %v", lines)
	}
}

// TestS10 probes with two exporters, of which one may see nothing: the counts are those of one.
func TestS10ReplicasEachCountTheSameThing(t *testing.T) {
	run := func(events ...Event) *Report {
		all := append([]Event{{Kind: Failures, Ratio: .01}}, events...)
		return reportOf(t, ours(t, 30*time.Second).bare(), &Scenario{Name: "replicas", History: 2 * time.Hour, Duration: 8 * time.Hour, Seed: 5, Events: all})
	}
	alone := run().Budgets[0]
	for result, events := range map[string][]Event{
		"the same": {{Kind: Replica}}, "nothing": {{Kind: Replica, Result: unknown}},
	} {
		with := run(events...).Budgets[0]
		if math.Abs(*with.Bad30d-*alone.Bad30d) > .05 || math.Abs(*with.Total30d / *alone.Total30d - 1) > .001 || math.Abs(*with.Recorded-*alone.Recorded) > .01 {
			t.Errorf("a replica that sees %s: %v bad of %v, %v left; alone %v of %v, %v", result, *with.Bad30d, *with.Total30d, *with.Recorded, *alone.Bad30d, *alone.Total30d, *alone.Recorded)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	rules := rulesOf(t, "sloth.yaml")
	for want, s := range map[string]*Scenario{
		"running a scenario without a duration: nothing happens in it":        {},
		"running a scenario with a history of -1h0m0s: it cannot be negative": {Duration: time.Hour, History: -time.Hour},
	} {
		if r, err := Run(t.Context(), rules, access(t), s); r != nil || fmt.Sprint(err) != want {
			t.Errorf("report %v, error %v; want %s", r, err, want)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	why := errors.New("somebody has seen enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for name, instants := range map[string]bool{"by spans": false, "by instants": true} {
		if _, err := simulate(ctx, rulesOf(t, "sloth.yaml"), access(t), named(t, "outage-1m"), instants); !errors.Is(err, why) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Two rules that record one series are found out during the evaluation by spans, which then gives way to that by instants: in Prometheus the earlier rule wins and the later one fails.
func TestTwoRulesOneSeries(t *testing.T) {
	rules, err := ParseRules([]byte("groups: [{name: g, rules: [{record: r, expr: vector(1)}, {record: r, expr: vector(2)}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(t, rules, &Scenario{Name: "twice", Duration: time.Minute})
	if r.Failed != 3 || !strings.Contains(r.Errors[0].Error, "duplicate sample for timestamp") {
		t.Errorf("%d failed: %v", r.Failed, r.Errors)
	}
}

// The annotations of an alert that fires name the step and the reason that the scenario blames.
func TestAttribution(t *testing.T) {
	s := named(t, "outage-10m")
	s.Events[0].Step, s.Events[0].Reason = 2, "assume_role_denied"
	r := reportOf(t, ours(t, 30*time.Second), s)
	all := ""
	for _, text := range r.Alerts[0].Episodes[0].Annotations {
		all += text + "\n"
	}
	for _, want := range []string{"sts", "assume_role_denied"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in the annotations:\n%s", want, all)
		}
	}
}

// A run is the same each time, to the last annotation.
func TestRunAgain(t *testing.T) {
	first, second := reportOf(t, ours(t, 30*time.Second), everything()), reportOf(t, ours(t, 30*time.Second), everything())
	var texts [2]strings.Builder
	for i, r := range []*Report{first, second} {
		if err := r.JSON(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(texts[0].String(), texts[1].String()); diff != "" {
		t.Errorf("first - and second +:\n%.2000s", diff)
	}
}
