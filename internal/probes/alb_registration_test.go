// Tests of the step registration for pods: every reason, beside the neighbour that is not it.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (f *albFake) none(ready bool) {
	f.targets = nil
	for i := range f.backends.Endpoints {
		f.backends.Endpoints[i].Ready = ready
	}
}

// asleep makes every pod wait, with containers that are not ready.
func (f *albFake) asleep() {
	f.none(false)
	for i := range f.pods {
		f.pods[i].Ready, f.pods[i].ContainersReady, f.pods[i].Gates[0].Passed = false, false, false
	}
}

func TestBindingMissing(t *testing.T) {
	runCases(t, map[string]albCase{
		"it is not there":        {func(f *albFake, _ *chain.Target) { f.found = false }, "failure registration/binding_missing ✖·✔", "has no TargetGroupBinding shop/shop"},
		"it is of another group": {func(f *albFake, _ *chain.Target) { f.binding.GroupARN = strings.Replace(shopARN, "shop", "web", 1) }, "failure registration/binding_missing ✖·✔", "/web/"},
		"it names another group": {func(f *albFake, _ *chain.Target) { f.binding.GroupARN, f.binding.GroupName = "", "web" }, "failure registration/binding_missing ✖·✔", "named web"},
		"it names this group":    {func(f *albFake, _ *chain.Target) { f.binding.GroupARN, f.binding.GroupName = "", "shop" }, allGood, ""},
		"C71 the group is gone comes first": {func(f *albFake, _ *chain.Target) {
			f.found, f.fails["Health"] = false, fail(chain.StepRegistration, chain.ReasonTargetGroupMissing)
		}, "failure registration/target_group_missing ✖·✔", "as told"},
		"C71 a group that is gone, by name": {func(f *albFake, tg *chain.Target) {
			tg.Group.ARN, tg.Group.Name = "", "shop"
			f.fails["Group"] = fail(chain.StepRegistration, chain.ReasonTargetGroupMissing)
		}, "failure registration/target_group_missing ✖·✔", "as told"},
	})
}

func TestAttachment(t *testing.T) {
	unused := func(f *albFake, _ *chain.Target) { f.set("healthy", "healthy", "unused Target.NotInUse") }
	inZone := func(name string) func(*albFake, *chain.Target) {
		return func(f *albFake, tg *chain.Target) {
			unused(f, tg)
			f.targets[2].Zone, f.backends.Endpoints[2].Zone = name, name
		}
	}
	both := func(a, b func(*albFake, *chain.Target)) func(*albFake, *chain.Target) {
		return func(f *albFake, tg *chain.Target) { a(f, tg); b(f, tg) }
	}
	balancer := func(state string) func(*albFake, *chain.Target) {
		return func(f *albFake, _ *chain.Target) { f.group.LoadBalancers[0].State = state }
	}
	detached := func(f *albFake, _ *chain.Target) { f.group.LoadBalancers = nil }
	const off, missing = "failure registration/target_az_not_enabled ✖·✔", "failure registration/target_group_not_attached ✖·✔"
	runCases(t, map[string]albCase{
		"no load balancer":            {func(f *albFake, tg *chain.Target) { detached(f, tg); f.set("unused Target.NotInUse") }, missing, "1 target"},
		"no load balancer, no target": {func(f *albFake, tg *chain.Target) { detached(f, tg); f.targets = nil }, missing, "0 targets"},
		"a Lambda function without a listener": {func(f *albFake, tg *chain.Target) {
			detached(f, tg)
			f.group.TargetType = "lambda"
			f.set("unused Target.NotInUse")
			tg.Group.Binding = chain.BindingRef{}
		}, missing, ""},
		"attached since the group was read":             {func(f *albFake, tg *chain.Target) { detached(f, tg); f.set("initial", "healthy", "healthy") }, allGood, ""},
		"C70 some targets are in a zone that is off":    {inZone("eu-west-1c"), off, "1 of 3 targets unused (10.0.1.13), in eu-west-1c, which the load balancer shop-alb does not serve; it serves eu-west-1a, eu-west-1b"},
		"the endpoint knows the zone":                   {func(f *albFake, tg *chain.Target) { inZone("eu-west-1c")(f, tg); f.targets[2].Zone = "" }, off, "in eu-west-1c"},
		"nobody knows the zone":                         {inZone(""), off, "in a zone that is not told"},
		"nobody knows the zone, and the group is older": {both(inZone(""), func(f *albFake, _ *chain.Target) { f.group.Read = noon.Add(-50 * time.Second) }), allGood, ""},
		"the zone is on":                                {unused, allGood, ""},
		"a target outside the VPC":                      {inZone("all"), allGood, ""},
		"the load balancer is being made":               {both(inZone("eu-west-1c"), balancer("provisioning")), allGood, ""},
		"an impaired load balancer serves":              {both(inZone("eu-west-1c"), balancer("active_impaired")), off, ""},
		"another load balancer serves the zone": {both(inZone("eu-west-1c"), func(f *albFake, _ *chain.Target) {
			f.group.LoadBalancers = append(f.group.LoadBalancers, chain.LoadBalancer{Name: "two", State: chain.LoadBalancerActive, Zones: []string{"eu-west-1c"}})
		}), allGood, ""},
		"unused for another reason": {both(inZone("eu-west-1c"), func(f *albFake, _ *chain.Target) { f.targets[2].Code = chain.CodeIPUnusable }), allGood, ""},
		"the zone is not known, and the cluster was not read": {both(inZone(""), func(f *albFake, _ *chain.Target) { f.fails["Backends"] = denied("list endpointslices") }),
			"unknown registration/observer_denied ?✔✔", ""},
		"whose targets they are is not known": {both(inZone("eu-west-1c"), func(f *albFake, _ *chain.Target) { f.fails["Binding"] = denied("get targetgroupbindings") }),
			"unknown registration/observer_denied ?✔✔", ""},
	})
}

