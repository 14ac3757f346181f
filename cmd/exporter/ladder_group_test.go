// Golden tests of the ladder of target groups, for made-up runs and readings.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const shopARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef"

var readAt = time.Date(2026, 1, 5, 10, 0, 30, 0, time.UTC)

// goodShop is a run of a target group in which everything works.
func goodShop() chain.Run {
	target := chain.Target{
		Name: "shop", Kind: chain.KindALB, Cluster: chain.Cluster{Name: "prod", EKSName: "prod", Region: "eu-west-1", Observer: "exporter"},
		Group: chain.TargetGroup{
			Region: "eu-west-1", ARN: shopARN, Name: "shop", Observer: chain.Identity{Name: "exporter"}, Binding: chain.BindingRef{Namespace: "shop", Name: "shop"}, MinHealthy: 2,
			Request: &chain.Request{URL: "https://shop.example.test/healthz", ExpectStatus: []int{200}},
		},
	}
	step := func(step chain.Step, took time.Duration, facts chain.Facts) chain.StepResult {
		return chain.StepResult{Step: step, Outcome: chain.OutcomeSuccess, Duration: took, Facts: facts}
	}
	return chain.Run{
		Target: target, Duration: 231 * time.Millisecond, Verdict: chain.Verdict{Outcome: chain.OutcomeSuccess},
		Steps: []chain.StepResult{
			step(chain.StepRegistration, 84*time.Millisecond, chain.Facts{
				chain.FactTargetType: "ip", chain.FactService: "shop", chain.FactZones: "eu-west-1a,eu-west-1b", chain.FactLoadBalancerState: "shop-alb active",
				chain.FactEndpoints: "3 ready, 0 not ready, 0 terminating", chain.FactHealthCheck: "HTTP:traffic-port/healthz every 5s, timeout 2s, healthy after 2, unhealthy after 2, expects 200",
			}),
			step(chain.StepHealth, 120*time.Microsecond, chain.Facts{chain.FactTargets: "3 healthy"}),
			step(chain.StepRequest, 146*time.Millisecond, chain.Facts{
				chain.FactHTTPStatus: "200", chain.FactAddress: "192.0.2.10:443", chain.FactDNSTime: "4.1", chain.FactTCPTime: "21.0", chain.FactTLSTime: "45.2", chain.FactHTTPTime: "75.3",
				chain.FactTLSNotAfter: "2026-03-01T00:00:00Z",
			}),
		},
		Reading: &chain.GroupReading{At: readAt, Group: chain.GroupInfo{ARN: shopARN, Name: "shop"}, Targets: []chain.TargetReading{
			member(1, "eu-west-1a", chain.TargetHealthy, "", 2*time.Hour), member(2, "eu-west-1b", chain.TargetHealthy, "", 2*time.Hour), member(3, "eu-west-1a", chain.TargetHealthy, "", 42*time.Second),
		}},
	}
}

// member is the pod shop-N.
func member(n int, zone string, state chain.TargetState, code string, age time.Duration) chain.TargetReading {
	return chain.TargetReading{
		TargetHealth: chain.TargetHealth{ID: fmt.Sprintf("10.0.1.%d", 10+n), Port: 8080, Zone: zone, State: state, Code: code},
		Since:        readAt.Add(-age), Pod: fmt.Sprintf("shop-%d", n), Node: "node-" + zone[len(zone)-1:],
	}
}

// brokenShop is the good run with a step that is not good; the request runs all the same.
func brokenShop(at chain.Step, outcome chain.Outcome, reason chain.Reason, detail string, facts chain.Facts) chain.Run {
	run := goodShop()
	for i := range run.Steps {
		switch s := &run.Steps[i]; {
		case s.Step == at:
			s.Outcome, s.Reason, s.Detail = outcome, reason, detail
			s.Facts = s.Facts.Merge(facts)
		case s.Step > at && s.Step != chain.StepRequest:
			*s = chain.StepResult{Step: s.Step, Outcome: chain.OutcomeSkipped}
		}
	}
	return settled(run)
}

