// Tests of what a pipeline sees of a gate: whole texts against golden files, and names that try to be more than text.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

var gateAsked = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// gateStatus is an SLO of which 86 of 86,400 events may be bad.
func gateStatus(t *testing.T, id string, bad int64) slo.Status {
	t.Helper()
	objective, err := slo.ParseObjective("99.9")
	if err != nil {
		t.Fatal(err)
	}
	coverage := 0.998
	s := slo.Status{
		ID: id, Labels: map[string]string{"cluster": "prod"}, Objective: objective, Period: 30 * slo.Day, At: gateAsked, Newest: gateAsked, Spent: slo.Counts{Bad: bad, Events: 86_400}, Observed: 1,
		Coverage: &coverage, CoverageHour: &coverage, Windows: []slo.Window{{Length: time.Hour, Counts: slo.Counts{Bad: min(bad, 3), Events: 120}}},
		Steps: slo.Attribute(bad, []slo.Part{{Step: "endpoint", Bad: 20}}), Causes: slo.Attribute(bad, []slo.Part{{Reason: "dns_not_found", Bad: 20}}),
	}
	for k := 719; k >= 0; k-- {
		hour := slo.Hour{End: gateAsked.Add(-time.Duration(k) * time.Hour), Counts: slo.Counts{Events: 120}}
		if k == 479 {
			hour.Bad = bad
		}
		s.Hours = append(s.Hours, hour)
	}
	return s
}

// gateDecision is a decision as a caller reads it: out of its JSON.
func gateDecision(t *testing.T, change func(g *slo.Gate, in *slo.Inputs)) (d slo.Decision) {
	t.Helper()
	g := slo.Gate{Name: "prod-release", MinBudget: .1, BlockWhile: slo.Page, MinCoverage: .9, MinObserved: .9, MaxAge: 5 * time.Minute, Exempt: []string{"security"}}
	in := slo.Inputs{At: gateAsked, Clock: gateAsked, Statuses: []slo.Status{gateStatus(t, "eks-access-availability", 25), gateStatus(t, "eks-access-latency", 0)}}
	change(&g, &in)
	text, err := json.Marshal(slo.Decide(t.Context(), g, in))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// gateDecisions are those of the golden files.
var gateDecisions = map[string]func(g *slo.Gate, in *slo.Inputs){
	"allow": func(*slo.Gate, *slo.Inputs) {},
	"block": func(_ *slo.Gate, in *slo.Inputs) { in.Statuses[0].Spent.Bad, in.Statuses[0].Hours[240].Bad = 100, 100 },
	"page": func(_ *slo.Gate, in *slo.Inputs) {
		in.Statuses[0].Firing, in.Statuses[1].Observed = []slo.Severity{slo.Page}, .5
	},
	"frozen": func(g *slo.Gate, _ *slo.Inputs) {
		g.Freezes = []slo.Freeze{{From: gateAsked, To: gateAsked.Add(slo.Day), Why: "the shop's busiest days"}}
	},
	"unreachable": func(_ *slo.Gate, in *slo.Inputs) {
		in.Statuses, in.Trouble = nil, &slo.Trouble{Kind: "unreachable", Message: "asking Prometheus at http://prometheus:9090: connection refused"}
	},
	"problem": func(_ *slo.Gate, in *slo.Inputs) {
		in.Problems = []slo.Problem{{ID: "eks-access-rbac", Trouble: slo.Trouble{Kind: "not_a_number", Message: "slo:events:period is NaN"}}}
	},
	"override": func(g *slo.Gate, in *slo.Inputs) {
		in.Statuses[0].Spent.Bad, in.Statuses[0].Hours[240].Bad = 100, 100
		in.Overrides = []slo.Override{{Gate: g.Name, By: "Ada", Why: "it mends the probe", Until: gateAsked.Add(time.Hour)}}
		in.OverrideProblems = []string{"overrides.yaml:3:5: an unknown key"}
	},
	"no_data_allowed": func(g *slo.Gate, in *slo.Inputs) {
		g.OnNoData, in.Statuses[1].Newest = slo.NoDataAllow, gateAsked.Add(-time.Hour)
	},
}

func TestGateText(t *testing.T) {
	for name, change := range gateDecisions {
		t.Run(name, func(t *testing.T) {
			d := gateDecision(t, change)
			text := gateText(d) + "\n=== GitHub\n" + gateCommand(d) + "\n=== outputs\n" + gateOutputs(d) + "\n=== summary\n" + gateSummary(d)
			compareGolden(t, filepath.Join("testdata", "gate", name+".golden"), text)
		})
	}
}

func compareGolden(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the text differs from %s (-want +got); go test ./cmd/exporter -update accepts it:\n%s", golden, diff)
	}
}

