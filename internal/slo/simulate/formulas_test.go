// Tests that our alerts fire and resolve by the arithmetic of internal/slo.
//
// SPDX-License-Identifier: Apache-2.0

// The race detector makes this ten times slower, and finds nothing here that it does not find in runners_test.go.
//go:build !race

package simulate

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// TestFormulas holds what our rules do in full outages and brown-outs against the plan's arithmetic: the alert fires within an evaluation of the failure that is needed, and does not resolve later than the plan says.
func TestFormulas(t *testing.T) {
	for _, cadence := range []time.Duration{15 * time.Second, 30 * time.Second} {
		windows, err := slo.WindowsFor(30 * slo.Day)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := slo.NewPlan(access(t).Objective, windows, cadence)
		if err != nil {
			t.Fatal(err)
		}
		plan.Scrape = cadence
		rules := ours(t, cadence).bare()
		for _, every := range []int{1, 10, 50} {
			t.Run(fmt.Sprintf("%s, every %d", cadence, every), func(t *testing.T) {
				r, err := Run(t.Context(), rules, access(t), &Scenario{
					Cadence: cadence, History: 73 * time.Hour, Duration: 18 * time.Hour, Events: []Event{{Kind: Failures, For: lasting, Every: every, First: 1}},
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, severity := range []slo.Severity{slo.Page, slo.Ticket} {
					checkFormula(t, r, plan, severity, every)
				}
			})
		}
	}
}

// lasting is how long probes fail in TestFormulas.
const lasting = 4 * time.Hour

func checkFormula(t *testing.T, r *Report, plan slo.Plan, severity slo.Severity, every int) {
	t.Helper()
	fires := time.Duration(1<<63 - 1)
	var latest time.Duration
	share := big.NewRat(1, int64(every))
	for _, tier := range plan.Windows.Of(severity) {
		if _, ok := plan.Detection(tier, share); ok {
			fires = min(fires, time.Duration(plan.Needed(tier)-1)*time.Duration(every)*plan.Cadence)
			reset, _ := plan.Reset(tier, share)
			latest = max(latest, reset)
		}
	}
	var got []*Episode
	for _, a := range r.Alerts {
		if a.Severity == severity.String() && a.Name == "EKSAccessBudgetBurn" {
			got = append(got, a.Episodes...)
		}
	}
	if len(got) != 1 {
		t.Fatalf("%s: fired %d times, want once", severity, len(got))
	}
	if at := got[0].FiringAt.Sub(r.Start); at < fires || at > fires+plan.Evaluation {
		t.Errorf("%s: fired after %s, want within %s of %s", severity, at, plan.Evaluation, fires)
	}
	probes := int(lasting / plan.Cadence)
	last := r.Start.Add(time.Duration((probes-1)/every*every) * plan.Cadence)
	if at := got[0].ResolvedAt.Sub(last); at > latest+plan.KeepFiringFor(severity)+plan.Evaluation {
		t.Errorf("%s: resolved %s after the last failure, want at most %s and %s of keep_firing_for", severity, at, latest, plan.KeepFiringFor(severity))
	}
}