func TestEmptyGroup(t *testing.T) {
	trouble := func(reason chain.Reason) func(*albFake, *chain.Target) {
		return func(f *albFake, _ *chain.Target) {
			f.targets, f.trouble = nil, chain.BindingTrouble{Reason: reason, Text: "AccessDenied: not authorized", Last: noon.Add(-time.Minute)}
		}
	}
	const none, notReady = "failure registration/no_targets ✖·✔", "failure registration/no_ready_endpoints ✖·✔"
	runCases(t, map[string]albCase{
		"no cluster is named":              {func(f *albFake, tg *chain.Target) { f.targets, tg.Group.Binding = nil, chain.BindingRef{} }, none, "no binding is named"},
		"endpoints are ready":              {func(f *albFake, _ *chain.Target) { f.targets = nil }, none, "3 endpoints of service shop are ready"},
		"C64 the service is gone":          {func(f *albFake, _ *chain.Target) { f.none(true); f.backends.Service.Found = false }, notReady, "the service shop/shop does not exist"},
		"C64 the selector matches nothing": {func(f *albFake, _ *chain.Target) { f.targets, f.backends.Endpoints = nil, nil }, notReady, "its selector app=shop matches no pod"},
		"a service without selector": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Service.Selector = nil, nil, nil
		}, notReady, "no selector"},
		"C64 no pod is ready": {func(f *albFake, _ *chain.Target) { f.asleep() }, notReady, "3 not ready, 0 terminating"},
		"all are terminating": {func(f *albFake, _ *chain.Target) { f.none(false); f.terminate(0, 1, 2) }, notReady, "none but terminating endpoints (3)"},
		"all drain after a scale to zero": {func(f *albFake, _ *chain.Target) {
			f.set("draining Target.DeregistrationInProgress")
			f.backends.Endpoints = nil
		}, notReady, "none but leaving targets (1 draining"},
		"C64 the service has not the binding's port": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Service.Ports = nil, nil, []string{"8080 (http)"}
		}, notReady, "the service shop has no port 80, which the binding names; its ports are: 8080 (http)"},
		"C64 the service has no port at all": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Service.Ports = nil, nil, []string{}
		}, notReady, "its ports are: none"},
		"C64 the endpoints are of the other family": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Unfit.Family = nil, nil, 3
		}, notReady, "of the service shop, 3 endpoints: of the other address family"},
		"C64 no container names the target port": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Unfit.Port = nil, nil, 3
		}, notReady, "no container names the target port"},
		"C64 the endpoints are no pods": {func(f *albFake, _ *chain.Target) {
			f.targets, f.backends.Endpoints, f.backends.Unfit.NoPod = nil, nil, 1
		}, notReady, "of the service shop, 1 endpoint: no pods"},
		"C65 the controller is denied": {trouble(chain.ReasonControllerAccessDenied), "failure registration/controller_access_denied ✖·✔", "not authorized"},
		"the controller's networking":  {trouble(chain.ReasonTGBNetworkReconcileFailed), "failure registration/tgb_network_reconcile_failed ✖·✔", ""},
		"the denial of a group that is filled": {func(f *albFake, tg *chain.Target) {
			targets := f.targets
			trouble(chain.ReasonControllerAccessDenied)(f, tg)
			f.targets = targets
		}, allGood, ""},
		"C65 denied, and so no gate is set": {func(f *albFake, tg *chain.Target) {
			f.gated("shop")
			trouble(chain.ReasonControllerAccessDenied)(f, tg)
		}, "failure registration/controller_access_denied ✖·✔", ""},
		"pods wait for the gate, and nothing says why":         {func(f *albFake, _ *chain.Target) { f.gated("shop"); f.targets = nil }, none, "3 pods wait for the binding's readiness gate"},
		"C76 pods wait for the gate of a binding that is gone": {func(f *albFake, _ *chain.Target) { f.gated("former"); f.targets = nil }, "failure registration/readiness_gate_stale ✖·✔", "shop/former, which does not exist"},
		"pods wait for another binding's gate": {func(f *albFake, _ *chain.Target) {
			f.gated("web")
			f.targets, f.others = nil, []chain.Binding{{BindingRef: chain.BindingRef{Namespace: "shop", Name: "web"}, GroupARN: "other"}}
		}, notReady, "3 not ready"},
		"C68 all were evicted, and what evicted them leaves too": {func(f *albFake, _ *chain.Target) {
			f.set("draining", "draining", "draining")
			f.foreigner(chain.TargetDraining)
		}, "failure registration/target_group_shared ✖·✔", foreignAddr},
		"all drain though they are ready, and nobody else is there": {func(f *albFake, _ *chain.Target) { f.set("draining", "draining", "draining") }, none, "3 endpoints"},
		"others leave, and its own were never in":                   {func(f *albFake, _ *chain.Target) { f.targets = nil; f.foreigner(chain.TargetDraining) }, none, "3 endpoints"},
		"events that decide nothing are not read":                   {func(f *albFake, _ *chain.Target) { f.asleep(); f.fails["Trouble"] = denied("list events") }, notReady, ""},
		"events that decide are":                                    {func(f *albFake, _ *chain.Target) { f.targets = nil; f.fails["Trouble"] = denied("list events") }, "failure registration/no_targets ✖·✔", "why could not be read: no list events"},
		"the controller says what no list has": {func(f *albFake, _ *chain.Target) {
			f.targets, f.trouble.Other = nil, "ValidationError: The IP address '10.0.1.11' is not within the VPC"
		}, none, "3 endpoints of service shop are ready, and the binding's newest warning says: ValidationError"},
		"a Lambda function's group": {func(f *albFake, _ *chain.Target) { f.targets, f.group.TargetType = nil, "lambda" }, none, ""},
	})
}