// hostile is what a name may try: to leave its line, cell, command or formatting, to colour a terminal, to link, and to tell a secret.
const hostile = "x\n::error::owned\r\n##[error]owned ###vso[task.complete]\x1b[31m|<img src=x>`*_[a](http://evil.example)@all$x$ 100%25\tdecision=allow\u0085http://me:hunter2@evil.example"

func TestGateTextOfHostileNames(t *testing.T) {
	d := gateDecision(t, func(g *slo.Gate, in *slo.Inputs) {
		g.Name = hostile
		g.Freezes = []slo.Freeze{{From: gateAsked, To: gateAsked.Add(slo.Day), Why: hostile}}
		for i := range in.Statuses {
			s := &in.Statuses[i]
			s.ID, s.Labels, s.Steps, s.Causes = hostile, map[string]string{hostile: hostile}, []slo.Cause{{Step: hostile, Bad: 25}}, []slo.Cause{{Reason: hostile, Bad: 25}}
		}
		in.Problems = []slo.Problem{{ID: hostile, Trouble: slo.Trouble{Kind: hostile, Message: hostile}}}
		in.Change, in.Warnings, in.OverrideProblems = hostile, []string{hostile}, []string{hostile}
		in.Overrides = []slo.Override{{Gate: hostile, By: hostile, Why: hostile, Until: gateAsked.Add(time.Hour)}}
	})
	rows := slo.BudgetRows([]slo.Status{gateStatus(t, hostile, 25)}, []slo.Problem{{ID: hostile, Trouble: slo.Trouble{Message: hostile}}})
	texts := map[string]struct {
		text  string
		lines int // as many as a harmless name has
	}{
		"text": {gateText(d), 1 + 3 + 1 + 3}, "command": {gateCommand(d), 1}, "outputs": {gateOutputs(d), 4}, "summary": {gateSummary(d), 3 + 3 + 3 + 1 + 4 + 1}, "budget": {budgetText(rows), 4},
	}
	for name, test := range texts {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSuffix(test.text, "\n"), "\n")
			if len(lines) != test.lines {
				t.Errorf("%d lines, want %d:\n%s", len(lines), test.lines, test.text)
			}
			for i, line := range lines {
				if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "::") && name != "command" || strings.HasPrefix(trimmed, "decision=") && (name != "outputs" || i > 0) {
					t.Errorf("a line is a command: %q", line)
				}
			}
			for _, never := range []string{"\x1b", "\r", "\t", "\u0085", "hunter2"} {
				if strings.Contains(test.text, never) {
					t.Errorf("the text holds %q:\n%s", never, test.text)
				}
			}
			if name != "outputs" && name != "summary" && (strings.Contains(test.text, "##[") || strings.Contains(test.text, "##vso[")) {
				t.Errorf("the text holds a command of the old kind:\n%s", test.text)
			}
		})
	}
	for i, line := range strings.Split(gateSummary(d), "\n") {
		if bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "| ") && bars != 9 {
			t.Errorf("line %d of the summary has %d bars: %s", i, bars, line)
		}
		if strings.Contains(line, "<img") || strings.Contains(line, "](") || strings.Contains(line, "http://") {
			t.Errorf("line %d of the summary has markup: %s", i, line)
		}
	}
	if command := gateCommand(d); !strings.HasPrefix(command, "::warning title=ALLOW x ") || !strings.Contains(command, "100%2525") {
		t.Errorf("the command is %q", command)
	}
	if title, _, _ := strings.Cut(strings.TrimPrefix(gateCommand(d), "::warning title="), "::"); strings.ContainsAny(title, ":,") {
		t.Errorf("the title ends early: %q", title)
	}
}

func TestGateCommandLevels(t *testing.T) {
	for name, want := range map[string]string{"allow": "notice", "block": "error", "unreachable": "error", "override": "warning", "no_data_allowed": "warning"} {
		if got := gateCommand(gateDecision(t, gateDecisions[name])); !strings.HasPrefix(got, "::"+want+" title=") {
			t.Errorf("%s is %q, want a %s", name, got, want)
		}
	}
	if got := gateText(slo.Decision{}); !strings.HasPrefix(got, "CANNOT TELL ") {
		t.Errorf("a decision that nobody made is %q", got)
	}
}
