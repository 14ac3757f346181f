// Tests of what is known from earlier runs: ages of states, a rollout, and the last good reading.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// A target that is seen to become initial is stuck after its time, and not before; a new start begins anew.
func TestMemoryAgesInitialTargets(t *testing.T) {
	f, target := newALBFake(), shopTarget()
	target.Group.Binding = chain.BindingRef{}
	p := albProber(t, f)
	const fresh, stuck = "failure health/below_min_healthy", "failure health/initial_stuck"
	for i, c := range []struct {
		after time.Duration
		state chain.TargetState
		want  string
	}{
		{0, chain.TargetHealthy, "success /"},
		{30 * time.Second, chain.TargetInitial, fresh},
		{90 * time.Second, chain.TargetInitial, fresh},
		{5 * time.Second, chain.TargetInitial, fresh},
		{5 * time.Second, chain.TargetInitial, stuck},
		{30 * time.Second, chain.TargetDraining, fresh},
		{30 * time.Second, chain.TargetInitial, fresh},
		{90 * time.Second, chain.TargetInitial, fresh},
		{30 * time.Second, chain.TargetInitial, stuck},
		{21 * time.Minute, chain.TargetInitial, fresh}, // nobody looked: it may have begun anew
	} {
		f.now = f.now.Add(c.after)
		f.set("healthy", string(c.state), string(c.state))
		if got := verdict(runALB(t, p, target)); !strings.HasPrefix(got, c.want) {
			t.Errorf("run %d, at %s: got %s, want %s", i, f.now.Sub(noon), got, c.want)
		}
	}
}

// A run sees a target begin: then the age of its pod says nothing any more.
func TestMemoryGoesBeforeTheAgeOfPods(t *testing.T) {
	f := newALBFake()
	p := albProber(t, f)
	runALB(t, p, shopTarget())
	f.now = f.now.Add(30 * time.Second)
	f.set("initial", "initial", "initial")
	expect(t, runALB(t, p, shopTarget()), "unknown health/not_measurable ✔?✔", "3 initial")
}

