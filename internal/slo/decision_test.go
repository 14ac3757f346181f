// Tests of the form of a decision: its JSON is an API, and nothing is lost in it.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// overruled is a decision that has nearly everything: an override opens a gate that a page, a spent budget and a freeze keep closed while something is not known.
func overruled(t *testing.T) Decision {
	t.Helper()
	g, in := prodRelease(), inputs(month99(t, 100), month99(t, 25))
	in.Statuses[1].ID, in.Statuses[1].Name, in.Statuses[1].Firing = "eks-access-latency", "latency", []Severity{Page, Ticket}
	in.Statuses[1].Windows[0].Bad, in.Statuses[1].Observed = 6, .95
	in.Statuses[1].Coverage, in.Statuses[1].CoverageHour = nil, nil
	in.Problems = []Problem{{"eks-access-rbac", nil, Trouble{"not_a_number", "asking Prometheus: it is NaN"}}}
	in.Skew, in.Change = 1500*time.Millisecond, "feature"
	in.Warnings, in.OverrideProblems = []string{"a store did not answer"}, []string{"overrides.yaml:3:5: \x1b[31ma misspelt key"}
	g.Freezes = []Freeze{{gateNow.Add(-time.Hour), gateNow.Add(time.Hour), "quarter's end"}}
	in.Overrides = []Override{
		{g.Name, "Bob", "too early", gateNow.Add(-time.Hour)},
		{g.Name, "Ada", "it mends the probe", gateNow.Add(2 * time.Hour)},
		{g.Name, "Cid", "shorter", gateNow.Add(time.Hour)},
	}
	return Decide(t.Context(), g, in)
}

func TestDecisionJSON(t *testing.T) {
	d := overruled(t)
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	golden := filepath.Join("testdata", "decision.json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("a decision is written as\n%s\nand %s has another (-update writes it)", got.String(), golden)
	}
	var again Decision
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, d) {
		t.Errorf("read again it is %+v, want %+v", again, d)
	}
}

// TestEveryDecisionIsWritten: no number in it is one that JSON has no word for, and what is read is what was written.
func TestEveryDecisionIsWritten(t *testing.T) {
	for name, test := range decideTests {
		t.Run(name, func(t *testing.T) {
			_, in, d := test.run(t)
			for _, value := range []any{d, BudgetRows(in.Statuses, in.Problems)} {
				text, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				again := reflect.New(reflect.TypeOf(value))
				if err := json.Unmarshal(text, again.Interface()); err != nil || !reflect.DeepEqual(again.Elem().Interface(), value) {
					t.Errorf("%s is read as %+v (%v)", text, again.Elem(), err)
				}
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	tests := map[Answer]struct {
		text         string
		exit, status int
	}{Allow: {"allow", 0, 200}, Block: {"block", 1, 412}, CannotTell: {"unknown", 3, 503}, Answer(7): {"unknown", 3, 503}, Answer(-1): {"unknown", 3, 503}}
	for a, want := range tests {
		if a.String() != want.text || a.ExitCode() != want.exit || a.HTTPStatus() != want.status {
			t.Errorf("%d is %s, %d, %d; want %+v", a, a, a.ExitCode(), a.HTTPStatus(), want)
		}
	}
	for _, text := range []string{"", "Allow", "yes", "0", "allow "} {
		a := Block
		if err := a.UnmarshalText([]byte(text)); err == nil || a != Block {
			t.Errorf("%q is read as %s", text, a)
		}
	}
	var zero Decision
	if zero.Answer != CannotTell || zero.Open() != nil || zero.Exception() != "" {
		t.Errorf("a decision that nobody made is %s, open %v, exception %q", zero.Answer, zero.Open(), zero.Exception())
	}
}

func TestNotes(t *testing.T) {
	want := []string{
		"the override of Bob has expired at 2026-03-31T11:00:20Z, and opens nothing: remove it, or give it a new end",
		"changes of the class feature are not exempt here; exempt are reliability, security",
		`the coverage of eks-access-latency{cluster="prod"} is not judged: its specification counts no slots`,
		"the file of overrides: overrides.yaml:3:5:  [31ma misspelt key",
		"Prometheus says: a store did not answer",
	}
	if got := overruled(t).Notes; !slices.Equal(got, want) {
		t.Errorf("the notes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	g, in := prodRelease(), inputs(month99(t, 25))
	g.Exempt, in.Change, in.Skew = nil, "feature\n", 2*time.Hour
	in.Overrides = []Override{{g.Name, "Ada", "x", gateNow.Add(time.Hour)}}
	want = []string{"whether the override of Ada until 2026-03-31T13:00:20Z is in force cannot be told, since the clocks differ: it is not applied", "changes of the class feature are not exempt here; exempt are none"}
	if got := Decide(t.Context(), g, in); !slices.Equal(got.Notes, want) || got.Override != nil {
		t.Errorf("the notes are %q, want %q; the override is %v", got.Notes, want, got.Override)
	}
}

func TestBudgetRows(t *testing.T) {
	a, b, bad := month99(t, 25), month99(t, 0), month99(t, 0)
	a.ID, b.ID, bad.ID, bad.Labels = "b", "a", "c", nil
	a.Windows[0].Bad = 6
	bad.Observed = -1
	dev := b
	dev.Labels = map[string]string{"cluster": "dev"}
	rows := BudgetRows([]Status{a, b, bad, dev}, []Problem{{"d", nil, Trouble{"no_data", "two\nlines"}}})
	var names []string
	for _, r := range rows {
		names = append(names, r.String())
	}
	if want := []string{`a{cluster="dev"}`, `a{cluster="prod"}`, `b{cluster="prod"}`, "c", "d"}; !slices.Equal(names, want) {
		t.Fatalf("the rows are of %v, want %v", names, want)
	}
	if rows[3].Figures != nil || *rows[3].Problem != (Trouble{"not_a_number", "its share observed is -1"}) || *rows[4].Problem != (Trouble{"no_data", "two lines"}) {
		t.Errorf("the problems are %v and %v", rows[3].Problem, rows[4].Problem)
	}
	f := rows[2].Figures
	if f.Allowed != 86.4 || f.Left != 61 || *f.Remaining != 307./432 || *f.BurnRate != 50 || f.Exhaustion.Kind != "in" || f.Partial || rows[2].Problem != nil {
		t.Errorf("the figures are %+v", f)
	}
	in := a.Exhaustion(BurnNow).In
	if at := f.Exhaustion.At; in == 0 || at == nil || !at.Equal(inSeconds(a.At.Add(in))) {
		t.Errorf("the budget is spent at %v, want after %s", at, in)
	}
	if f := rows[0].Figures; f.Exhaustion != (Exhausted{Kind: "never"}) || f.Layers == nil || len(f.Layers) != 0 {
		t.Errorf("nothing is bad, and the figures are %+v", f)
	}
}

func TestPercent(t *testing.T) {
	tests := map[float64]string{1: "100 %", .71: "71 %", .57: "57 %", .0999999: "9.9 %", .1: "10 %", -.505: "-50.5 %", -.5051: "-50.6 %", 0: "0 %", 1.0005: "100 %", 1e-9: "0 %"}
	for share, want := range tests {
		if got := Percent(share); got != want {
			t.Errorf("%v is %s, want %s", share, got, want)
		}
	}
	zero := 0.
	if got := Percent(zero / zero); got != "?" {
		t.Errorf("no number is %s", got)
	}
}
