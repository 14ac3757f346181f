// Tests of groups that register instances: node ports, and nodes that are kept out.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestInstances(t *testing.T) {
	exclude := func(f *albFake, places ...int) {
		for _, i := range places {
			f.backends.Nodes[i].Excluded = true
		}
	}
	newNode := func(f *albFake, age time.Duration) {
		f.backends.Nodes = append(f.backends.Nodes, chain.Node{Name: "node-c", InstanceID: "i-0c", Zone: "eu-west-1b", Ready: true, Created: noon.Add(-age)})
	}
	const excluded, mismatch = "failure registration/node_excluded ✖·✔", "failure registration/service_type_mismatch ✖·✔"
	cases := map[string]albCase{
		"healthy": {func(*albFake, *chain.Target) {}, allGood, ""},
		"the service has no node port": {func(f *albFake, _ *chain.Target) {
			f.targets = nil
			f.backends.Service.Type, f.backends.Service.NodePort = "ClusterIP", 0
		}, mismatch, "the service shop (ClusterIP) has no node port for port 80"},
		"the service has not the binding's port": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Service.NodePort, f.backends.Service.Ports = nil, 0, []string{"1080 (http)"}
		}, "failure registration/no_ready_endpoints ✖·✔", "has no port 80, which the binding names; its ports are: 1080 (http)"},
		"that comes before pods": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Service.NodePort = nil, nil, 0
		}, mismatch, ""},
		"the service is gone":                  {func(f *albFake, _ *chain.Target) { f.targets, f.backends.Service = nil, chain.Service{} }, "failure registration/no_ready_endpoints ✖·✔", "does not exist"},
		"nodes are registered without any pod": {func(f *albFake, _ *chain.Target) { f.backends.Endpoints = nil }, allGood, ""},
		"C67 every Ready node is excluded":     {func(f *albFake, _ *chain.Target) { f.targets = nil; exclude(f, 0, 1) }, excluded, "node-a, node-b"},
		"C67 the other node is not Ready":      {func(f *albFake, _ *chain.Target) { f.targets = nil; exclude(f, 0); f.backends.Nodes[1].Ready = false }, excluded, "node-a"},
		"no node is Ready": {func(f *albFake, _ *chain.Target) {
			f.targets = nil
			f.backends.Nodes[0].Ready, f.backends.Nodes[1].Ready = false, false
		}, "failure registration/no_targets ✖·✔", "no Ready node"},
		"nodes should be registered":             {func(f *albFake, _ *chain.Target) { f.targets = nil }, "failure registration/no_targets ✖·✔", "2 nodes of the cluster should be registered"},
		"C67 one is excluded, and it is short":   {func(f *albFake, _ *chain.Target) { f.targets = f.targets[:1]; exclude(f, 1) }, excluded, "1 of at least 2 targets healthy; kept out of load balancers by label or selector, though Ready: node-b"},
		"C67 one is excluded, and enough are in": {func(f *albFake, tg *chain.Target) { f.targets = f.targets[:1]; exclude(f, 1); tg.Group.MinHealthy = 1 }, allGood, ""},
		"an unhealthy node explains it": {func(f *albFake, _ *chain.Target) {
			newNode(f, time.Hour)
			exclude(f, 2)
			f.targets[1].State, f.targets[1].Code = chain.TargetUnhealthy, chain.CodeTimeout
		}, "failure health/health_check_timeout ✔✖✔", ""},
		"an initial one will do": {func(f *albFake, _ *chain.Target) {
			newNode(f, time.Hour)
			exclude(f, 2)
			f.targets[1].State = chain.TargetInitial
			f.backends.Nodes[1].Created = noon
		}, "failure health/below_min_healthy ✔✖✔", ""},
		"the excluded would not make up for it": {func(f *albFake, tg *chain.Target) { f.targets = f.targets[:1]; exclude(f, 1); tg.Group.MinHealthy = 3 }, "failure health/below_min_healthy ✔✖✔", ""},
		"a Fargate node is no instance": {func(f *albFake, _ *chain.Target) {
			f.backends.Nodes = append(f.backends.Nodes, chain.Node{Name: "fargate", Ready: true, Excluded: true})
			f.targets = f.targets[:1]
		}, "failure health/below_min_healthy ✔✖✔", ""},
		"C70 the node knows the zone": {func(f *albFake, _ *chain.Target) {
			f.backends.Nodes[1].Zone = "eu-west-1c"
			f.targets[1].State, f.targets[1].Code = chain.TargetUnused, chain.CodeNotInUse
		}, "failure registration/target_az_not_enabled ✖·✔", "in eu-west-1c"},
		"C68 another cluster's nodes are there": {func(f *albFake, _ *chain.Target) { f.targets[1].ID = "i-0foreign" }, "failure registration/target_group_shared ✖·✔", "i-0foreign"},
		"a new node replaces an old one":        {func(f *albFake, _ *chain.Target) { f.backends.Nodes = f.backends.Nodes[:1]; newNode(f, 20*time.Second) }, allGood, ""},
		"a stopped instance left the cluster": {func(f *albFake, _ *chain.Target) {
			f.targets[1].ID, f.targets[1].State, f.targets[1].Code = "i-0gone", chain.TargetUnused, chain.CodeInvalidState
		}, "failure health/below_min_healthy ✔✖✔", ""},
		"a node that is excluded is not missed": {func(f *albFake, _ *chain.Target) {
			newNode(f, time.Hour)
			exclude(f, 2)
			f.trouble = chain.BindingTrouble{Reason: chain.ReasonControllerAccessDenied, Last: noon}
		}, allGood, ""},
		"one that is not Ready neither": {func(f *albFake, _ *chain.Target) {
			newNode(f, time.Hour)
			f.backends.Nodes[2].Ready = false
			f.trouble = chain.BindingTrouble{Reason: chain.ReasonControllerAccessDenied, Last: noon}
		}, allGood, ""},
		"one that is both ready and free is": {func(f *albFake, _ *chain.Target) {
			newNode(f, time.Hour)
			f.trouble = chain.BindingTrouble{Reason: chain.ReasonControllerAccessDenied, Last: noon}
		}, "failure registration/controller_access_denied ✖·✔", "i-0c"},
		"registered with another port": {func(f *albFake, _ *chain.Target) {
			f.targets[1].Port = 31000
			f.trouble = chain.BindingTrouble{Reason: chain.ReasonTGBNetworkReconcileFailed, Last: noon}
		}, "failure registration/tgb_network_reconcile_failed ✖·✔", nodeB},
	}
	runInstanceCases(t, cases)
}

// runInstanceCases probes each world once, with a group of instances.
func runInstanceCases(t *testing.T, cases map[string]albCase) {
	t.Helper()
	for name, c := range cases {
		change := c.change
		c.change = func(f *albFake, tg *chain.Target) { f.instances(); change(f, tg) }
		cases[name] = c
	}
	runCases(t, cases)
}

func TestInstanceEvidence(t *testing.T) {
	f := newALBFake()
	f.instances()
	f.backends.Nodes[1].Excluded = true
	run := runALB(t, albProber(t, f), shopTarget())
	if got, want := run.Facts()[chain.FactEndpoints], "1 of 2 nodes ready, 1 more excluded"; got != want {
		t.Errorf("endpoints is %q, want %q", got, want)
	}
	if got := run.Reading.Targets[1]; got.Node != "node-b" || got.Pod != "" || got.Foreign {
		t.Errorf("the target is %+v", got)
	}
	if f.count("Pods") != 0 {
		t.Error("pods were read for a group of instances")
	}
}
