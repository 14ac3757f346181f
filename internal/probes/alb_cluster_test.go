// Tests of reading a cluster for its target groups: what a failed read becomes, and what is read once for many.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestUnread(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no error":                         {nil, "<nil>"},
		"this run's own end":               {context.Canceled, "context canceled"},
		"an unknown stays what it is":      {denied("list pods"), "observer_denied: no list pods"},
		"a failure of another step":        {fail(chain.StepToken, chain.ReasonClusterNotFound), "observer_unavailable: reading it: token/cluster_not_found: as told"},
		"no answer in time":                {fmt.Errorf("get: %w", context.DeadlineExceeded), "observer_unavailable: reading it: no answer within the time that the step had for it"},
		"what nobody classified, redacted": {errors.New("odd AKIAIOSFODNN7EXAMPLE"), "read_failed: reading it: odd [redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(unread("it", c.err)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Twenty groups of one cluster, at the same time: its bindings are listed once, and everything is well under the race detector.
func TestBindingsAreListedOnceForAllGroups(t *testing.T) {
	f := newALBFake()
	elb := &quietELB{albFake: f}
	p := albProber(t, f)
	p.ELB = elb
	var group sync.WaitGroup
	for i := range 20 {
		target := shopTarget()
		target.Name = fmt.Sprintf("shop-%d", i)
		group.Go(func() {
			for range 3 {
				if run, err := p.Run(t.Context(), target, noon); err != nil || verdict(run) != allGood {
					t.Errorf("got %s (%v)", verdict(run), err)
				}
			}
		})
	}
	group.Wait()
	if got := f.count("List"); got != 1 {
		t.Errorf("the bindings were listed %d times", got)
	}
	if got := f.count("Health"); got != 60 {
		t.Errorf("the health was read %d times, want each time anew", got)
	}
}

// quietELB notes no targets, so that many may ask at a time.
type quietELB struct{ *albFake }

func (q *quietELB) Group(ctx context.Context, _ chain.Target) (chain.GroupInfo, error) {
	return q.group, q.ask(ctx, "Group")
}

// A read that is merely nice to have leaves the request its time.
func TestHangingAttributesLeaveTheRequestItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, requester := newALBFake(), &deadlineRequester{}
		f.hangs["Attributes"] = true
		f.set("healthy", "healthy", timedOut)
		p := albProber(t, f)
		p.Requester = requester
		expect(t, runALB(t, p, shopTarget()), allGood, "")
		if requester.left < 8*time.Second {
			t.Errorf("the request has %s", requester.left)
		}
	})
}

// The minute that the controller has is over on its end, not before.
func TestSettleTime(t *testing.T) {
	for age, want := range map[time.Duration]string{
		settleTime - time.Second: allGood,
		settleTime:               "failure registration/target_group_shared ✖·✔",
	} {
		f := newALBFake()
		f.targets, f.pods[2].ReadySince = f.targets[:2], noon.Add(-age)
		f.foreigner(chain.TargetHealthy)
		expect(t, runALB(t, albProber(t, f), shopTarget()), want, "")
	}
	for age, want := range map[time.Duration]string{
		settleTime - time.Second: allGood,
		settleTime:               "failure registration/readiness_gate_stale ✖·✔",
	} {
		f := newALBFake()
		f.waits(chain.ReadinessGate{Binding: "shop", Set: true, Since: noon.Add(-age)})
		expect(t, runALB(t, albProber(t, f), shopTarget()), want, "")
	}
}

// Targets in several zones that are off, and in one that nobody tells, are told together.
func TestZonesAreToldTogether(t *testing.T) {
	f := newALBFake()
	f.addPod(4)
	f.addPod(5)
	f.set("healthy", "healthy", "unused Target.NotInUse", "unused Target.NotInUse", "unused Target.NotInUse")
	for i, zone := range map[int]string{2: "eu-west-1d", 3: "eu-west-1c", 4: ""} {
		f.targets[i].Zone, f.backends.Endpoints[i].Zone = zone, zone
	}
	run := runALB(t, albProber(t, f), shopTarget())
	expect(t, run, "failure registration/target_az_not_enabled ✖·✔", "3 of 5 targets unused (10.0.1.13, 10.0.2.14, 10.0.1.15), in eu-west-1c, eu-west-1d, and 1 where it is not told, which the load balancer")
	if facts := run.Facts(); facts[chain.FactZone] != "eu-west-1c" || facts[chain.FactLoadBalancerARN] != shopALB {
		t.Errorf("the facts are %v", facts)
	}
}