// terminate puts endpoints on their way out.
func (f *albFake) terminate(places ...int) {
	for _, i := range places {
		f.backends.Endpoints[i].Ready, f.backends.Endpoints[i].Terminating = false, true
	}
}

// gated makes every pod wait for one gate only.
func (f *albFake) gated(binding string) {
	for i := range f.pods {
		f.backends.Endpoints[i].Ready, f.pods[i].Ready = false, false
		f.pods[i].Gates = []chain.ReadinessGate{{Binding: binding, Set: true, Since: f.pods[i].Created}}
	}
}

func TestNotRegistered(t *testing.T) {
	// young is a third pod that is ready and not registered, for so long.
	young := func(age time.Duration) func(*albFake) {
		return func(f *albFake) { f.targets, f.pods[2].ReadySince = f.targets[:2], noon.Add(-age) }
	}
	denial := func(age time.Duration) chain.BindingTrouble {
		return chain.BindingTrouble{Reason: chain.ReasonControllerAccessDenied, Text: "denied", Last: noon.Add(-age)}
	}
	const shared, kept = "failure registration/target_group_shared ✖·✔", "failure registration/controller_access_denied ✖·✔"
	runCases(t, map[string]albCase{
		"a ready endpoint is not registered, and nothing says why": {func(f *albFake, _ *chain.Target) { young(time.Hour)(f) }, allGood, ""},
		"C65 the controller is denied":                             {func(f *albFake, _ *chain.Target) { young(5 * time.Minute)(f); f.trouble = denial(4 * time.Minute) }, kept, "1 target should be registered and are not: 10.0.1.13"},
		"it was denied before that":                                {func(f *albFake, _ *chain.Target) { young(5 * time.Minute)(f); f.trouble = denial(40 * time.Minute) }, allGood, ""},
		"the controller needs some seconds":                        {func(f *albFake, _ *chain.Target) { young(20 * time.Second)(f); f.trouble = denial(0) }, allGood, ""},
		"C68 another cluster's targets are there instead":          {func(f *albFake, _ *chain.Target) { young(time.Hour)(f); f.foreigner(chain.TargetHealthy) }, shared, "10.0.1.13"},
		"C68 what is evicted drains": {func(f *albFake, _ *chain.Target) {
			f.set("healthy", "healthy", "draining")
			f.foreigner(chain.TargetInitial)
		}, shared, "10.0.1.13"},
		"a rollout in the first seconds": {func(f *albFake, _ *chain.Target) { young(20 * time.Second)(f); f.foreigner(chain.TargetHealthy) }, allGood, ""},
		"only others are there":          {func(f *albFake, _ *chain.Target) { f.foreigner(chain.TargetHealthy) }, allGood, ""},
		"what others left behind drains": {func(f *albFake, _ *chain.Target) { young(time.Hour)(f); f.foreigner(chain.TargetDraining) }, allGood, ""},
		"what a pod left behind fails":   {func(f *albFake, _ *chain.Target) { young(time.Hour)(f); f.foreigner(chain.TargetUnhealthy) }, allGood, ""},
		"C65 denied while leftovers pass": {func(f *albFake, _ *chain.Target) {
			young(time.Hour)(f)
			f.foreigner(chain.TargetHealthy)
			f.trouble = denial(time.Minute)
		}, kept, ""},
		"no selector finds its pods": {func(f *albFake, _ *chain.Target) {
			f.terminate(2)
			f.backends.Endpoints[2].Terminating, f.backends.Service.Selector = false, nil
		}, allGood, ""},
		"a former pod had the address": {func(f *albFake, _ *chain.Target) {
			former := f.backends.Endpoints[2]
			former.Ready, former.Terminating, former.Pod = false, true, "shop-0"
			f.backends.Endpoints = append(f.backends.Endpoints, former)
			f.trouble = denial(0)
		}, allGood, ""},
		"another slice has it too": {func(f *albFake, _ *chain.Target) {
			young(time.Hour)(f)
			f.backends.Endpoints = append(f.backends.Endpoints, f.backends.Endpoints[2])
			f.trouble = denial(0)
		}, kept, "1 target should be"},
		"a pod that terminates drains": {func(f *albFake, _ *chain.Target) {
			f.set("healthy", "healthy", "draining")
			f.terminate(2)
			f.foreigner(chain.TargetHealthy)
		}, allGood, ""},
		"the port is another": {func(f *albFake, _ *chain.Target) {
			f.backends.Endpoints[2].Port = 9090
			f.trouble = denial(time.Minute)
		}, kept, "10.0.1.13"},
	})
}

// What belongs together is told as evidence, also where nothing is wrong.
func TestReadingTellsWhatIsMissingAndForeign(t *testing.T) {
	f := newALBFake()
	f.targets = f.targets[:2]
	f.foreigner(chain.TargetHealthy)
	f.pods[2].ReadySince = noon.Add(-10 * time.Second)
	run := runALB(t, albProber(t, f), shopTarget())
	expect(t, run, allGood, "")
	if got := run.Reading.Missing; len(got) != 1 || got[0] != address(3) || run.Facts()[chain.FactMissing] != address(3) || run.Facts()[chain.FactForeign] != foreignAddr {
		t.Errorf("missing is %v, the facts are %v", got, run.Facts())
	}
	if run.Reading.Targets[2].Foreign || run.Reading.Good() != 3 {
		t.Errorf("a target that nobody else answers for is not counted: %+v", run.Reading.Targets[2])
	}
	f.pods[2].ReadySince = noon.Add(-time.Hour)
	run = runALB(t, albProber(t, f), shopTarget())
	if !run.Reading.Targets[2].Foreign || run.Reading.Targets[0].Foreign {
		t.Errorf("the targets of a shared group are %+v", run.Reading.Targets)
	}
}
