// Public failure reports of load balancers, retold as scenes, each with what must not be mistaken for it.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

var albCases = map[string]caseRow{
	"C61 every target is unhealthy, and traffic flows":          {fault: "all-unhealthy", want: "failure health/all_unhealthy_fail_open", detail: "Target.ResponseCodeMismatch"},
	"C62 a security group drops the health checks":              {fault: "health-check-dropped", want: "failure health/health_check_timeout", detail: "Target.Timeout 2"},
	"C62 a security group drops every health check":             {target: "shop", happen: checks(sandbox.CheckSilence, 0), want: "failure health/all_unhealthy_fail_open", detail: "Target.Timeout 3"},
	"C62 one stuck application, and enough healthy ones":        {target: "shop", happen: checks(sandbox.CheckSilence, 0, "10.0.1.11"), want: "success"},
	"C64 no pod is ready":                                       {fault: "pods-not-ready", want: "failure registration/no_ready_endpoints", detail: "not ready"},
	"C64 the selector matches no pod":                           {fault: "selector-matches-nothing", want: "failure registration/no_ready_endpoints", detail: "selector"},
	"C64 ready pods, and an empty group":                        {fault: "targets-not-registered", want: "failure registration/no_targets", detail: "ready"},
	"C65 the controller may not register":                       {fault: "controller-denied", want: "failure registration/controller_access_denied", detail: "elasticloadbalancing:RegisterTargets"},
	"C67 an exclusion label was left on every node":             {fault: "nodes-excluded", want: "failure registration/node_excluded", detail: "node-a"},
	"C67 a drain of one node, as it is meant":                   {target: "web", happen: drainOne, want: "success"},
	"C68 another cluster evicts our targets":                    {fault: "evicted-by-another-cluster", want: "failure registration/target_group_shared", detail: "10.9.1.21"},
	"C68 a group that several clusters share on purpose":        {target: "shop", happen: shareOnPurpose, want: "success"},
	"C70 one target sits in a zone that is not served":          {fault: "zone-not-enabled", want: "failure registration/target_az_not_enabled", detail: "eu-west-1c"},
	"C71 the group was deleted behind the binding's back":       {fault: "target-group-deleted", want: "failure registration/target_group_missing"},
	"C73 ELB throttles the reader":                              {fault: "elb-throttled", want: "unknown registration/elb_api_throttled"},
	"C74 a rollout drains the old targets":                      {target: "shop", happen: rollOver, want: "success"},
	"C76 the gate of a binding that is gone":                    {fault: "gate-of-a-gone-binding", want: "failure registration/readiness_gate_stale", detail: "shop-old"},
	"C76 the gate lags behind AWS":                              {fault: "gate-lags", want: "failure registration/readiness_gate_stale", detail: "shop-3"},
	"C76 the gate is closed because AWS says unhealthy":         {target: "shop", happen: gateOfSick, want: "failure health/health_check_code_mismatch"},
	"C77 targets are in initial, and may be for a while longer": {fault: "just-registered", want: "unknown health/not_measurable", detail: "initial"},
	"C77 targets have been in initial for too long":             {fault: "initial-stuck", want: "failure health/initial_stuck"},
}

// checks makes targets of shop answer health checks so for long.
func checks(kind sandbox.CheckKind, status int, ids ...string) func(*testing.T, *sandbox.Scene) {
	return func(_ *testing.T, s *sandbox.Scene) {
		s.State.Change(func(st *sandbox.State) {
			for _, t := range st.TargetGroup(sandbox.SceneShopGroup).Targets {
				if len(ids) == 0 || ids[0] == t.ID {
					t.Answers = append(t.Answers, sandbox.CheckAnswer{Since: time.Now().Add(-10 * time.Minute), Kind: kind, Status: status})
				}
			}
		})
	}
}

// drainOne excludes one of two nodes from load balancers, and the controller has taken it out.
func drainOne(_ *testing.T, s *sandbox.Scene) {
	s.State.Change(func(st *sandbox.State) {
		node := st.Clusters["prod"].Objects.Nodes["node-b"].DeepCopy()
		node.Labels["node.kubernetes.io/exclude-from-external-load-balancers"] = "true"
		st.Clusters["prod"].Objects.Nodes["node-b"] = node
		group := st.TargetGroup(sandbox.SceneWebGroup)
		group.Targets = group.Targets[:1]
	})
}

