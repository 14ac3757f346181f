// The sandbox stands in for the real components in every other test, so what it makes of a fault is compared with what they make of it.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/app"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// check holds a run against what is wanted, and keeps it for testParity.
func (w *world) check(t *testing.T, want wanted, run chain.Run) {
	t.Helper()
	want.check(t, run)
	if want.fault != "" {
		w.real[want.fault] = run
	}
}

// testParity runs the sandbox's faults of which the real components have shown the like: verdict and steps are the same.
func (w *world) testParity(t *testing.T) {
	table := []string{fmt.Sprintf("%-28s %-7s %-54s %s", "fault", "steps", "sandbox", "real")}
	for _, name := range slices.Sorted(maps.Keys(w.real)) {
		t.Run(name, func(t *testing.T) {
			like, shown := probeScene(t, name), w.real[name]
			table = append(table, fmt.Sprintf("%-28s %-7s %-54s %s", name, stepsOf(shown), blamed(like), blamed(shown)))
			if blamed(like) != blamed(shown) || through(like) != through(shown) {
				t.Errorf("the sandbox makes %s %s of it, the real components %s %s", blamed(like), stepsOf(like), blamed(shown), stepsOf(shown))
			}
		})
	}
	t.Log(strings.Join(table, "\n"))
}

// probeScene breaks a scene of the sandbox and runs the target that shows it.
func probeScene(t *testing.T, name string) chain.Run {
	t.Helper()
	fault, found := sandbox.FaultNamed(name)
	if !found {
		t.Fatalf("the sandbox has no fault %q", name)
	}
	scene, err := sandbox.NewScene(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := scene.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := fault.Apply(scene); err != nil {
		t.Fatal(err)
	}
	scene.Setenv(t.Setenv)
	path, err := scene.WriteConfig()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(loaded.Access, func(target chain.Target) bool { return target.Name == fault.Target })
	prober, err := app.NewProber(t.Context(), app.ProberOptions{Resolver: scene.DNS.Resolver()})
	if err != nil {
		t.Fatal(err)
	}
	return runOnce(t, prober, loaded.Access[at])
}

func blamed(run chain.Run) string {
	return fmt.Sprintf("%s %s/%s", run.Verdict.Outcome, run.Verdict.Step, run.Verdict.Reason)
}

// through is how far a run came: the steps up to the one that is blamed. Whether RBAC is asked after it is the target's affair.
func through(run chain.Run) string { return stepsOf(run)[:run.Verdict.Step] }

// stepsOf writes the steps of a run as wanted does.
func stepsOf(run chain.Run) string {
	steps := ""
	for _, s := range run.Steps {
		steps += map[chain.Outcome]string{chain.OutcomeSuccess: "s", chain.OutcomeFailure: "f", chain.OutcomeUnknown: "u", chain.OutcomeSkipped: "-"}[s.Outcome]
	}
	return steps
}
