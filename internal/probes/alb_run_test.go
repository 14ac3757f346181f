// Tests of the alb chain's walk: who is blamed, what runs whatever happens, and that a side that cannot be read is never a failure.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// expect compares a run's verdict, and looks for a part of its detail.
func expect(t *testing.T, run chain.Run, want, detail string) {
	t.Helper()
	if got := verdict(run); got != want || !strings.Contains(run.Verdict.Detail, detail) {
		t.Errorf("got  %s: %s\nwant %s: …%s…", got, run.Verdict.Detail, want, detail)
	}
}

func TestHealthyGroup(t *testing.T) {
	f := newALBFake()
	run := runALB(t, albProber(t, f), shopTarget())
	expect(t, run, allGood, "")
	for call, want := range map[string]int{"Group": 1, "Health": 1, "Attributes": 0, "Binding": 1, "List": 1, "Backends": 1, "Pods": 0, "Trouble": 0, "Do": 1} {
		if got := f.count(call); got != want {
			t.Errorf("%s was called %d times, want %d", call, got, want)
		}
	}
	want := chain.Facts{
		chain.FactTargetGroup: "shop", chain.FactTargetGroupARN: shopARN, chain.FactTargetType: "ip", chain.FactTargets: "3 healthy", chain.FactEndpoints: "3 ready, 0 not ready, 0 terminating",
		chain.FactZones: "eu-west-1a,eu-west-1b", chain.FactLoadBalancerState: "shop-alb active", chain.FactLoadBalancerARN: shopALB, chain.FactService: "shop", chain.FactHTTPStatus: "200",
		chain.FactHealthCheck: "HTTP:traffic-port/healthz every 15s, timeout 5s, healthy after 2, unhealthy after 2, expects 200", chain.FactHTTPTime: "12",
	}
	for _, odd := range []chain.Fact{chain.FactAnomaly, chain.FactZonalShift, chain.FactMissing, chain.FactForeign, chain.FactFailOpen, chain.FactLastRead, chain.FactEvent} {
		want[odd] = ""
	}
	for name, value := range want {
		if got := run.Facts()[name]; got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	reading := run.Reading
	if reading == nil || reading.Good() != 3 || reading.Bad() != 0 || reading.FailOpen || len(reading.Missing) > 0 || !reading.At.Equal(noon) || reading.Group.ARN != shopARN {
		t.Fatalf("the reading is %+v", reading)
	}
	if first := reading.Targets[0]; first.Pod != "shop-1" || first.Node != "node-a" || first.Foreign || !first.Since.Equal(noon) {
		t.Errorf("the first target is %+v", first)
	}
}

// denied is a refused read.
func denied(action string) error {
	return chain.Unsure(chain.ReasonObserverDenied, "no "+action, chain.Facts{chain.FactAction: action}, nil)
}

func TestALBWalk(t *testing.T) {
	throttled := chain.Unsure(chain.ReasonELBAPIThrottled, "Throttling", nil, nil)
	status := func(f *albFake) { f.response.Status = 503 }
	runCases(t, map[string]albCase{
		"C73 ELB throttles: nothing is judged, and users' requests are made": {func(f *albFake, _ *chain.Target) { f.fails["Health"] = throttled }, "unknown registration/elb_api_throttled ?·✔", "Throttling"},
		"the request's failure shows beside it":                              {func(f *albFake, _ *chain.Target) { f.fails["Health"] = throttled; status(f) }, "failure request/status_mismatch ?·✖", "503"},
		"ELB refuses the load balancers":                                     {func(f *albFake, _ *chain.Target) { f.fails["Group"] = denied("DescribeLoadBalancers") }, "unknown registration/observer_denied ?·✔", ""},
		"the first failing step is blamed":                                   {func(f *albFake, _ *chain.Target) { f.group.LoadBalancers, f.targets = nil, nil; status(f) }, "failure registration/target_group_not_attached ✖·✖", ""},
		"unhealthy targets and a good request": {func(f *albFake, _ *chain.Target) {
			f.set("unhealthy Target.Timeout", "unhealthy Target.Timeout", "healthy")
		},
			"failure health/health_check_timeout ✔✖✔", ""},
		"nothing is requested":               {func(_ *albFake, tg *chain.Target) { tg.Group.Request = nil }, "success / ✔✔·", ""},
		"no cluster is named":                {func(_ *albFake, tg *chain.Target) { tg.Group.Binding, tg.Cluster = chain.BindingRef{}, chain.Cluster{} }, allGood, ""},
		"the group is known by its name":     {func(_ *albFake, tg *chain.Target) { tg.Group.ARN, tg.Group.Name = "", "shop" }, allGood, ""},
		"the cluster refuses the binding":    {func(f *albFake, _ *chain.Target) { f.fails["Binding"] = denied("get targetgroupbindings") }, "unknown registration/observer_denied ?✔✔", "get targetgroupbindings"},
		"it refuses the list of them":        {func(f *albFake, _ *chain.Target) { f.fails["List"] = denied("list targetgroupbindings") }, "unknown registration/observer_denied ?✔✔", ""},
		"it refuses what is behind it":       {func(f *albFake, _ *chain.Target) { f.fails["Backends"] = denied("list endpointslices") }, "unknown registration/observer_denied ?✔✔", ""},
		"so an empty group is not explained": {func(f *albFake, _ *chain.Target) { f.fails["Backends"], f.targets = denied("list endpointslices"), nil }, "failure registration/no_targets ✖·✔", "why could not be read: no list endpointslices"},
		"pods that decide nothing are not read": {func(f *albFake, _ *chain.Target) {
			f.fails["Pods"], f.fails["Trouble"] = denied("list pods"), denied("list events")
		}, allGood, ""},
		"pods that decide are": {func(f *albFake, _ *chain.Target) { f.fails["Pods"], f.targets = denied("list pods"), f.targets[:2] }, "unknown registration/observer_denied ?✔✔", "list pods"},
		"pods tell the age of an initial target, which is fresh without them": {func(f *albFake, _ *chain.Target) {
			f.fails["Pods"] = denied("list pods")
			f.set("healthy", "initial", "initial")
		}, "failure health/below_min_healthy ✔✖✔", ""},
		"events that decide are read": {func(f *albFake, _ *chain.Target) {
			f.fails["Trouble"], f.targets = denied("list events"), f.targets[:2]
		}, "unknown registration/observer_denied ?✔✔", "list events"},
		"what ELB alone shows is blamed all the same": {func(f *albFake, _ *chain.Target) {
			f.fails["Backends"], f.group.LoadBalancers = denied("list endpointslices"), nil
			f.set("unused Target.NotInUse")
		}, "failure registration/target_group_not_attached ✖·✔", ""},
	})
}

// Whoever hangs, the others are read and the run ends in time.
func TestALBHangs(t *testing.T) {
	for name, c := range map[string]struct {
		hangs, want string
		took        time.Duration
	}{
		"the binding":           {"Binding", "unknown registration/observer_unavailable ?✔✔", 937500 * time.Microsecond},
		"ELB":                   {"Health", "unknown registration/observer_unavailable ?·✔", 2812500 * time.Microsecond},
		"what is behind it":     {"Backends", "unknown registration/observer_unavailable ?✔✔", 3750 * time.Millisecond},
		"the group's inventory": {"Group", "unknown registration/observer_unavailable ?·✔", 2812500 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, began := newALBFake(), time.Now()
				f.hangs[c.hangs] = true
				expect(t, runALB(t, albProber(t, f), shopTarget()), c.want, "no answer")
				if took := time.Since(began); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
			})
		})
	}
}

