// Tests of reading scenarios: every message with its position, and every field.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

func TestRead(t *testing.T) {
	got, problems := Read("all.yaml", []byte(`
name: all
description: Everything that can be said.
cadence: 15s
scrape_interval: 30s
evaluation_interval: 1m
scrape_offset: 3s
evaluation_offset: 7s
start: "2026-01-02T03:04:05+01:00"
history: 1d
duration: 2h
seed: 9
targets: 2
unprimed: true
series: {failure: 'errors{code="500"}', success: oks}
events:
  - {kind: failures, at: 1m, for: 2m, ratio: 0.25, step: sts, reason: assume_role_denied}
  - {kind: failures, every: 50, first: 3}
  - {kind: replica, result: unknown}
  - {kind: relabel, labels: {team: other}}
  - {kind: latency, seconds: 6.5}
  - {kind: load, count: 100}
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := &Scenario{
		Name: "all", Description: "Everything that can be said.", Cadence: 15 * time.Second, ScrapeInterval: 30 * time.Second, EvaluationInterval: time.Minute,
		ScrapeOffset: 3 * time.Second, EvaluationOffset: 7 * time.Second, Start: time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC),
		History: 24 * time.Hour, Duration: 2 * time.Hour, Seed: 9, Targets: 2, Unprimed: true,
		Series: map[string]string{"failure": `errors{code="500"}`, "success": "oks"},
		Events: []Event{
			{Kind: Failures, At: time.Minute, For: 2 * time.Minute, Ratio: .25, Step: chain.StepSTS, Reason: chain.ReasonAssumeRoleDenied},
			{Kind: Failures, Every: 50, First: 3},
			{Kind: Replica, Result: "unknown"},
			{Kind: Relabel, Labels: map[string]string{"team": "other"}},
			{Kind: Latency, Seconds: 6.5},
			{Kind: Load, Count: 100},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want - and got +:\n%s", diff)
	}
}

func TestReadProblems(t *testing.T) {
	const head = "name: x\nduration: 1h\n"
	cases := map[string]struct {
		text, want string
		of         *diag.Message
	}{
		"no duration":        {"name: x\n", `1:1: missing key "duration"`, diag.MissingKey},
		"unknown key":        {head + "histroy: 3d\n", `3:1: unknown key "histroy"`, diag.UnknownKey},
		"no time":            {head + "start: yesterday\n", `3:8: start "yesterday" is no time`, badTime},
		"too long":           {head + "history: 200d\n", `3:10: history 200d is not within 0s and 100d`, tooLong},
		"seed":               {head + "seed: 1.5\n", `3:7: seed must be within 0 and 9007199254740992, not 1.5`, badNumber},
		"kind":               {head + "events: [{kind: outrage}]\n", `3:17: unknown kind of event "outrage"`, unknownKind},
		"no kind":            {head + "events: [{at: 5m}]\n", `3:10: missing key "kind"`, diag.MissingKey},
		"key of other kinds": {head + "events: [{kind: outage, ratio: 0.1}]\n", `3:25: unknown key "ratio"`, diag.UnknownKey},
		"no share":           {head + "events: [{kind: failures}]\n", `3:10: missing key "ratio"`, diag.MissingKey},
		"both shares":        {head + "events: [{kind: failures, every: 2, ratio: 0.1}]\n", `3:37: every and ratio at once`, bothShares},
		"ratio":              {head + "events: [{kind: failures, ratio: 1.1}]\n", `3:34: ratio must be within 0 and 1, not 1.1`, badNumber},
		"step":               {head + "events: [{kind: outage, step: stss}]\n", `3:31: unknown step "stss"`, unknownStep},
		"reason":             {head + "events: [{kind: outage, step: sts, reason: denied}]\n", `3:44: step "sts" has no reason "denied"`, foreignWhy},
		"reason alone":       {head + "events: [{kind: outage, reason: denied}]\n", `3:33: reason "denied" without a step`, reasonAlone},
		"after the end":      {head + "events: [{kind: outage, at: 2h}]\n", `3:29: the event is after the end`, neverHappens},
		"result":             {head + "events: [{kind: replica, result: bad}]\n", `3:34: result must be unknown, not "bad"`, badNumber},
		"series":             {head + "series: {failure: 'sum(x)'}\n", `3:19: "sum(x)" is no series`, badSeries},
		"count":              {head + "series: {bad: x}\n", `3:10: unknown count "bad"`, foreignCount},
	}
	shown := map[*diag.Message]bool{}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, problems := Read("s.yaml", []byte(c.text))
			if s != nil || len(problems) != 1 {
				t.Fatalf("scenario %v, problems %v", s, problems)
			}
			p := problems[0]
			if got := fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message); got != c.want || p.Of != c.of {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if p.Hint == "" {
				t.Error("no hint")
			}
		})
		shown[c.of] = true
	}
	for _, m := range messages() {
		if !shown[m] {
			t.Errorf("no case shows %q", m.Text)
		}
	}
}

// Every kind is read with its own keys, and drawn under a name.
func TestKinds(t *testing.T) {
	for kind := range kinds {
		if (Event{Kind: kind, Every: 2, Count: 2}).String() == string(kind) && kind != Outage && kind != Rollout {
			t.Errorf("%s has no words of its own", kind)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range Names() {
		data, err := scenarioFiles.ReadFile("scenarios/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, problems := Read("fuzz.yaml", data); (s == nil) == (len(problems) == 0) {
			t.Errorf("scenario %v with problems %v", s, problems)
		}
	})
}
