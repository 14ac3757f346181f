// Tests of groups that several bindings fill: by the multi-cluster flag, each cluster answers for its own targets; without it, they evict each other.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestMultiClusterGroup(t *testing.T) {
	cases := map[string]albCase{
		"both clusters are well": {func(*albFake, *chain.Target) {}, allGood, ""},
		"another cluster's outage is its own": {func(f *albFake, _ *chain.Target) {
			f.targets[3].State, f.targets[3].Code = chain.TargetUnhealthy, chain.CodeTimeout
		}, allGood, ""},
		"another cluster's zone as well": {func(f *albFake, _ *chain.Target) {
			f.targets[3].State, f.targets[3].Code, f.targets[3].Zone = chain.TargetUnused, chain.CodeNotInUse, "eu-west-1c"
		}, allGood, ""},
		"its own zone is not": {func(f *albFake, _ *chain.Target) {
			f.targets[2].State, f.targets[2].Code, f.targets[2].Zone = chain.TargetUnused, chain.CodeNotInUse, "eu-west-1c"
		}, "failure registration/target_az_not_enabled ✖·✔", "1 of 3 targets"},
		"another cluster's targets do not make up for its own": {func(f *albFake, _ *chain.Target) { f.unhealthy(chain.CodeTimeout, 0, 1) }, "failure health/health_check_timeout ✔✖✔", "1 of at least 2 targets healthy"},
		"they do keep the load balancer from failing open":     {func(f *albFake, _ *chain.Target) { f.unhealthy(chain.CodeTimeout, 0, 1, 2) }, "failure health/health_check_timeout ✔✖✔", "0 of at least 2 targets"},
		"nobody is healthy":                  {func(f *albFake, _ *chain.Target) { f.unhealthy(chain.CodeTimeout, 0, 1, 2, 3) }, "failure health/all_unhealthy_fail_open ✔✖✔", "none of 3 targets"},
		"none of its own is there":           {func(f *albFake, _ *chain.Target) { f.targets = f.targets[3:] }, "failure registration/no_targets ✖·✔", "1 target, none of them of this cluster"},
		"its own pods are not ready":         {func(f *albFake, _ *chain.Target) { all := f.targets; f.asleep(); f.targets = all[3:] }, "failure registration/no_ready_endpoints ✖·✔", "none of them of this cluster"},
		"its own were evicted":               {func(f *albFake, _ *chain.Target) { f.drain(0, 1, 2) }, "failure registration/target_group_shared ✖·✔", "in the group are targets that this cluster does not have: 10.9.0.1"},
		"one of its own is not registered":   {func(f *albFake, _ *chain.Target) { f.targets = append(f.targets[:2:2], f.targets[3]) }, allGood, ""},
		"whose they are was not read":        {func(f *albFake, _ *chain.Target) { f.fails["Backends"] = denied("list endpointslices") }, "unknown registration/observer_denied ?·✔", ""},
		"a second binding, without the flag": {func(f *albFake, _ *chain.Target) { f.bindAgain("web", false) }, "failure registration/target_group_shared ✖·✔", "shop/second (service web) fills this group too"},
		"a second binding, with it":          {func(f *albFake, _ *chain.Target) { f.bindAgain("web", true) }, allGood, ""},
	}
	for name, c := range cases {
		change := c.change
		c.change = func(f *albFake, tg *chain.Target) {
			f.binding.MultiCluster = true
			f.foreigner(chain.TargetHealthy)
			change(f, tg)
		}
		cases[name] = c
	}
	runCases(t, cases)
}

func (f *albFake) unhealthy(code string, places ...int) {
	for _, i := range places {
		f.targets[i].State, f.targets[i].Code = chain.TargetUnhealthy, code
	}
}

func (f *albFake) drain(places ...int) {
	for _, i := range places {
		f.targets[i].State, f.targets[i].Code = chain.TargetDraining, chain.CodeDeregistrationInProgress
	}
}

// bindAgain adds a binding of the same group.
func (f *albFake) bindAgain(service string, multiCluster bool) {
	f.others = append(f.others, chain.Binding{BindingRef: chain.BindingRef{Namespace: "shop", Name: "second"}, GroupARN: shopARN, Service: service, Port: "80", MultiCluster: multiCluster})
}

func TestBoundTwice(t *testing.T) {
	const shared = "failure registration/target_group_shared ✖·✔"
	runCases(t, map[string]albCase{
		"another service":                       {func(f *albFake, _ *chain.Target) { f.bindAgain("web", false) }, shared, "shop/second"},
		"the group is empty":                    {func(f *albFake, _ *chain.Target) { f.bindAgain("web", false); f.targets = nil }, shared, "shop/second"},
		"pods come first":                       {func(f *albFake, _ *chain.Target) { f.bindAgain("web", false); f.asleep() }, "failure registration/no_ready_endpoints ✖·✔", ""},
		"the same service and port":             {func(f *albFake, _ *chain.Target) { f.bindAgain("shop", false) }, allGood, ""},
		"the same service in another namespace": {func(f *albFake, _ *chain.Target) { f.bindAgain("shop", false); f.others[0].Namespace = "test" }, shared, "test/second"},
		"with the flag":                         {func(f *albFake, _ *chain.Target) { f.bindAgain("web", true) }, allGood, ""},
		"of another group":                      {func(f *albFake, _ *chain.Target) { f.bindAgain("web", false); f.others[0].GroupARN = shopARN + "0" }, allGood, ""},
		"by the group's name": {func(f *albFake, _ *chain.Target) {
			f.bindAgain("web", false)
			f.others[0].GroupARN, f.others[0].GroupName = "", "shop"
		}, shared, ""},
		"that name in another account": {func(f *albFake, _ *chain.Target) {
			f.bindAgain("web", false)
			f.others[0].GroupARN, f.others[0].GroupName, f.others[0].RoleARN = "", "shop", "arn:aws:iam::999999999999:role/lbc"
		}, allGood, ""},
	})
}

// A group that is known to be one of several clusters stays one in a run that cannot read the binding: nothing of others is counted.
func TestMultiClusterIsRemembered(t *testing.T) {
	f := newALBFake()
	f.binding.MultiCluster = true
	f.foreigner(chain.TargetHealthy)
	p := albProber(t, f)
	run := runALB(t, p, shopTarget())
	expect(t, run, allGood, "")
	if !run.Reading.Targets[3].Foreign || run.Reading.Good() != 3 {
		t.Errorf("another cluster's target is counted: %+v", run.Reading.Targets)
	}
	f.now, f.fails["Binding"] = f.now.Add(30*time.Second), denied("get targetgroupbindings")
	run = runALB(t, p, shopTarget())
	expect(t, run, "unknown registration/observer_denied ?·✔", "")
	if run.Reading != nil {
		t.Errorf("the reading is %+v", run.Reading)
	}
}
