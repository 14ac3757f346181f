// Tests of the closed names: steps, kinds and outcomes read back what they write.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"encoding"
	"encoding/json"
	"slices"
	"testing"
)

func TestStepNames(t *testing.T) {
	want := []string{"", "credentials", "sts", "token", "endpoint", "access_entry", "rbac", "registration", "health", "request"}
	for i, name := range want {
		var back Step
		roundTrip(t, Step(i), name, &back)
		if back != Step(i) {
			t.Errorf("step %d reads back from %q as %d", i, name, back)
		}
	}
	if got := Step(len(want)).String(); got != "step(10)" {
		t.Errorf("a step beyond the last is %q, want step(10)", got)
	}
}

func TestKindNames(t *testing.T) {
	for kind, name := range map[Kind]string{KindNone: "", KindAccess: "access", KindALB: "alb"} {
		var back Kind
		roundTrip(t, kind, name, &back)
		if back != kind {
			t.Errorf("kind %d reads back from %q as %d", kind, name, back)
		}
	}
	if got := Kind(9).String(); got != "kind(9)" {
		t.Errorf("a kind beyond the last is %q, want kind(9)", got)
	}
}

func TestOutcomeNames(t *testing.T) {
	var zero Outcome
	if zero != OutcomeUnknown {
		t.Fatal("the zero outcome must be unknown")
	}
	for outcome, name := range map[Outcome]string{OutcomeUnknown: "unknown", OutcomeSuccess: "success", OutcomeFailure: "failure", OutcomeSkipped: "skipped"} {
		var back Outcome
		roundTrip(t, outcome, name, &back)
		if back != outcome {
			t.Errorf("outcome %d reads back from %q as %d", outcome, name, back)
		}
	}
	if got := Outcome(7).String(); got != "outcome(7)" {
		t.Errorf("an outcome beyond the last is %q, want outcome(7)", got)
	}
	if want := []Outcome{OutcomeSuccess, OutcomeFailure, OutcomeUnknown}; !slices.Equal(Results, want) {
		t.Errorf("Results = %v, want %v", Results, want)
	}
}

func TestUnmarshalRefusesUnknownNames(t *testing.T) {
	var step, kind, outcome = StepRBAC, KindALB, OutcomeFailure
	cases := map[string]struct {
		into encoding.TextUnmarshaler
		text string
		want string
	}{
		"step":          {&step, "acess_entry", `reading step "acess_entry": no such step`},
		"step in caps":  {&step, "RBAC", `reading step "RBAC": no such step`},
		"step by index": {&step, "step(10)", `reading step "step(10)": no such step`},
		"kind":          {&kind, "nlb", `reading kind "nlb": no such kind`},
		"outcome":       {&outcome, "", `reading outcome "": no such outcome`},
	}
	for name, c := range cases {
		if err := c.into.UnmarshalText([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	if step != StepRBAC || kind != KindALB || outcome != OutcomeFailure {
		t.Error("a refused name must leave the value alone")
	}
}

func TestKindSteps(t *testing.T) {
	access := []Step{StepCredentials, StepSTS, StepToken, StepEndpoint, StepAccessEntry, StepRBAC}
	for kind, want := range map[Kind][]Step{KindNone: nil, KindAccess: access, KindALB: {StepRegistration, StepHealth, StepRequest}, Kind(9): nil} {
		if got := kind.Steps(); !slices.Equal(got, want) {
			t.Errorf("the steps of %v are %v, want %v", kind, got, want)
		}
	}
}

func roundTrip(t *testing.T, value encoding.TextMarshaler, name string, back encoding.TextUnmarshaler) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil || string(data) != `"`+name+`"` {
		t.Errorf("JSON is %s (%v), want %q", data, err, name)
	}
	if err := json.Unmarshal(data, back); err != nil {
		t.Errorf("reading %s back: %v", data, err)
	}
}
