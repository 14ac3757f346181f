// Tests of cutting a verdict into the parts that people read.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func failedRun(step chain.Step, reason chain.Reason, detail string, facts chain.Facts) chain.Run {
	run := chain.Run{Target: chain.Target{Kind: chain.KindAccess}}
	for _, s := range chain.KindAccess.Steps() {
		result := chain.StepResult{Step: s, Outcome: chain.OutcomeSkipped}
		switch {
		case s < step:
			result.Outcome = chain.OutcomeSuccess
		case s == step:
			result = chain.StepResult{Step: s, Outcome: chain.OutcomeFailure, Reason: reason, Detail: detail, Facts: facts}
		}
		run.Steps = append(run.Steps, result)
	}
	run.Verdict = chain.Settle(run.Steps)
	run.Verdict.Fix = chain.Fix(step, reason, run.Facts())
	return run
}

func TestExplain(t *testing.T) {
	got := Explain(failedRun(chain.StepAccessEntry, chain.ReasonUnauthorizedUnexplained, "refused; ruled out: the clock; the name", chain.Facts{chain.FactRuledOut: "the clock; the name"}))
	if got.Why != "refused" {
		t.Errorf("why is %q", got.Why)
	}
	if diff := cmp.Diff([]string{"credentials, sts, token, endpoint: worked in this run", "the clock", "the name"}, got.RuledOut); diff != "" {
		t.Error(diff)
	}
	if row, _ := chain.LookupReason(chain.StepAccessEntry, chain.ReasonUnauthorizedUnexplained); got.Meaning != row.Meaning {
		t.Errorf("meaning is %q", got.Meaning)
	}
}

// Where the run lists nothing, the reason's own words serve.
func TestExplainByTheReason(t *testing.T) {
	got := Explain(failedRun(chain.StepCredentials, chain.ReasonRegionUnset, "no region", nil))
	if len(got.RuledOut) != 1 || !strings.Contains(got.RuledOut[0], "the resolver") {
		t.Errorf("ruled out is %q", got.RuledOut)
	}
}

func TestExplainASuccess(t *testing.T) {
	if got := Explain(chain.Run{Verdict: chain.Verdict{Outcome: chain.OutcomeSuccess}}); got.Meaning+got.Why != "" || got.RuledOut != nil || got.Fix != nil {
		t.Errorf("got %+v", got)
	}
}

// Every line of every fix is told right: what begins in lower case is a command.
func TestFixLines(t *testing.T) {
	for _, row := range chain.Reasons() {
		for _, line := range fixLines(row.Fix) {
			if lower := unicode.IsLower([]rune(line.Text)[0]); lower != line.Command {
				t.Errorf("%s: command=%t: %s", row.Reason, line.Command, line.Text)
			}
		}
	}
	want := []FixLine{{"aws configure list", true}, {"aws-auth is a ConfigMap", false}}
	if diff := cmp.Diff(want, fixLines("aws configure list\nRuled out: the clock.\naws-auth is a ConfigMap")); diff != "" {
		t.Error(diff)
	}
}
