// The matrix: every fault of the sandbox against the product, step by step.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(worldEnv); dir != "" {
		if err := serveWorld(dir); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// newScene starts a scene that ends with the test.
func newScene(t *testing.T) *sandbox.Scene {
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
	return scene
}

// targets sets the scene's environment and reads its configuration, as the exporter does at its start.
func targets(t *testing.T, scene *sandbox.Scene) []chain.Target {
	t.Helper()
	scene.Setenv(t.Setenv)
	path, err := scene.WriteConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(cfg.Access, cfg.Groups)
}

func targetNamed(t *testing.T, all []chain.Target, name string) chain.Target {
	t.Helper()
	for _, target := range all {
		if target.Name == name {
			return target
		}
	}
	t.Fatalf("there is no target %s", name)
	return chain.Target{}
}

// probeOnce runs a target of the scene once, in a prober that knows nothing yet.
func probeOnce(t *testing.T, scene *sandbox.Scene, name string) chain.Run {
	t.Helper()
	return probeAdjusted(t, scene, name, nil)
}

// probeAdjusted does the same after a change of the target that no configuration file can express.
func probeAdjusted(t *testing.T, scene *sandbox.Scene, name string, adjust func(*chain.Target)) chain.Run {
	t.Helper()
	target := targetNamed(t, targets(t, scene), name)
	if adjust != nil {
		adjust(&target)
	}
	run, err := newProber(t, scene).Run(t.Context(), target, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// newProber makes a prober that knows nothing yet, and ends with the test.
func newProber(t testing.TB, scene *sandbox.Scene) *Prober {
	t.Helper()
	prober, err := NewProber(t.Context(), ProberOptions{Resolver: scene.DNS.Resolver()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(prober.Close)
	return prober
}

func marksOf(run chain.Run) string {
	marks := map[chain.Outcome]string{chain.OutcomeSuccess: "✔", chain.OutcomeFailure: "✖", chain.OutcomeUnknown: "?", chain.OutcomeSkipped: "·"}
	line := ""
	for _, s := range run.Steps {
		line += marks[s.Outcome]
	}
	return line
}

// Without a fault every target of the scene is good.
func TestHealthyScene(t *testing.T) {
	scene := newScene(t)
	for _, target := range targets(t, scene) {
		t.Run(target.Name, func(t *testing.T) {
			run := probeOnce(t, scene, target.Name)
			marks := map[bool]string{true: "✔✔·", false: "✔✔✔"}[target.Group.Request == nil]
			if target.Kind == chain.KindAccess {
				marks = "✔✔✔✔✔✔"
			}
			if run.Verdict.Outcome != chain.OutcomeSuccess || marksOf(run) != marks {
				t.Errorf("got %s %s/%s %s: %s", run.Verdict.Outcome, run.Verdict.Step, run.Verdict.Reason, marksOf(run), run.Verdict.Detail)
			}
		})
	}
}

// The matrix: every fault is blamed on its step, with its reason; the steps before it succeeded and the ones after it are skipped.
func TestMatrix(t *testing.T) {
	for _, fault := range sandbox.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			scene := newScene(t)
			if err := fault.Apply(scene); err != nil {
				t.Fatal(err)
			}
			run := probeAdjusted(t, scene, fault.Target, fault.Adjust)
			v := run.Verdict
			if v.Outcome != fault.Outcome || v.Step != fault.Step || v.Reason != fault.Reason || marksOf(run) != fault.Marks {
				t.Errorf("got  %s %s/%s %s: %s\nwant %s %s/%s %s", v.Outcome, v.Step, v.Reason, marksOf(run), v.Detail, fault.Outcome, fault.Step, fault.Reason, fault.Marks)
			}
			if v.Detail == "" || v.Fix == "" {
				t.Errorf("detail %q, fix %q: neither may be empty", v.Detail, v.Fix)
			}
			if run.Duration > run.Target.Timeout+time.Second {
				t.Errorf("took %s, with a timeout of %s", run.Duration, run.Target.Timeout)
			}
		})
	}
}
