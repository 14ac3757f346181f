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
	var table parityTable
	for _, name := range slices.Sorted(maps.Keys(w.real)) {
		t.Run(name, func(t *testing.T) {
			fault, found := sandbox.FaultNamed(name)
			if !found {
				t.Fatalf("the sandbox has no fault %q", name)
			}
			scene := newScene(t, fault)
			table.compare(t, name, probeScene(t, scene, fault), w.real[name])
		})
	}
	t.Log(table.String())
}

// parityTable is what the sandbox and the real components make of the same, a line each.
type parityTable []string

// compare adds a line, and fails the test when the two verdicts differ, or the ways to them.
func (p *parityTable) compare(t *testing.T, name string, like, shown chain.Run) {
	t.Helper()
	equal := blamed(like) == blamed(shown) && through(like) == through(shown)
	*p = append(*p, parityLine(name, stepsOf(shown), blamed(like), blamed(shown), equal))
	if !equal {
		t.Errorf("the sandbox makes %s %s of it, the real components %s %s: %s", blamed(like), stepsOf(like), blamed(shown), stepsOf(shown), shown.Verdict.Detail)
	}
}

// String is the table with its heads.
func (p *parityTable) String() string {
	return "\n" + strings.Join(append([]string{parityLine("fault", "steps", "sandbox", "real", "equal")}, *p...), "\n")
}

func parityLine(name, steps, like, shown string, equal any) string {
	return fmt.Sprintf("%-30s %-7s %-54s %-54s %v", name, steps, like, shown, equal)
}

// newScene starts a scene of the sandbox, and breaks it. The zero fault breaks nothing.
func newScene(t *testing.T, fault sandbox.Fault) *sandbox.Scene {
	t.Helper()
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
	return scene
}

// probeScene runs the target that shows the fault once, in the scene's environment and in a prober that knows nothing yet.
func probeScene(t *testing.T, scene *sandbox.Scene, fault sandbox.Fault) chain.Run {
	t.Helper()
	loaded := configOf(t, scene)
	all := slices.Concat(loaded.Access, loaded.Groups)
	at := slices.IndexFunc(all, func(target chain.Target) bool { return target.Name == fault.Target })
	if at < 0 {
		t.Fatalf("the scene has no target %q", fault.Target)
	}
	if fault.Adjust != nil {
		fault.Adjust(&all[at])
	}
	return runOnce(t, proberOf(t, scene), all[at])
}

// configOf writes and reads a scene's configuration in its environment, which the rest of the test has.
func configOf(t *testing.T, scene *sandbox.Scene) *config.Config {
	t.Helper()
	scene.Setenv(t.Setenv)
	path, err := scene.WriteConfig()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func proberOf(t *testing.T, scene *sandbox.Scene) *app.Prober {
	t.Helper()
	return proberWith(t, app.ProberOptions{Resolver: scene.DNS.Resolver()})
}

func blamed(run chain.Run) string {
	return fmt.Sprintf("%s %s/%s", run.Verdict.Outcome, run.Verdict.Step, run.Verdict.Reason)
}

// through is how far a run came: of the access chain the steps up to the one that is blamed, since whether RBAC is asked after it is the target's affair.
func through(run chain.Run) string {
	if run.Target.Kind == chain.KindALB {
		return stepsOf(run)
	}
	return stepsOf(run)[:run.Verdict.Step]
}

// stepsOf writes the steps of a run as wanted does.
func stepsOf(run chain.Run) string {
	steps := ""
	for _, s := range run.Steps {
		steps += map[chain.Outcome]string{chain.OutcomeSuccess: "s", chain.OutcomeFailure: "f", chain.OutcomeUnknown: "u", chain.OutcomeSkipped: "-"}[s.Outcome]
	}
	return steps
}
