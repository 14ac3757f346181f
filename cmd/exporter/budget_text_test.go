// Tests of the table of budgets.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

func TestBudgetText(t *testing.T) {
	burning, quiet, spent, young, silent := gateStatus(t, "eks-access-availability", 25), gateStatus(t, "eks-access-latency", 0), gateStatus(t, "eks-access-rbac", 130), gateStatus(t, "shop", 1), gateStatus(t, "void", 0)
	quiet.Steps, quiet.Causes = nil, nil
	spent.Firing, spent.Steps, spent.Causes = []slo.Severity{slo.Page, slo.Ticket}, []slo.Cause{{Bad: 130}}, []slo.Cause{{Bad: 130}}
	young.Observed, young.Spent.Events, young.Coverage = .25, 21_600, nil
	silent.Spent, silent.Windows, silent.Observed = slo.Counts{}, nil, 0
	rows := slo.BudgetRows([]slo.Status{burning, quiet, spent, young, silent}, []slo.Problem{{ID: "zone", Labels: map[string]string{"zone": "a"}, Trouble: slo.Trouble{Kind: "no_data", Message: "there is no slo:events:period"}}})
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	var again []slo.BudgetRow // as a caller of the API reads them
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "budget.golden"), budgetText(again))
	if got := budgetText(nil); got != "no SLOs\n" {
		t.Errorf("of nothing it is %q", got)
	}
}

func TestSpentIn(t *testing.T) {
	at := gateAsked.Add(50 * time.Hour)
	for want, e := range map[string]slo.Exhausted{"2d": {Kind: "in", At: &at}, "never": {Kind: "never"}, "spent": {Kind: "spent"}, "unknown": {Kind: "unknown"}} {
		if got := spentIn(slo.Figures{AsOf: gateAsked, Exhaustion: e}); got != want {
			t.Errorf("%+v is %s, want %s", e, got, want)
		}
	}
}
