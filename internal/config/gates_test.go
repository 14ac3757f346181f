// Section gates and the file of overrides: good ones become exactly these, and only overrides that are in force open a gate.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

func TestGates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eks-slo.yaml")
	parsed, err := Parse(file, []byte(`
query: {embedded: {}}
gates:
  - {name: b, slos: {cluster: prod, service: eks-access}, min_budget: 0.25, block_while: never, min_coverage: 0, min_observed: 0.5, max_data_age: 1h, on_no_data: allow,
     exempt: [security], freezes: [{from: 2026-12-20T08:00:00+01:00, to: "2027-01-04T08:00:00Z", why: holidays}], overrides_file: overrides.yaml}
  - {name: a, slos: {cluster: prod}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []slo.Gate{
		{Name: "a", SLOs: map[string]string{"cluster": "prod"}, BlockWhile: slo.Page, MinCoverage: 0.9, MinObserved: 0.9, MaxAge: 5 * time.Minute},
		{
			Name: "b", SLOs: map[string]string{"cluster": "prod", "service": "eks-access"}, MinBudget: 0.25, MinObserved: 0.5, MaxAge: time.Hour, OnNoData: slo.NoDataAllow, Exempt: []string{"security"},
			Freezes:   []slo.Freeze{{From: time.Date(2026, 12, 20, 7, 0, 0, 0, time.UTC), To: time.Date(2027, 1, 4, 8, 0, 0, 0, time.UTC), Why: "holidays"}},
			Overrides: filepath.Join(filepath.Dir(file), "overrides.yaml"),
		},
	}
	if diff := cmp.Diff(want, parsed.Gates); diff != "" {
		t.Error(diff)
	}
}

func TestBordersOfGates(t *testing.T) {
	for entry, problem := range map[string]string{
		"min_budget: 0":           "",
		"min_budget: 1":           "",
		"min_budget: 1.01":        "1:70: min_budget must be a number from 0 to 1",
		"min_budget: -0.1":        "1:70: min_budget must be a number from 0 to 1",
		"min_budget: !!float NaN": "1:70: min_budget must be a number from 0 to 1",
		"min_coverage: 1e-3":      "",
		"min_coverage: .inf":      "1:72: min_coverage must be a number from 0 to 1",
		"max_data_age: 1m":        "",
		"max_data_age: 59s":       "1:72: max_data_age 59s is shorter than 1m",
		"block_while: ticket":     "",
		"exempt: []":              "",
		"freezes: []":             "",
		"freezes: [{from: 2026-12-20T00:00:00Z, to: 2026-12-20T00:00:01Z, why: a}]": "",
		"freezes: [{from: 2026-12-20, to: 2026-12-20T00:00:01Z, why: a}]":           `1:75: from "2026-12-20" is no time`,
	} {
		t.Run(entry, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte("{query: {embedded: {}}, gates: [{name: a, slos: {id: b}, "+entry+"}]}"))
			checkFirst(t, err, problem)
		})
	}
}

// checkFirst compares the first problem with its position and message; "": there is none.
func checkFirst(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got %s, want none", err)
		}
		return
	}
	first := asProblems(t, err)[0]
	if got := fmt.Sprintf("%d:%d: %s", first.Line, first.Column, first.Message); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOverrides(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text     string
		inForce  int
		problems []string
	}{
		"none":       {"overrides: []\n", 0, nil},
		"in force":   {"overrides:\n  - {gate: prod, by: Ada, why: mends it, until: 2026-12-01T12:00:01Z}\n", 1, nil},
		"expired":    {"overrides:\n  - {gate: prod, by: Ada, why: mends it, until: 2026-12-01T12:00:00Z}\n", 0, []string{`2:49: the override of gate "prod" has expired at 2026-12-01T12:00:00Z`}},
		"other gate": {"overrides:\n  - {gate: prd, by: Ada, why: mends it, until: 2026-12-01T13:00:00Z}\n", 0, []string{`2:12: no gate "prd" reads this file`}},
		"one of two": {
			"overrides:\n  - {gate: prod, by: Ada, until: 2026-12-01T13:00:00Z}\n  - {gate: prod, by: Ada, why: mends it, until: 2026-12-01T13:00:00Z}\n", 1, []string{`2:5: missing key "why"`},
		},
		"no time": {"overrides:\n  - {gate: prod, by: Ada, why: mends it, until: tomorrow}\n", 0, []string{`2:49: until "tomorrow" is no time`}},
		"an expired one, repeated by an alias": {
			"overrides:\n  - &a {gate: prod, by: Ada, why: mends it, until: 2026-12-01T11:00:00Z}\n  - *a\n", 0, []string{`2:52: the override of gate "prod" has expired at 2026-12-01T11:00:00Z`},
		},
		"a text alone":   {"overrides: [prod]\n", 0, []string{"1:13: overrides[0] must be a mapping, not text"}},
		"an unknown key": {"overrides: [{gate: prod, by: Ada, why: mends it, until: 2026-12-01T13:00:00Z, since: now}]\n", 0, []string{`1:79: unknown key "since"`}},
		"no list":        {"{}\n", 0, []string{`1:1: missing key "overrides"`}},
		"not YAML":       {"overrides: [\n", 0, []string{"YAML syntax"}},
		"all wrong":      {"[]\n", 0, []string{"the file of overrides must be a mapping"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "overrides.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			inForce, err := LoadOverrides(file, []string{"prod"}, now)
			if len(inForce) != c.inForce || (err == nil) != (c.problems == nil) {
				t.Errorf("in force: %v, error: %v", inForce, err)
			}
			for _, problem := range c.problems {
				if err == nil || !strings.Contains(err.Error(), problem) {
					t.Errorf("got %v, want %s", err, problem)
				}
			}
		})
	}
	if all, err := LoadOverrides(filepath.Join(t.TempDir(), "none.yaml"), nil, now); all != nil || err != nil {
		t.Errorf("a file that is not there holds %v (%v)", all, err)
	}
	if _, err := LoadOverrides(t.TempDir(), nil, now); err == nil {
		t.Error("a folder was read as a file of overrides")
	}
}

func TestCheckOverrides(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	gates := []slo.Gate{{Name: "a", Overrides: filepath.Join(dir, "a.yaml")}, {Name: "b", Overrides: filepath.Join(dir, "b.yaml")}, {Name: "c", Overrides: filepath.Join(dir, "b.yaml")}, {Name: "d"}}
	config := &Config{Gates: gates}
	if err := config.CheckOverrides(now); err != nil {
		t.Errorf("without files: %v", err)
	}
	write := func(name, until string, gates ...string) {
		text := "overrides:\n"
		for _, gate := range gates {
			text += "  - {gate: " + gate + ", by: Ada, why: mends it, until: " + until + "}\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", "2026-12-01T12:30:00Z", "a")
	write("b.yaml", "2026-12-01T13:00:00Z", "b", "c")
	if err := config.CheckOverrides(now); err != nil {
		t.Errorf("with overrides in force: %v", err)
	}
	write("b.yaml", "2026-12-01T13:00:00Z", "b", "a") // where a does not look for it
	err := config.CheckOverrides(now.Add(30 * time.Minute))
	problems := asProblems(t, err)
	if len(problems) != 2 || problems[0].File != gates[0].Overrides || problems[0].Of != overrideExpired || problems[1].File != gates[1].Overrides || problems[1].Of != overrideOfNoGate {
		t.Errorf("got %s", err)
	}
	config.Gates = append(config.Gates, slo.Gate{Name: "e", Overrides: dir})
	err = config.CheckOverrides(now.Add(30 * time.Minute))
	if _, unreadable := errors.AsType[*fs.PathError](err); !unreadable || len(asProblems(t, err)) != 2 {
		t.Errorf("with a folder for a file: %v", err)
	}
}

func TestAnExpiredOverrideKeepsNoConfigurationFromLoading(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "eks-slo.yaml")
	for name, text := range map[string]string{
		file:                                 "query: {embedded: {}}\ngates: [{name: prod, slos: {cluster: prod}, overrides_file: overrides.yaml}]\n",
		filepath.Join(dir, "overrides.yaml"): "overrides: [{gate: prod, by: Ada, why: mends it, until: 2026-12-01T12:00:00Z}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	err = config.CheckOverrides(time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC))
	checkFirst(t, err, `1:57: the override of gate "prod" has expired at 2026-12-01T12:00:00Z`)
}
