// Tests of groups that register instances: node ports, and nodes that are kept out.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
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
		"stopped instances alone serve nobody": {func(f *albFake, _ *chain.Target) {
			for i := range f.targets {
				f.targets[i].State, f.targets[i].Code = chain.TargetUnused, chain.CodeInvalidState
			}
		}, "failure health/below_min_healthy ✔✖✔", "0 of at least 2 targets healthy: 2 unused (Target.InvalidState 2)"},
		"a stopped one beside one that nobody checks yet": {func(f *albFake, _ *chain.Target) {
			f.targets[0].State, f.targets[0].Code = chain.TargetUnused, chain.CodeInvalidState
			f.targets[1].State, f.backends.Nodes[1].Created = chain.TargetInitial, noon
		}, "unknown health/not_measurable ✔?✔", ""},
		"nodes were replaced, and nobody registers the new ones": {func(f *albFake, _ *chain.Target) {
			for i := range f.targets {
				f.targets[i].ID, f.targets[i].State, f.targets[i].Code = fmt.Sprintf("i-0gone%d", i), chain.TargetUnused, chain.CodeInvalidState
			}
		}, "failure registration/no_targets ✖·✔", "none but failing targets that the cluster does not have (2 unused (Target.InvalidState 2)); 2 nodes of the cluster should be registered"},
		"nodes were replaced a moment ago": {func(f *albFake, _ *chain.Target) {
			for i := range f.targets {
				f.targets[i].ID, f.targets[i].State, f.targets[i].Code = fmt.Sprintf("i-0gone%d", i), chain.TargetUnused, chain.CodeInvalidState
				f.backends.Nodes[i].Created = noon.Add(-20 * time.Second)
			}
		}, "failure health/below_min_healthy ✔✖✔", "not registered: " + nodeA},
		"the service lost its node port": {func(f *albFake, _ *chain.Target) {
			f.backends.Service.Type, f.backends.Service.NodePort = "ClusterIP", 0
			for i := range f.targets {
				f.targets[i].State, f.targets[i].Code = chain.TargetUnhealthy, chain.CodeFailedHealthChecks
			}
		}, mismatch, "2 targets registered as instances, and the service shop (ClusterIP) has no node port for port 80 any more"},
		"traffic stays local, and one node has no pod (#913)": {func(f *albFake, _ *chain.Target) {
			f.backends.Service.Local = true
			f.targets[1].State, f.targets[1].Code = chain.TargetUnhealthy, chain.CodeTimeout
		}, "failure health/below_min_healthy ✔✖✔", "externalTrafficPolicy of service shop is Local, and no ready pod of it runs on: " + nodeB},
		"traffic stays local, and a node with a pod fails": {func(f *albFake, _ *chain.Target) {
			f.backends.Service.Local = true
			f.targets[0].State, f.targets[0].Code = chain.TargetUnhealthy, chain.CodeTimeout
		}, "failure health/health_check_timeout ✔✖✔", ""},
		"every node fails, and no pod is ready": {func(f *albFake, _ *chain.Target) {
			for i := range f.targets {
				f.targets[i].State, f.targets[i].Code = chain.TargetUnhealthy, chain.CodeFailedHealthChecks
			}
			for i := range f.backends.Endpoints {
				f.backends.Endpoints[i].Ready = false
			}
		}, "failure health/all_unhealthy_fail_open ✔✖✔", "behind the node port, of the 3 endpoints of service shop none is ready: 3 not ready"},
		"every node fails, and pods are ready": {func(f *albFake, _ *chain.Target) {
			for i := range f.targets {
				f.targets[i].State, f.targets[i].Code = chain.TargetUnhealthy, chain.CodeFailedHealthChecks
			}
		}, "failure health/all_unhealthy_fail_open ✔✖✔", "2 unhealthy (Target.FailedHealthChecks 2)"},
		"only Fargate nodes": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Nodes = nil, []chain.Node{{Name: "fargate", Ready: true, Excluded: true}}
		}, "failure registration/no_targets ✖·✔", "no Ready node of the cluster is an EC2 instance"},
		"C66 instances that the controller could not open": {func(f *albFake, _ *chain.Target) {
			f.targets[0].State, f.targets[0].Code = chain.TargetUnhealthy, chain.CodeTimeout
			f.trouble = chain.BindingTrouble{Reason: chain.ReasonTGBNetworkReconcileFailed, Last: noon}
		}, "failure registration/tgb_network_reconcile_failed ✖·✔", "do not answer"},
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
