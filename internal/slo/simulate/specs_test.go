// Tests that every specification of the product runs: the world serves what its rules read, nothing fails, and what is recorded is true.
//
// SPDX-License-Identifier: Apache-2.0

// The race detector makes this ten times slower, and finds nothing here that it does not find in runners_test.go.
//go:build !race

package simulate

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

// troubles are failures of every step of which there is an SLO, slow probes, and a rollout.
func troubles() []Event {
	var events []Event
	for i, step := range []chain.Step{chain.StepSTS, chain.StepEndpoint, chain.StepAccessEntry, chain.StepRBAC, chain.StepHealth, chain.StepRegistration, chain.StepRequest} {
		events = append(events, Event{Kind: Outage, At: time.Duration(i) * time.Hour, For: 10 * time.Minute, Step: step})
	}
	return append(events,
		Event{Kind: Latency, At: 8 * time.Hour, For: 10 * time.Minute, Seconds: 12}, Event{Kind: Rollout, At: 9 * time.Hour, For: 10 * time.Minute, Count: 1},
		Event{Kind: Outage, At: 10 * time.Hour, For: time.Minute, Step: chain.StepRBAC, Reason: chain.ReasonExcessPermission})
}

func TestEverySpecification(t *testing.T) {
	files, err := filepath.Glob("../../../slo-specs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, error %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, problems := sloth.Read(file, data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, each := range spec.SLOs {
			one := *spec
			one.SLOs = []sloth.SLO{each}
			t.Run(each.ID(), func(t *testing.T) { runSpecification(t, &one) })
		}
	}
}

func runSpecification(t *testing.T, spec *sloth.Spec) {
	all, err := sloth.Generate(t.Context(), spec, sloth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := sloth.WriteRules(&written, all); err != nil {
		t.Fatal(err)
	}
	rules, err := ParseRules(written.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	one := spec.SLOs[0]
	about := SLO{ID: one.ID(), Objective: one.Objective, Period: 30 * slo.Day, ErrorQuery: one.Error.Text, TotalQuery: one.Total.Text}
	if one.Probes != nil {
		about.Cadence = one.Probes.Cadence
	}
	r, err := Run(t.Context(), rules, about, &Scenario{History: 2 * time.Hour, Duration: 12 * time.Hour, Targets: 2, Events: troubles()})
	if err != nil {
		t.Fatal(err)
	}
	if r.NotFinite > 0 || r.Failed > 0 {
		t.Errorf("%d samples that are not finite, %d failures: %v", r.NotFinite, r.Failed, r.Errors)
	}
	bad := 0.0
	for _, b := range r.Budgets {
		bad += b.Bad
		if b.Recorded == nil || math.Abs(*b.Recorded-b.Left) > .001 {
			t.Errorf("%v: %v of %v events bad, %v of the budget left, recorded %v", b.Labels, b.Bad, b.Total, b.Left, shown(b.Recorded))
		}
	}
	if bad == 0 {
		t.Errorf("no bad event in %v", r.Budgets)
	}
}

func shown(value *float64) any {
	if value == nil {
		return "nothing"
	}
	return *value
}
