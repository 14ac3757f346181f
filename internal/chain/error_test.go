// Tests of the typed error: its text, its place in a tree, and what becomes of an error that nobody classified.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"testing"
)

func TestErrorText(t *testing.T) {
	cases := map[string]struct {
		err  *Error
		want string
	}{
		"failure":         {Fail(StepSTS, ReasonAssumeRoleDenied, "hop 2 of 2", nil, nil), "sts/assume_role_denied: hop 2 of 2"},
		"no detail":       {Fail(StepSTS, ReasonAssumeRoleDenied, "", nil, nil), "sts/assume_role_denied"},
		"no step":         {Unsure(ReasonSTSThrottled, "Rate exceeded", nil, nil), "sts_throttled: Rate exceeded"},
		"the cause stays": {Fail(StepRBAC, ReasonDenied, "no", nil, errors.New("k8s-aws-v1.secret")), "rbac/denied: no"},
	}
	for name, c := range cases {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestErrorParts(t *testing.T) {
	facts := Facts{FactHost: "h"}
	fail, unsure := Fail(StepEndpoint, ReasonTCPRefused, "d", facts, io.EOF), Unsure(ReasonReadFailed, "d", facts, io.EOF)
	if fail.Outcome != OutcomeFailure || fail.Step != StepEndpoint || fail.Reason != ReasonTCPRefused || !maps.Equal(fail.Facts, facts) || !errors.Is(fail, io.EOF) {
		t.Errorf("Fail made %+v", fail)
	}
	if unsure.Outcome != OutcomeUnknown || unsure.Step != StepNone || unsure.Reason != ReasonReadFailed || !maps.Equal(unsure.Facts, facts) || !errors.Is(unsure, io.EOF) {
		t.Errorf("Unsure made %+v", unsure)
	}
}

func TestAsError(t *testing.T) {
	known := Fail(StepToken, ReasonClusterNotFound, "no cluster", nil, nil)
	for name, err := range map[string]error{"itself": known, "wrapped": fmt.Errorf("reading: %w", known), "joined": errors.Join(io.EOF, known)} {
		if got := AsError(err); got != known {
			t.Errorf("%s: got %v", name, got)
		}
	}
	foreign := fmt.Errorf("get AKIAIOSFODNN7EXAMPLE: %w", io.EOF)
	got := AsError(foreign)
	if got.Outcome != OutcomeUnknown || got.Reason != ReasonReadFailed || got.Detail != "get [redacted]: EOF" || !errors.Is(got, io.EOF) {
		t.Errorf("an unclassified error is %+v, want an unknown, read_failed, redacted", got)
	}
	if got := AsError(nil); got != nil {
		t.Errorf("no error is %v", got)
	}
}
