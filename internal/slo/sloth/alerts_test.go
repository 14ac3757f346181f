// Alerts over time: what fires, what it says, and that a change of labels disturbs nothing.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

func TestChangedLabelsBreakNoRecording(t *testing.T) {
	t.Parallel()
	spec := read(t, "testdata/access.yaml")
	load := func(w *world, team string) {
		spec.SLOs[0].Labels = map[string]string{"team": team}
		rules, err := Generate(t.Context(), spec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.load(rules)
	}
	w := newWorld(t, Options{}, &prober{slot: always(good)})
	w.run(30 * time.Minute)
	load(w, "other")
	w.run(30 * time.Minute)
	last := map[string]time.Time{}
	w.recorded(func(series labels.Labels, at time.Time, _ float64) {
		key := series.String()
		if before, seen := last[key]; seen && at.Sub(before) > slowInterval {
			t.Errorf("%s has a gap of %s", series, at.Sub(before))
		}
		if series.Has("team") && series.Get("__name__") != "sloth_slo_info" {
			t.Errorf("%s carries a label of the user", series)
		}
		last[key] = at
	})
	w.checkSamples()
	if got := w.value(`count(sloth_slo_info{team="other"})`); got != 1 {
		t.Errorf("%v of sloth_slo_info carry the new label", got)
	}
}

// TestSteadyFailuresDoNotFlap has a share of failures just above the quick tier's after a calm that is longer than the slow tier's window: the quick tier holds for 5 minutes of every 16.
func TestSteadyFailuresDoNotFlap(t *testing.T) {
	t.Parallel()
	const calm = 6*time.Hour + 10*time.Minute
	n := 0
	w := newSlowWorld(t, Options{}, &prober{slot: func(at time.Time) result {
		if n++; n%66 == 0 && between(at, calm, calm+3*time.Hour) {
			return bad
		}
		return good
	}})
	w.run(calm)
	want := []string{"EKSAccessBudgetBurn ticket", "EKSAccessBudgetBurn page, EKSAccessBudgetBurn ticket", "EKSAccessBudgetBurn ticket"}
	if diff := cmp.Diff(want, w.transitions(4*time.Hour+20*time.Minute)); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
}

func TestAlertsExplainThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, &prober{slot: outage(50*time.Minute, 55*time.Minute, always(good))})
	w.run(56 * time.Minute)
	got := map[string]string{}
	for _, group := range w.groups {
		for _, rule := range group.AlertingRules() {
			for _, alert := range rule.ActiveAlerts() {
				if alert.Labels.Get("sloth_severity") == slo.Page.String() {
					got = alert.Annotations.Map()
				}
			}
		}
	}
	want := map[string]string{
		"title":                   "(page) eks-access availability SLO error budget burn rate is too fast.",
		"summary":                 "eks-access availability SLO error budget burn rate is over expected.",
		"burn_rate":               "90.1 times an even burn over the last 1h",
		"failures":                "20 of 222 events in the last 1h",
		"budget_left":             "-19.8 of 0.2 events, -8909.0 %, of the last 30d",
		"exhaustion":              "the budget is spent",
		"most_failures_by_step":   "sts",
		"most_failures_by_reason": "sts_unreachable",
		"runbook_url":             "docs/runbooks/access-budget-burn.md",
		"target_page":             "https://exporter.example.com/targets/ci@prod",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