// shareOnPurpose adds a sick target of another cluster, which is that cluster's business.
func shareOnPurpose(_ *testing.T, s *sandbox.Scene) {
	s.State.Change(func(st *sandbox.State) {
		st.Clusters["prod"].Objects.TargetGroupBindings["shop/shop"].Spec.MultiCluster = true
		group := st.TargetGroup(sandbox.SceneShopGroup)
		group.Targets = append(group.Targets, &sandbox.RegisteredTarget{
			ID: "10.9.1.21", Port: 8080, Zone: "eu-west-1a", Registered: time.Now().Add(-time.Hour), Answers: []sandbox.CheckAnswer{{Since: time.Now().Add(-time.Hour), Kind: sandbox.CheckRefusal}},
		})
	})
}

// rollOver deregisters one of three targets, whose pod is gone.
func rollOver(_ *testing.T, s *sandbox.Scene) {
	s.State.Change(func(st *sandbox.State) {
		st.TargetGroup(sandbox.SceneShopGroup).Deregister("10.0.1.13")
		slice := st.Clusters["prod"].Objects.EndpointSlices["shop/shop-x7k2p"].DeepCopy()
		slice.Endpoints = slice.Endpoints[:2]
		st.Clusters["prod"].Objects.EndpointSlices["shop/shop-x7k2p"] = slice
	})
}

// gateOfSick closes the gate of a pod whose target is unhealthy indeed.
func gateOfSick(t *testing.T, s *sandbox.Scene) {
	checks(sandbox.CheckStatus, 500, "10.0.1.13")(t, s)
	checks(sandbox.CheckStatus, 500, "10.0.1.11")(t, s)
	lags, _ := sandbox.FaultNamed("gate-lags")
	if err := lags.Apply(s); err != nil {
		t.Fatal(err)
	}
}

func TestALBCases(t *testing.T) { tryCases(t, albCases) }

// C61: the load balancer serves users although nobody is healthy, which is said and not called an outage.
func TestFailOpenIsNoOutage(t *testing.T) {
	scene := newScene(t)
	checks(sandbox.CheckStatus, 401)(t, scene)
	run := probeOnce(t, scene, "shop")
	if run.Reading == nil || !run.Reading.FailOpen || run.Reading.Good() != 0 || run.Reading.Bad() != 3 {
		t.Errorf("reading is %+v", run.Reading)
	}
	if request := run.Steps[2]; request.Outcome != chain.OutcomeSuccess {
		t.Errorf("the request showed %+v", request)
	}
}

// C74: a target that leaves is visible, neither good nor bad, and no capacity.
func TestDrainingIsNeither(t *testing.T) {
	scene := newScene(t)
	rollOver(t, scene)
	run := probeOnce(t, scene, "shop")
	if r := run.Reading; r == nil || r.Good() != 2 || r.Bad() != 0 || r.Count(chain.TargetDraining) != 1 {
		t.Errorf("reading is %+v", r)
	}
}

// C73: a throttled read keeps the last value, tells its age, and counts no target.
func TestThrottledReadKeepsTheLastValue(t *testing.T) {
	scene := newScene(t)
	target := targetNamed(t, targets(t, scene), "shop")
	prober := newProber(t, scene)
	first, err := prober.Run(t.Context(), target, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	scene.State.Change(func(s *sandbox.State) { s.Throttle["DescribeTargetHealth"] = true })
	second, err := prober.Run(t.Context(), target, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if second.Reading != nil || second.Verdict.Outcome != chain.OutcomeUnknown || second.Facts()[chain.FactLastRead] == "" {
		t.Errorf("got %+v, reading %v, last read %q", second.Verdict, second.Reading, second.Facts()[chain.FactLastRead])
	}
	if known := second.KnownReading(first.Reading); known != first.Reading {
		t.Errorf("the last reading was lost: %v", known)
	}
}
