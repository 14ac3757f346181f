// The script command report holds JSON lines against the contract: names of fields, their order and kinds, and every step in its place.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The fields of the contract, in its order.
var (
	reportFields = []string{"target", "kind", "cluster", "identity", "principal", "result", "step", "reason", "detail", "fix", "started", "duration_ms", "steps"}
	groupFields  = []string{"target_group_arn", "region", "namespace", "binding", "targets", "missing", "fail_open", "read_at"} // of an alb target, after the others
	stepFields   = []string{"step", "result", "reason", "detail", "duration_ms", "evidence"}
	stepOrder    = map[string][]string{
		"access": {"credentials", "sts", "token", "endpoint", "access_entry", "rbac"},
		"alb":    {"registration", "health", "request"},
	}
)

// object is a JSON object with the order of its names.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

// report FILE TARGET RESULT[:STEP/REASON] STEP-RESULT,… finds the target's line and compares; FILE is a file, or stdout.
func report(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: report FILE TARGET RESULT[:STEP/REASON] STEP-RESULT,…")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		top, err := readObject(line)
		ts.Check(err)
		want := reportFields
		if top.text("kind") == "alb" {
			want = slices.Concat(reportFields, groupFields)
		}
		if !slices.Equal(top.names, want) {
			ts.Fatalf("fields are %v, want %v", top.names, want)
		}
		if top.text("target") != args[1] {
			continue
		}
		ts.Check(top.isReport(args[2]))
		steps, err := top.stepResults()
		ts.Check(err)
		if steps != args[3] {
			ts.Fatalf("steps of %s showed %s, want %s", args[1], steps, args[3])
		}
		return
	}
	ts.Fatalf("there is no line of target %s", args[1])
}

func (o object) isReport(verdict string) error {
	got := o.text("result")
	if step, reason := o.text("step"), o.text("reason"); step+reason != "" {
		got += ":" + step + "/" + reason
	}
	var errs []error
	if got != verdict {
		errs = append(errs, fmt.Errorf("the verdict is %s, want %s", got, verdict))
	}
	if want := o.text("identity") + "@" + o.text("cluster"); o.text("kind") == "access" && o.text("target") != want {
		errs = append(errs, fmt.Errorf("target %s, want %s", o.text("target"), want))
	}
	if _, err := time.Parse(time.RFC3339, o.text("started")); err != nil {
		errs = append(errs, err)
	}
	if explained := o.text("detail") != "" && o.text("fix") != ""; explained != (o.text("result") != "success") {
		errs = append(errs, fmt.Errorf("result %s with detail %q and fix %q", o.text("result"), o.text("detail"), o.text("fix")))
	}
	return errors.Join(append(errs, o.positive("duration_ms"))...)
}

// stepResults returns the results of the steps, in order, joined by commas.
func (o object) stepResults() (string, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(o.values["steps"], &raw); err != nil {
		return "", err
	}
	var order, got []string
	for _, text := range raw {
		step, err := readObject(string(text))
		if err != nil {
			return "", err
		}
		if !slices.Equal(step.names, stepFields) {
			return "", fmt.Errorf("fields of a step are %v, want %v", step.names, stepFields)
		}
		result := step.text("result")
		var evidence map[string]string
		if err := json.Unmarshal(step.values["evidence"], &evidence); err != nil || evidence == nil {
			return "", fmt.Errorf("evidence of %s is %s, want an object of texts", step.text("step"), step.values["evidence"])
		}
		if result != "skipped" {
			if err := step.positive("duration_ms"); err != nil {
				return "", err
			}
		}
		order, got = append(order, step.text("step")), append(got, result)
	}
	if want := stepOrder[o.text("kind")]; !slices.Equal(order, want) {
		return "", fmt.Errorf("steps are %v, want %v", order, want)
	}
	return strings.Join(got, ","), nil
}

func (o object) text(name string) string {
	var text string
	if json.Unmarshal(o.values[name], &text) != nil {
		return "no text: " + string(o.values[name])
	}
	return text
}

func (o object) positive(name string) error {
	var number float64
	if err := json.Unmarshal(o.values[name], &number); err != nil || number <= 0 {
		return fmt.Errorf("%s is %s, want a number above 0", name, o.values[name])
	}
	return nil
}

func readObject(text string) (object, error) {
	o := object{values: map[string]json.RawMessage{}}
	decoder := json.NewDecoder(strings.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return o, fmt.Errorf("reading %q: no JSON object", text)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return o, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return o, err
		}
		o.names = append(o.names, fmt.Sprint(name))
		o.values[fmt.Sprint(name)] = value
	}
	if _, err := decoder.Token(); err != nil {
		return o, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return o, fmt.Errorf("reading %q: something follows the object", text)
	}
	return o, nil
}
