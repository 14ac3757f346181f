// Tests that the evaluation by spans gives what the evaluation by instants gives: every sample, every alert, every error.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

const (
	errorQuery = `sum by (cluster, identity) (increase(eks_access_probes_total{result="failure"}[{{.window}}]))`
	totalQuery = `sum by (cluster, identity) (increase(eks_access_probes_total{result=~"success|failure"}[{{.window}}]))`
)

func rulesOf(t testing.TB, file string) Rules {
	t.Helper()
	content, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := ParseRules(content)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func access(t testing.TB) SLO {
	t.Helper()
	objective, err := slo.ParseObjective("99.9")
	if err != nil {
		t.Fatal(err)
	}
	return SLO{ID: "eks-access-availability", Objective: objective, Period: 30 * slo.Day, Cadence: 30 * time.Second, ErrorQuery: errorQuery, TotalQuery: totalQuery}
}

// everything is a scenario in which all happens that a runner must get right.
func everything() *Scenario {
	return &Scenario{
		Name: "everything", History: 20 * time.Minute, Duration: 4 * time.Hour, Cadence: 30 * time.Second, Seed: 7,
		Events: []Event{
			{Kind: Outage, At: 5 * time.Minute, For: 4 * time.Minute},
			{Kind: Failures, At: 20 * time.Minute, For: 20 * time.Minute, Ratio: .1},
			{Kind: ScrapeLoss, At: 10 * time.Minute, For: time.Hour, Ratio: .1},
			{Kind: Restart, At: 40 * time.Minute, For: time.Minute},
			{Kind: Unscraped, At: 50 * time.Minute, For: 10 * time.Minute},
			{Kind: Replica, At: 30 * time.Minute, For: time.Hour},
			{Kind: Dead, At: 70 * time.Minute, For: 12 * time.Minute},
			{Kind: Relabel, At: 95 * time.Minute, Labels: map[string]string{"team": "other", "sloth_slo": "availability"}},
			{Kind: Outage, At: 100 * time.Minute, For: 5 * time.Minute},
			{Kind: PrometheusDown, At: 104 * time.Minute, For: 9*time.Minute + 5*time.Second},
			{Kind: PrometheusDown, At: 113*time.Minute + 20*time.Second, For: 20 * time.Second}, // leaves a time in which no group is due
			{Kind: Replace, At: 130 * time.Minute},
			{Kind: Failures, At: 140 * time.Minute, For: 60 * time.Minute, Every: 40},
		},
	}
}

func TestSpansAreInstants(t *testing.T) {
	for file, rules := range map[string]Rules{"plain Sloth": rulesOf(t, "sloth.yaml"), "awkward": rulesOf(t, "awkward.yaml"), "ours": ours(t, 30*time.Second)} {
		t.Run(file, func(t *testing.T) {
			if _, err := newPlan(rules); err != nil {
				t.Fatal(err)
			}
			var runs [2]*run
			for i, instants := range []bool{false, true} {
				s := everything().withDefaults(0)
				w, err := s.world(rules, access(t))
				if err != nil {
					t.Fatal(err)
				}
				runs[i] = newRun(w.store, s.EvaluationInterval, 0, s.spans(rules))
				runs[i].pieces, runs[i].piece = 50, 7
				evaluate := runs[i].bySpans
				if instants {
					evaluate = runs[i].byInstants
				}
				if err := evaluate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			spans, instants := runs[0], runs[1]
			if diff := cmp.Diff(samples(instants.store), samples(spans.store)); diff != "" {
				t.Errorf("samples, by instants - and by spans +:\n%.3000s", diff)
			}
			unexported := cmpopts.IgnoreUnexported(Alert{}, Episode{}, EvaluationError{})
			if diff := cmp.Diff(instants.sortedAlerts(), spans.sortedAlerts(), unexported); diff != "" {
				t.Errorf("alerts, by instants - and by spans +:\n%.3000s", diff)
			}
			if diff := cmp.Diff(instants.errors, spans.errors, unexported, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("errors, by instants - and by spans +:\n%.3000s", diff)
			}
			if spans.count != instants.count {
				t.Errorf("evaluations: %d by spans, %d by instants", spans.count, instants.count)
			}
			if len(spans.alerts) < 2 || file == "awkward" && len(spans.errors) == 0 {
				t.Errorf("%d alerts and %d errors: the scenario shows too little", len(spans.alerts), len(spans.errors))
			}
		})
	}
}

// samples are those of a store by series, as bits: NaN is not equal to itself.
func samples(s *store) map[string][][2]uint64 {
	all := map[string][][2]uint64{}
	for _, c := range s.all() {
		for _, p := range c.points {
			all[c.labels.String()] = append(all[c.labels.String()], [2]uint64{uint64(p.T), math.Float64bits(p.F)})
		}
	}
	return all
}