func TestMemorySince(t *testing.T) {
	m, at := newGroupMemory(), noon
	note := func(after time.Duration, arn string, states ...string) []sight {
		f := newALBFake()
		f.set(states...)
		at = at.Add(after)
		return m.note("shop", arn, at, f.targets)
	}
	note(0, "a", "healthy")
	if got := note(time.Minute, "a", "healthy", "initial"); !got[0].since.Equal(noon) || got[0].exact || !got[1].since.Equal(at) || !got[1].exact {
		t.Errorf("got %+v", got)
	}
	if got := note(time.Minute, "b", "healthy"); !got[0].since.Equal(at) || got[0].exact {
		t.Errorf("another group of that name: got %+v", got)
	}
	note(time.Minute, "b")
	if got := note(time.Minute, "b", "healthy"); !got[0].since.Equal(at) || !got[0].exact {
		t.Errorf("a target that was away: got %+v", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := newGroupMemory()
	for i := range memoryLimit + 10 {
		m.note(fmt.Sprint(i), "arn", noon.Add(time.Duration(i)*time.Second), nil)
	}
	if len(m.groups) != memoryLimit || m.last("9", noon) != "" || m.last(fmt.Sprint(memoryLimit), noon) == "" {
		t.Errorf("%d groups are remembered", len(m.groups))
	}
	for i := range 2 * memoryLimit {
		m.note("churn", "arn", noon.Add(time.Hour), []chain.TargetHealth{{ID: fmt.Sprint(i)}})
	}
	if g := m.groups["churn"]; len(g.targets) != 1 || len(g.departed) > memoryLimit+1 {
		t.Errorf("%d targets and %d departed ones are remembered", len(g.targets), len(g.departed))
	}
}

// A read that is refused tells the latest that was not, and how old it is.
func TestLastRead(t *testing.T) {
	f := newALBFake()
	p := albProber(t, f)
	f.fails["Health"] = chain.Unsure(chain.ReasonELBAPIThrottled, "Throttling", nil, nil)
	if run := runALB(t, p, shopTarget()); run.Facts()[chain.FactLastRead] != "" || run.Reading != nil {
		t.Errorf("nothing was read, and yet: %v", run.Facts()[chain.FactLastRead])
	}
	delete(f.fails, "Health")
	runALB(t, p, shopTarget())
	f.now = f.now.Add(42 * time.Second)
	f.fails["Health"] = chain.Unsure(chain.ReasonELBAPIThrottled, "Throttling", nil, nil)
	run := runALB(t, p, shopTarget())
	expect(t, run, "unknown registration/elb_api_throttled ?·✔", "Throttling; last read 42s ago: 3 healthy")
	if got, want := run.Facts()[chain.FactLastRead], "42s ago: 3 healthy"; got != want || run.Reading != nil {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What earlier runs missed is old enough to be blamed, though no pod tells its age; and what the cluster had before is not somebody else's.
func TestMemoryOfAbsence(t *testing.T) {
	f := newALBFake()
	p := albProber(t, f)
	runALB(t, p, shopTarget())
	leftover := f.targets[2]
	f.backends.Endpoints[2].Address, f.backends.Endpoints[2].Pod = "10.0.1.99", ""
	for i := range 4 {
		f.now = f.now.Add(30 * time.Second)
		if i == 3 {
			f.targets = f.targets[:3:3]
			f.foreigner(chain.TargetHealthy)
		}
		want := allGood // 10.0.1.13 is what the former pod has left behind
		if i == 3 {
			want = "failure registration/target_group_shared ✖·✔"
		}
		expect(t, runALB(t, p, shopTarget()), want, "")
	}
	if f.targets[2] != leftover {
		t.Error("the test has lost its leftover")
	}
}

// A zone that nobody tells is blamed once the group is known to have been attached after its target was found unused.
func TestMemoryOfAnUntoldZone(t *testing.T) {
	f := newALBFake()
	f.set("healthy", "healthy", "unused Target.NotInUse")
	f.targets[2].Zone, f.backends.Endpoints[2].Zone, f.group.Read = "", "", noon.Add(-50*time.Second)
	p := albProber(t, f)
	expect(t, runALB(t, p, shopTarget()), allGood, "")
	f.now, f.group.Read = noon.Add(30*time.Second), noon.Add(20*time.Second)
	expect(t, runALB(t, p, shopTarget()), "failure registration/target_az_not_enabled ✖·✔", "in a zone that is not told")
}

// The age that proves a target stuck is the one that is shown.
func TestReadingShowsTheAgeOfInitialTargets(t *testing.T) {
	f := newALBFake()
	f.set("initial", "healthy", "healthy")
	f.pods[0].ReadySince = noon.Add(-time.Hour)
	targets := runALB(t, albProber(t, f), shopTarget()).Reading.Targets
	if !targets[0].Since.Equal(noon.Add(-time.Hour)) || !targets[1].Since.Equal(noon) {
		t.Errorf("the targets are %+v", targets)
	}
}

// The evicted are known as such after they have drained, in a group that another cluster still fills.
func TestMemoryOfEviction(t *testing.T) {
	f := newALBFake()
	f.binding.MultiCluster = true
	f.foreigner(chain.TargetHealthy)
	p := albProber(t, f)
	runALB(t, p, shopTarget())
	f.targets = f.targets[3:]
	for range 3 {
		f.now = f.now.Add(30 * time.Second)
		expect(t, runALB(t, p, shopTarget()), "failure registration/target_group_shared ✖·✔", "10.0.1.11, 10.0.2.12, 10.0.1.13")
	}
}

// C74: ten targets are replaced one by one. While at least min_healthy stay healthy, no run fails in registration or health, whatever state the others pass through; the request alone tells what users saw.
func TestRollout(t *testing.T) {
	f, target := newALBFake(), shopTarget()
	for n := 4; n <= 10; n++ {
		f.addPod(n)
	}
	target.Group.MinHealthy = 8
	p := albProber(t, f)
	requestsFailed := 0
	tick := func(what string) {
		f.now = f.now.Add(15 * time.Second)
		f.group.Read = f.now
		f.response.Status = 200
		if f.count("Do")%7 == 0 {
			f.response.Status, requestsFailed = 502, requestsFailed+1
		}
		run := runALB(t, p, target)
		if reading := run.Reading; run.Steps[0].Outcome != chain.OutcomeSuccess || run.Steps[1].Outcome != chain.OutcomeSuccess || reading.Bad() != 0 || reading.Good() < 8 {
			t.Fatalf("%s: got %s: %s", what, verdict(run), run.Verdict.Detail)
		}
		if failed := f.response.Status != 200; failed != (run.Verdict.Step == chain.StepRequest) {
			t.Fatalf("%s: got %s, the request failed: %v", what, verdict(run), failed)
		}
	}
	tick("before")
	for i := range 10 {
		f.rollOne(i, tick)
	}
	if tick("after"); requestsFailed == 0 {
		t.Error("no request failed, so the test shows nothing")
	}
}

// rollOne replaces the pod in a place: it terminates and drains, its successor registers, is initial for the time it takes, and healthy.
func (f *albFake) rollOne(i int, tick func(string)) {
	f.terminate(i)
	tick("terminating, still registered")
	old := f.targets[i]
	old.State, old.Code = chain.TargetDraining, chain.CodeDeregistrationInProgress
	f.targets[i] = old
	tick("draining")
	name, at := fmt.Sprintf("shop-%d", 100+i), fmt.Sprintf("10.0.1.%d", 100+i)
	f.pods[i] = chain.Pod{Name: name, Address: at, ContainersReady: true, Created: f.now, Gates: []chain.ReadinessGate{{Binding: "shop"}}}
	f.backends.Endpoints[i] = chain.Endpoint{Address: at, Port: 8080, Pod: name, Zone: "eu-west-1a"}
	tick("the pod is gone, its target drains")
	f.targets = append(f.targets, chain.TargetHealth{ID: at, Port: 8080, Zone: "eu-west-1a", State: chain.TargetInitial, Code: chain.CodeRegistrationInProgress})
	for range 4 {
		tick("initial")
	}
	f.targets[i] = f.targets[len(f.targets)-1]
	f.targets = f.targets[:len(f.targets)-1]
	f.targets[i].State, f.targets[i].Code = chain.TargetHealthy, ""
	tick("healthy, the gate is not passed yet")
	f.pods[i].Ready, f.pods[i].ReadySince, f.backends.Endpoints[i].Ready = true, f.now, true
	f.pods[i].Gates[0] = chain.ReadinessGate{Binding: "shop", Set: true, Passed: true, Since: f.now}
	tick("ready")
}