// oneSick has a target of each kind, one of them not registered.
func oneSick() chain.Run {
	run := brokenShop(chain.StepHealth, chain.OutcomeFailure, chain.ReasonHealthCheckTimeout, "1 of 2 targets that are measured is healthy, 2 are wanted; the unhealthy one says Target.Timeout",
		chain.Facts{chain.FactTargets: "1 healthy, 1 unhealthy (Target.Timeout 1)"})
	run.Steps[0].Facts[chain.FactEndpoints] = "3 ready, 1 not ready, 0 terminating"
	stranger := member(90, "eu-west-1b", chain.TargetHealthy, "", time.Hour)
	stranger.Pod, stranger.Node, stranger.Foreign, stranger.Since = "", "", true, time.Time{}
	run.Reading.Targets = []chain.TargetReading{
		stranger, member(1, "eu-west-1a", chain.TargetHealthy, "", 50*time.Hour), member(2, "eu-west-1b", chain.TargetUnhealthy, chain.CodeTimeout, 3*time.Minute),
		member(3, "eu-west-1a", chain.TargetDraining, chain.CodeDeregistrationInProgress, 12*time.Second),
	}
	run.Reading.Missing = []string{"10.0.1.14"}
	return run
}

// failsOpen has 500 targets, none of which is healthy.
func failsOpen() chain.Run {
	run := brokenShop(chain.StepHealth, chain.OutcomeFailure, chain.ReasonAllUnhealthyFailOpen, "none of 500 targets is healthy (Target.ResponseCodeMismatch)",
		chain.Facts{chain.FactTargets: "500 unhealthy (Target.ResponseCodeMismatch 500)", chain.FactFailOpen: "in the whole group: no target is healthy"})
	run.Reading.Targets, run.Reading.FailOpen = nil, true
	for i := range 500 {
		t := chain.TargetHealth{ID: fmt.Sprintf("i-%017x", i), Port: 30080, State: chain.TargetUnhealthy, Code: chain.CodeResponseCodeMismatch}
		run.Reading.Targets = append(run.Reading.Targets, chain.TargetReading{TargetHealth: t})
	}
	return run
}

func emptyGroup() chain.Run {
	run := brokenShop(chain.StepRegistration, chain.OutcomeFailure, chain.ReasonNoReadyEndpoints, "the target group is empty, and service shop/shop has no ready endpoint", chain.Facts{chain.FactEndpoints: "0 ready, 2 not ready, 0 terminating"})
	run.Reading.Targets = nil
	return run
}

func unreadGroup() chain.Run {
	run := goodShop()
	run.Steps[0] = chain.StepResult{
		Step: chain.StepRegistration, Outcome: chain.OutcomeUnknown, Reason: chain.ReasonELBAPIThrottled, Duration: 84 * time.Millisecond,
		Detail: "ELB throttles DescribeTargetHealth; last read 42s ago: 3 healthy", Facts: chain.Facts{chain.FactLastRead: "42s ago: 3 healthy"},
	}
	run.Steps[1], run.Reading = chain.StepResult{Step: chain.StepHealth, Outcome: chain.OutcomeSkipped}, nil
	return settled(run)
}

func groupLadders() map[string]chain.Run {
	return map[string]chain.Run{
		"alb_success": goodShop(), "alb_unhealthy": oneSick(), "alb_fail_open": failsOpen(), "alb_empty": emptyGroup(), "alb_throttled": unreadGroup(),
		"alb_overrun": chain.UnknownRun("t6x1zk-5f0c3a11", goodShop().Target, time.Time{}, chain.ReasonOverrun, "the run before it had not ended"),
	}
}

// What AWS and a cluster call their things may hold anything, and shows nothing but itself.
func TestTargetTableIsPlain(t *testing.T) {
	hostile := member(1, "a\tb", "odd\x1b[31m", "code\nline", -time.Hour)
	hostile.ID, hostile.Pod, hostile.Node = "fd00::1", "p\r", "n\x00"
	lambda := chain.TargetReading{TargetHealth: chain.TargetHealth{ID: "arn:aws:lambda:eu-west-1:111122223333:function:f", State: chain.TargetUnavailable}, Node: "node-a"}
	want := []string{
		"○ odd [31m     code line  [fd00::1]:8080                                    a b  first seen  p  on n",
		"○ unavailable             arn:aws:lambda:eu-west-1:111122223333:function:f                   node-a",
	}
	if diff := cmp.Diff(want, targetTable([]chain.TargetReading{hostile, lambda}, readAt)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTargetTableEnds(t *testing.T) {
	for n, want := range map[int]string{1: "", 20: "", 21: "and 1 more", 500: "and 480 more"} {
		lines := targetTable(make([]chain.TargetReading, n), readAt)
		if last := lines[len(lines)-1]; len(lines) != min(n, 21) || strings.HasPrefix(last, "and") != (want != "") || want != "" && last != want {
			t.Errorf("%d targets: %d lines, the last is %q", n, len(lines), last)
		}
	}
}

func TestRough(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m", time.Hour: "1h", 48*time.Hour - 1: "47h", 48 * time.Hour: "2d",
	} {
		if got := rough(d); got != want {
			t.Errorf("%s is shown as %q, want %q", d, got, want)
		}
	}
}
