// Tests of the verdict's truth table and of what a run knows.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"maps"
	"testing"
	"time"
)

func TestSettle(t *testing.T) {
	ok := StepResult{Outcome: OutcomeSuccess}
	skipped := StepResult{Outcome: OutcomeSkipped}
	unsure := func(step Step, reason Reason) StepResult {
		return StepResult{Step: step, Outcome: OutcomeUnknown, Reason: reason, Detail: "unsure"}
	}
	broken := func(step Step, reason Reason) StepResult {
		return StepResult{Step: step, Outcome: OutcomeFailure, Reason: reason, Detail: "broken"}
	}
	nothing := Verdict{Outcome: OutcomeUnknown, Reason: ReasonReadFailed}
	throttled := Verdict{Outcome: OutcomeUnknown, Step: StepToken, Reason: ReasonEKSAPIThrottled, Detail: "unsure"}
	denied := Verdict{Outcome: OutcomeFailure, Step: StepRBAC, Reason: ReasonDenied, Detail: "broken"}
	cases := map[string]struct {
		steps []StepResult
		want  Verdict
	}{
		"no step":                         {nil, nothing},
		"all skipped":                     {[]StepResult{skipped, skipped}, nothing},
		"all succeeded":                   {[]StepResult{ok, ok}, Verdict{Outcome: OutcomeSuccess}},
		"succeeded, rest skipped":         {[]StepResult{ok, skipped}, Verdict{Outcome: OutcomeSuccess}},
		"skipped, then succeeded":         {[]StepResult{skipped, ok}, Verdict{Outcome: OutcomeSuccess}},
		"one failed":                      {[]StepResult{ok, broken(StepRBAC, ReasonDenied)}, denied},
		"the first failure is blamed":     {[]StepResult{broken(StepRBAC, ReasonDenied), broken(StepHealth, ReasonInitialStuck)}, denied},
		"failure goes before unknown":     {[]StepResult{unsure(StepToken, ReasonEKSAPIThrottled), ok, broken(StepRBAC, ReasonDenied)}, denied},
		"unknown goes before success":     {[]StepResult{ok, unsure(StepToken, ReasonEKSAPIThrottled), ok}, throttled},
		"the first unknown is named":      {[]StepResult{unsure(StepToken, ReasonEKSAPIThrottled), unsure(StepRBAC, ReasonReadFailed)}, throttled},
		"unknown, rest skipped":           {[]StepResult{unsure(StepToken, ReasonEKSAPIThrottled), skipped}, throttled},
		"success never carries a detail":  {[]StepResult{{Step: StepSTS, Outcome: OutcomeSuccess, Detail: "good"}}, Verdict{Outcome: OutcomeSuccess}},
		"an undecided result is no good":  {[]StepResult{ok, {Step: StepSTS}}, Verdict{Step: StepSTS}},
		"failure before success, the alb": {[]StepResult{broken(StepRBAC, ReasonDenied), ok}, denied},
	}
	for name, c := range cases {
		if got := Settle(c.steps); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestUnknownRun(t *testing.T) {
	slot := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	target := Target{Name: "ci@prod", Kind: KindAccess, Identity: Identity{Name: "ci"}, Cluster: Cluster{Name: "prod"}}
	run := UnknownRun("id", target, slot, ReasonOverrun, "the run of the slot before is still going on")
	if !run.Slot.Equal(slot) || run.ID != "id" || run.Duration != 0 || run.Target.Name != "ci@prod" {
		t.Errorf("run = %+v", run)
	}
	if len(run.Steps) != 6 {
		t.Fatalf("%d steps are listed, want all 6", len(run.Steps))
	}
	for _, s := range run.Steps {
		if s.Outcome != OutcomeSkipped {
			t.Errorf("step %v is %v, want skipped", s.Step, s.Outcome)
		}
	}
	v := run.Verdict
	if v.Outcome != OutcomeUnknown || v.Step != StepNone || v.Reason != ReasonOverrun || v.Detail == "" || v.Fix != Fix(StepNone, ReasonOverrun, nil) {
		t.Errorf("verdict = %+v", v)
	}
}

func TestRunFacts(t *testing.T) {
	run := Run{
		Target: Target{
			Identity: Identity{Name: "ci", Profile: "staging", Hops: []Hop{{RoleARN: "arn:aws:iam::111122223333:role/ci"}}},
			Cluster:  Cluster{Name: "prod", EKSName: "prod-eks", Region: "eu-west-1", AccountID: "111122223333", Observer: "readonly"},
			Expect:   Expect{Username: "ci:{{SessionName}}", Groups: []string{"deployers", "viewers"}},
		},
		Steps: []StepResult{
			{Facts: Facts{FactPrincipal: "first", FactRegion: "", FactHost: "h"}},
			{Facts: Facts{FactPrincipal: "second", FactHost: "", FactExpectedUsername: "ci:run-1"}},
		},
	}
	want := Facts{
		FactCluster: "prod", FactEKSName: "prod-eks", FactRegion: "eu-west-1", FactAccountID: "111122223333", FactObserver: "readonly", FactIdentity: "ci", FactProfile: "staging",
		FactExpectedPrincipal: "arn:aws:iam::111122223333:role/ci", FactPrincipal: "second", FactHost: "h",
		FactExpectedUsername: "ci:{{SessionName}}", FactExpectedGroups: "deployers,viewers",
	}
	if got := run.Facts(); !maps.Equal(got, want) {
		t.Errorf("facts are %v\nwant %v", got, want)
	}
}

func TestRunFactsKeepWhatAStepExpected(t *testing.T) {
	run := Run{Steps: []StepResult{{Facts: Facts{FactExpectedGroups: "a,b"}}}}
	if got := run.Facts(); !maps.Equal(got, Facts{FactExpectedGroups: "a,b"}) {
		t.Errorf("facts are %v", got)
	}
}