// A cluster that EKS does not know, or that is another account's, says nothing of the group.
func TestClusterOfAGroupIsNotJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fake, *chain.Target)
		want   string
	}{
		"EKS knows none": {func(f *fake, _ *chain.Target) {
			f.cluster = func() (chain.ClusterInfo, error) {
				return chain.ClusterInfo{}, fail(chain.StepToken, chain.ReasonClusterNotFound)
			}
		}, "unknown registration/observer_unavailable ?✔✔"},
		"it is another account's":            {func(_ *fake, tg *chain.Target) { tg.Cluster.AccountID = "999999999999" }, "unknown registration/observer_unavailable ?✔✔"},
		"EKS throttles":                      {func(f *fake, _ *chain.Target) { f.cluster = clusterFails(chain.ReasonEKSAPIThrottled) }, "unknown registration/eks_api_throttled ?✔✔"},
		"its endpoint is the observer's way": {func(*fake, *chain.Target) {}, allGood},
	} {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), shopTarget()
			c.change(f, &target)
			p, err := New(fakeOptions(f, newALBFake()))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, runALB(t, p, target), c.want, "")
		})
	}
}

// The group of another account is read through the binding's role, once, with its external id.
func TestGroupIsReadThroughTheBindingsRole(t *testing.T) {
	const role = "arn:aws:iam::999999999999:role/lbc"
	f, target := newALBFake(), shopTarget()
	f.binding.RoleARN, f.binding.ExternalID = role, chain.NewSecret("outside")
	for range 2 {
		expect(t, runALB(t, albProber(t, f), target), allGood, "")
		hops := f.reads[len(f.reads)-1].Group.Observer.Hops
		if len(hops) != 2 || hops[1].RoleARN != role || hops[1].ExternalID.Reveal() != "outside" {
			t.Errorf("the observer's hops are %+v", hops)
		}
		target.Group.Observer.Hops = hops
	}
	if hops := shopTarget().Group.Observer.Hops; len(hops) != 1 {
		t.Errorf("the configured hops have become %+v", hops)
	}
}
