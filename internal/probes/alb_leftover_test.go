// Tests of leftovers, and of targets that do not answer since the controller could not open their security groups.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// replaced gives pods new addresses, ready for so long; what is registered stays as it is, and fails.
func (f *albFake) replaced(age time.Duration, places ...int) {
	for _, i := range places {
		f.backends.Endpoints[i].Address = fmt.Sprintf("10.0.3.3%d", i)
		f.pods[i].Address, f.pods[i].ReadySince = f.backends.Endpoints[i].Address, noon.Add(-age)
		f.targets[i].State, f.targets[i].Code = chain.TargetUnhealthy, chain.CodeTimeout
	}
}

func TestLeftovers(t *testing.T) {
	const none, open = "failure registration/no_targets ✖·✔", "failure health/all_unhealthy_fail_open ✔✖✔"
	runCases(t, map[string]albCase{
		"a rollout that the controller did not see (#2459)": {func(f *albFake, _ *chain.Target) { f.replaced(time.Hour, 0, 1, 2) }, none,
			"none but failing targets that the cluster does not have (3 unhealthy (Target.Timeout 3)); 3 endpoints of service shop are ready, and the binding's events say nothing"},
		"that of a moment ago": {func(f *albFake, _ *chain.Target) { f.replaced(20*time.Second, 0, 1, 2) }, open, ""},
		"the controller is denied": {func(f *albFake, _ *chain.Target) {
			f.replaced(time.Hour, 0, 1, 2)
			f.trouble = chain.BindingTrouble{Reason: chain.ReasonControllerAccessDenied, Text: "denied", Last: noon}
		}, "failure registration/controller_access_denied ✖·✔", "denied"},
		"and the new pods are not ready": {func(f *albFake, _ *chain.Target) {
			f.replaced(time.Hour, 0, 1, 2)
			for i := range f.pods {
				f.backends.Endpoints[i].Ready, f.pods[i].Ready, f.pods[i].ContainersReady, f.pods[i].Gates = false, false, false, nil
			}
		}, "failure registration/no_ready_endpoints ✖·✔", "3 not ready"},
		"the service was scaled to zero": {func(f *albFake, _ *chain.Target) { f.replaced(time.Hour, 0, 1, 2); f.backends.Endpoints = nil },
			"failure registration/no_ready_endpoints ✖·✔", "matches no pod"},
		"one pod is as it was": {func(f *albFake, _ *chain.Target) { f.replaced(time.Hour, 0, 2) }, "failure health/below_min_healthy ✔✖✔",
			"1 of at least 2 targets healthy: 1 healthy, 2 unhealthy (Target.Timeout 2); ready in the cluster and not registered: 10.0.3.30, 10.0.3.32; registered, and not in the cluster any more: 10.0.1.11, 10.0.1.13"},
		"one pod is as it was, and the controller says something": {func(f *albFake, _ *chain.Target) {
			f.replaced(time.Hour, 0, 2)
			f.trouble.Other = "TooManyTargets"
		}, "failure health/below_min_healthy ✔✖✔", "newest warning says: TooManyTargets"},
		"one pod is as it was, and fails": {func(f *albFake, _ *chain.Target) {
			f.replaced(time.Hour, 0, 1)
			f.targets[2].State, f.targets[2].Code = chain.TargetUnhealthy, chain.CodeResponseCodeMismatch
			f.addPod(4)
		}, "failure health/health_check_code_mismatch ✔✖✔", ""},
		"enough are healthy": {func(f *albFake, tg *chain.Target) { f.replaced(time.Hour, 0, 2); tg.Group.MinHealthy = 1 }, allGood, ""},
		"without a cluster none is told": {func(f *albFake, tg *chain.Target) {
			f.replaced(time.Hour, 0, 1, 2)
			tg.Group.Binding = chain.BindingRef{}
		}, open, ""},
		"a group of several clusters is not": {func(f *albFake, _ *chain.Target) { f.replaced(time.Hour, 0, 2); f.binding.MultiCluster = true }, "failure health/below_min_healthy ✔✖✔", ""},
		"addresses that are load balancers'": {func(f *albFake, _ *chain.Target) { f.set("unused Target.IpUnusable") }, "failure health/below_min_healthy ✔✖✔", "0 of at least 2"},
		"pods wait for the gate, and are not": {func(f *albFake, _ *chain.Target) {
			f.gated("shop")
			f.pods[0].Gates, f.backends.Endpoints[0].Ready = nil, true
			f.set("healthy")
		}, "failure health/below_min_healthy ✔✖✔", "2 pods wait for the binding's readiness gate"},
	})
}

// C66: the controller registers pods whose security groups it could not open (FailedNetworkReconcile), so that they are there and do not answer.
func TestUnreachable(t *testing.T) {
	const network = "failure registration/tgb_network_reconcile_failed ✖·✔"
	closed := func(f *albFake, states ...string) {
		f.set(states...)
		f.trouble = chain.BindingTrouble{Reason: chain.ReasonTGBNetworkReconcileFailed, Text: "expected exactly one securityGroup tagged", Last: noon.Add(-time.Minute)}
	}
	runCases(t, map[string]albCase{
		"all time out":  {func(f *albFake, _ *chain.Target) { closed(f, timedOut, timedOut, timedOut) }, network, "expected exactly one securityGroup"},
		"some time out": {func(f *albFake, _ *chain.Target) { closed(f, "healthy", timedOut, timedOut) }, network, "targets are registered and do not answer the health check (1 healthy, 2 unhealthy (Target.Timeout 2))"},
		"enough answer": {func(f *albFake, _ *chain.Target) { closed(f, "healthy", "healthy", timedOut) }, allGood, ""},
		"they answer":   {func(f *albFake, _ *chain.Target) { closed(f, "healthy", wrongCode, wrongCode) }, "failure health/health_check_code_mismatch ✔✖✔", ""},
		"they refuse":   {func(f *albFake, _ *chain.Target) { closed(f, "healthy", failedCheck, failedCheck) }, "failure health/health_check_failed ✔✖✔", ""},
		"behind a network load balancer that is no refusal": {func(f *albFake, _ *chain.Target) {
			closed(f, "healthy", failedCheck, failedCheck)
			f.group.LoadBalancers[0].Type = chain.LoadBalancerNetwork
		}, network, ""},
		"the controller says nothing": {func(f *albFake, _ *chain.Target) { f.set(timedOut, timedOut, "healthy") }, "failure health/health_check_timeout ✔✖✔", ""},
		"it is denied to register, and is": {func(f *albFake, _ *chain.Target) {
			closed(f, timedOut, timedOut, "healthy")
			f.trouble.Reason = chain.ReasonControllerAccessDenied
		}, "failure health/health_check_timeout ✔✖✔", ""},
		"events may not be read": {func(f *albFake, _ *chain.Target) {
			f.set(timedOut, timedOut, "healthy")
			f.fails["Trouble"] = denied("list events")
		}, "failure health/health_check_timeout ✔✖✔", ""},
	})
}

// What fails among instances, and what of it explains anything.
func TestInstancesThatFail(t *testing.T) {
	runInstanceCases(t, map[string]albCase{
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
		}, "failure registration/service_type_mismatch ✖·✔", "2 targets registered as instances, and the service shop (ClusterIP) has no node port for port 80 any more"},
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
	})
}
