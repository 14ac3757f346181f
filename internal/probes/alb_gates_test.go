// Tests of readiness gates that nobody sets.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// waits makes the third pod wait for one gate, its containers being ready.
func (f *albFake) waits(gate chain.ReadinessGate) {
	f.backends.Endpoints[2].Ready, f.pods[2].Ready = false, false
	f.pods[2].Gates = []chain.ReadinessGate{{Binding: "shop", Set: true, Passed: true}, gate}
}

func TestGates(t *testing.T) {
	hourAgo := noon.Add(-time.Hour)
	since := func(age time.Duration) chain.ReadinessGate {
		return chain.ReadinessGate{Binding: "shop", Set: true, Since: noon.Add(-age)}
	}
	const stale = "failure registration/readiness_gate_stale ✖·✔"
	runCases(t, map[string]albCase{
		"C76 the binding is gone": {func(f *albFake, _ *chain.Target) {
			f.waits(chain.ReadinessGate{Binding: "former", Set: true, Since: hourAgo})
		}, stale, "the pod shop-3 waits for the readiness gate of the TargetGroupBinding shop/former, which does not exist"},
		"C76 and the condition was never set": {func(f *albFake, _ *chain.Target) { f.waits(chain.ReadinessGate{Binding: "former"}) }, stale, "former"},
		"the binding was just made": {func(f *albFake, _ *chain.Target) {
			f.waits(chain.ReadinessGate{Binding: "new"})
			f.pods[2].Created = noon.Add(-20 * time.Second)
		}, allGood, ""},
		"the binding exists": {func(f *albFake, _ *chain.Target) {
			f.waits(chain.ReadinessGate{Binding: "web"})
			f.others = []chain.Binding{{BindingRef: chain.BindingRef{Namespace: "shop", Name: "web"}, GroupARN: "other"}}
		}, allGood, ""},
		"it exists in another namespace": {func(f *albFake, _ *chain.Target) {
			f.waits(chain.ReadinessGate{Binding: "web"})
			f.others = []chain.Binding{{BindingRef: chain.BindingRef{Namespace: "test", Name: "web"}, GroupARN: "other"}}
		}, stale, "shop/web"},
		"C76 the gate lags behind ELB": {func(f *albFake, _ *chain.Target) { f.waits(since(10 * time.Minute)) }, stale, "ELB finds the pod shop-3 (10.0.1.13) healthy"},
		"C76 the condition is absent":  {func(f *albFake, _ *chain.Target) { f.waits(chain.ReadinessGate{Binding: "shop"}) }, stale, "healthy"},
		"the condition has no time":    {func(f *albFake, _ *chain.Target) { f.waits(chain.ReadinessGate{Binding: "shop", Set: true}) }, stale, "healthy"},
		"the pod is young": {func(f *albFake, _ *chain.Target) {
			f.waits(chain.ReadinessGate{Binding: "shop"})
			f.pods[2].Created = noon.Add(-30 * time.Second)
		}, allGood, ""},
		"the gate has changed just now": {func(f *albFake, _ *chain.Target) { f.waits(since(30 * time.Second)) }, allGood, ""},
		"ELB finds it unhealthy":        {func(f *albFake, _ *chain.Target) { f.waits(since(10 * time.Minute)); f.unhealthy(chain.CodeTimeout, 2) }, allGood, ""},
		"it is initial": {func(f *albFake, _ *chain.Target) {
			f.waits(since(10 * time.Minute))
			f.targets[2].State = chain.TargetInitial
		}, allGood, ""},
		"its containers are not ready": {func(f *albFake, _ *chain.Target) { f.waits(since(10 * time.Minute)); f.pods[2].ContainersReady = false }, allGood, ""},
		"the pod terminates":           {func(f *albFake, _ *chain.Target) { f.waits(since(10 * time.Minute)); f.terminate(2) }, allGood, ""},
		"all gates are passed": {func(f *albFake, _ *chain.Target) {
			f.waits(chain.ReadinessGate{Binding: "former", Set: true, Passed: true})
		}, allGood, ""},
	})
}

// A gate that has been false through a long start is not stale the moment that ELB finds the pod healthy.
func TestGateOfASlowStart(t *testing.T) {
	f := newALBFake()
	f.waits(chain.ReadinessGate{Binding: "shop", Set: true, Since: noon.Add(-10 * time.Minute)})
	f.targets[2].State = chain.TargetInitial
	p := albProber(t, f)
	steps := []struct {
		state chain.TargetState
		want  string
	}{
		{chain.TargetInitial, allGood},
		{chain.TargetHealthy, allGood},
		{chain.TargetHealthy, allGood},
		{chain.TargetHealthy, "failure registration/readiness_gate_stale ✖·✔"},
	}
	for i, s := range steps {
		f.targets[2].State = s.state
		if got := verdict(runALB(t, p, shopTarget())); got != s.want {
			t.Errorf("run %d: got %s, want %s", i, got, s.want)
		}
		f.now = f.now.Add(30 * time.Second)
	}
}
