// The honesty of the probe, counted on the other side of the wire.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// oneHop is an identity of static keys and one hop, with three rules.
func oneHop(t *testing.T, scene *sandbox.Scene) chain.Target {
	t.Helper()
	target := targetNamed(t, targets(t, scene), "ci-deploy@prod")
	target.Identity.Source = chain.SourceEnvironment
	scene.State.Change(func(s *sandbox.State) {
		s.Roles[target.Identity.Hops[0].RoleARN].Trust[0].Principals = []string{"arn:aws:iam::" + sandbox.SceneAccount + ":user/ci-runner"}
	})
	return target
}

// counted runs the target and returns how often each operation was answered meanwhile.
func counted(t *testing.T, scene *sandbox.Scene, prober *Prober, target chain.Target) (chain.Run, map[string]int) {
	t.Helper()
	before := len(calls(scene))
	run, err := prober.Run(t.Context(), target, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, call := range calls(scene)[before:] {
		counts[call.Operation]++
	}
	return run, counts
}

func calls(scene *sandbox.Scene) (all []sandbox.Call) {
	scene.State.Change(func(s *sandbox.State) { all = append(all, s.Calls...) })
	return all
}

// A healthy cold run costs what a new CI job costs, counted on the other side of the wire, and reads no EKS API once the cluster is known.
func TestColdRunIsCounted(t *testing.T) {
	scene := newScene(t)
	target := oneHop(t, scene)
	prober := newProber(t, scene)
	first, counts := counted(t, scene, prober, target)
	if first.Verdict.Outcome != chain.OutcomeSuccess || counts["DescribeCluster"] != 1 {
		t.Fatalf("the first run: %+v, calls %v", first.Verdict, counts)
	}
	for range 3 {
		run, counts := counted(t, scene, prober, target)
		if run.Verdict.Outcome != chain.OutcomeSuccess {
			t.Fatalf("got %+v", run.Verdict)
		}
		want := map[string]int{
			"AssumeRole": 1, "GetCallerIdentity": 1, "TokenReview": 1, "PresignedGetCallerIdentity": 1, // the last one is the authenticator's own
			"SelfSubjectReview": 1, "SelfSubjectAccessReview": 3, "Readyz": 1,
		}
		for operation, n := range want {
			if counts[operation] != n {
				t.Errorf("%s was called %d times, want %d", operation, counts[operation], n)
			}
		}
		if len(counts) != len(want) {
			t.Errorf("calls are %v, want only %v", counts, want)
		}
	}
}

// With STS gone no run succeeds, however recent the last success was: nothing is answered from a cache.
func TestNoSuccessFromACache(t *testing.T) {
	scene := newScene(t)
	target := oneHop(t, scene)
	prober := newProber(t, scene)
	if run, _ := counted(t, scene, prober, target); run.Verdict.Outcome != chain.OutcomeSuccess {
		t.Fatalf("got %+v", run.Verdict)
	}
	scene.State.Change(func(s *sandbox.State) { s.Off["sts"] = true })
	for range 3 {
		run, _ := counted(t, scene, prober, target)
		if v := run.Verdict; v.Outcome != chain.OutcomeFailure || v.Step != chain.StepSTS || v.Reason != chain.ReasonSTSUnreachable {
			t.Errorf("got %+v", v)
		}
		if run.Duration > target.Timeout {
			t.Errorf("took %s, more than the timeout of %s", run.Duration, target.Timeout)
		}
	}
}

// A session under test may do nothing in AWS, and the observer's may read.
func TestSessionPolicyDeniesAll(t *testing.T) {
	scene := newScene(t)
	if run := probeOnce(t, scene, "ci-deploy@prod"); run.Verdict.Outcome != chain.OutcomeSuccess {
		t.Fatalf("got %+v", run.Verdict)
	}
	scene.State.Change(func(s *sandbox.State) {
		for _, session := range s.Sessions {
			under := chain.SamePrincipal("arn:aws:iam::"+sandbox.SceneAccount+":role/ci-deploy", session.ARN)
			if under != (session.Policy != "") {
				t.Errorf("%s has the session policy %q", session.ARN, session.Policy)
			}
		}
	})
}
