// Tests of the step health: its truth table, row by row, and the ages of initial targets.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	wrongCode   = "unhealthy Target.ResponseCodeMismatch"
	timedOut    = "unhealthy Target.Timeout"
	failedCheck = "unhealthy Target.FailedHealthChecks"
	ownFault    = "unhealthy Elb.InternalError"
)

// Two of the targets must be healthy.
func TestHealthTable(t *testing.T) {
	const unknown = "unknown health/not_measurable"
	for states, want := range map[string]string{
		"healthy,healthy":                                          "success /",
		"healthy,healthy," + wrongCode:                             "success /",
		"healthy,healthy,initial":                                  "success /",
		"healthy,healthy,draining Target.DeregistrationInProgress": "success /",
		"healthy,healthy,unavailable Target.HealthCheckDisabled":   "success /",

		wrongCode + "," + wrongCode + "," + wrongCode: "failure health/all_unhealthy_fail_open",
		wrongCode:                           "failure health/all_unhealthy_fail_open",
		ownFault + "," + ownFault:           "failure health/all_unhealthy_fail_open",
		timedOut + ",initial":               "failure health/all_unhealthy_fail_open",
		"unhealthy.draining Target.Timeout": "failure health/all_unhealthy_fail_open",
		"unhealthy":                         "failure health/all_unhealthy_fail_open",

		"healthy," + wrongCode:                                        "failure health/health_check_code_mismatch",
		"healthy," + timedOut:                                         "failure health/health_check_timeout",
		"healthy," + failedCheck:                                      "failure health/health_check_failed",
		"healthy," + ownFault:                                         "failure health/elb_internal_error",
		"healthy,unhealthy.draining Target.FailedHealthChecks":        "failure health/health_check_failed",
		"healthy," + failedCheck + "," + timedOut + "," + failedCheck: "failure health/health_check_failed",
		"healthy," + ownFault + "," + failedCheck:                     "failure health/health_check_failed",
		"healthy," + failedCheck + "," + timedOut:                     "failure health/health_check_timeout",
		"healthy," + timedOut + "," + wrongCode:                       "failure health/health_check_code_mismatch",
		"healthy," + ownFault + "," + ownFault + "," + wrongCode:      "failure health/elb_internal_error",
		"healthy,unhealthy Target.NewCode":                            "failure health/below_min_healthy",
		"healthy,unhealthy Target.NewCode," + timedOut:                "failure health/health_check_timeout",

		"healthy":                          "failure health/below_min_healthy",
		"healthy,initial":                  "failure health/below_min_healthy",
		"healthy,draining":                 "failure health/below_min_healthy",
		"healthy,unavailable":              "failure health/below_min_healthy",
		"healthy,unused Target.IpUnusable": "failure health/below_min_healthy",

		"initial,initial":                             unknown,
		"unavailable,unavailable":                     unknown,
		"unavailable,initial":                         unknown,
		"initial,draining,unused Target.InvalidState": unknown,
		"novel,novel":                                 unknown,
		"healthy,novel":                               "failure health/below_min_healthy",
	} {
		t.Run(states, func(t *testing.T) {
			f, target := newALBFake(), shopTarget()
			f.set(strings.Split(states, ",")...)
			target.Group.Binding = chain.BindingRef{}
			run := runALB(t, albProber(t, f), target)
			if got := verdict(run); !strings.HasPrefix(got, want) {
				t.Errorf("got %s (%s), want %s", got, run.Verdict.Detail, want)
			}
			if open := strings.HasSuffix(want, "fail_open"); run.Reading.FailOpen != open {
				t.Errorf("failing open is %v, want %v", run.Reading.FailOpen, open)
			}
		})
	}
}

func TestHealthDetails(t *testing.T) {
	runCases(t, map[string]albCase{
		"C61 codes are counted": {func(f *albFake, _ *chain.Target) { f.set(wrongCode, timedOut, wrongCode) }, "failure health/all_unhealthy_fail_open ✔✖✔",
			"none of 3 targets is healthy, so the load balancer may send to all of them: 3 unhealthy (Target.ResponseCodeMismatch 2, Target.Timeout 1)"},
		"C62 one is named, with ELB's words": {func(f *albFake, _ *chain.Target) {
			f.set("healthy", timedOut, timedOut)
			f.targets[1].Description = "Request timed out"
		},
			"failure health/health_check_timeout ✔✖✔", "1 of at least 2 targets healthy: 1 healthy, 2 unhealthy (Target.Timeout 2); first: 10.0.2.12 (Request timed out)"},
		"the one that is named has the code that is blamed": {func(f *albFake, _ *chain.Target) { f.set(failedCheck, timedOut, "healthy", timedOut) },
			"failure health/health_check_timeout ✔✖✔", "first: 10.0.2.12"},
		"a network load balancer tells less apart": {func(f *albFake, _ *chain.Target) {
			f.set("healthy", failedCheck, failedCheck)
			f.group.LoadBalancers[0].Type = chain.LoadBalancerNetwork
		}, "failure health/health_check_failed ✔✖✔", "of silence and of a wrong status too"},
		"min_healthy 0 means 1": {func(f *albFake, tg *chain.Target) {
			f.set("healthy")
			f.backends.Endpoints = f.backends.Endpoints[:1]
			tg.Group.MinHealthy = 0
		}, allGood, ""},
	})
}

// How long a target may be initial, and whose age proves that it has been so for longer.
func TestInitialStuck(t *testing.T) {
	const stuck, fresh = "failure health/initial_stuck", "unknown health/not_measurable"
	limit := time.Minute + 2*15*time.Second + 5*time.Second
	all := func(f *albFake) { f.set("initial", "initial", "initial") }
	readyFor := func(f *albFake, age time.Duration) {
		for i := range f.pods {
			f.pods[i].ReadySince, f.pods[i].Created = noon.Add(-age), noon.Add(-age)
		}
	}
	for name, c := range map[string]struct {
		change func(*albFake, *chain.Target)
		want   string
	}{
		"C77 ready pods are old enough": {func(f *albFake, _ *chain.Target) { all(f); readyFor(f, limit+time.Second) }, stuck},
		"C77 they are just not":         {func(f *albFake, _ *chain.Target) { all(f); readyFor(f, limit) }, fresh},
		"C77 a network load balancer takes longer": {func(f *albFake, _ *chain.Target) {
			all(f)
			readyFor(f, limit+time.Second)
			f.group.LoadBalancers[0].Type = chain.LoadBalancerNetwork
		}, fresh},
		"but not for ever": {func(f *albFake, _ *chain.Target) {
			all(f)
			readyFor(f, limit+5*time.Minute)
			f.group.LoadBalancers[0].Type = chain.LoadBalancerNetwork
		}, stuck},
		"the binding is younger than its pods": {func(f *albFake, _ *chain.Target) { all(f); f.binding.Created = noon.Add(-time.Minute) }, fresh},
		"of pods that are not ready no age is known": {func(f *albFake, _ *chain.Target) {
			all(f)
			for i := range f.pods {
				f.backends.Endpoints[i].Ready, f.pods[i].Ready, f.pods[i].Gates[0].Passed, f.pods[i].ContainersReady = false, false, false, false
			}
		}, fresh},
		"without a cluster no age is known": {func(f *albFake, tg *chain.Target) { all(f); tg.Group.Binding = chain.BindingRef{} }, fresh},
		"one is healthy":                    {func(f *albFake, _ *chain.Target) { f.set("healthy", "initial", "initial") }, stuck},
		"one of them is stuck": {func(f *albFake, _ *chain.Target) {
			all(f)
			readyFor(f, time.Second)
			f.pods[1].ReadySince = noon.Add(-time.Hour)
		}, stuck},
		"enough are healthy":         {func(f *albFake, _ *chain.Target) { f.set("healthy", "healthy", "initial") }, "success /"},
		"an unhealthy one says more": {func(f *albFake, _ *chain.Target) { f.set("healthy", timedOut, "initial") }, "failure health/health_check_timeout"},
		"nodes that are old": {func(f *albFake, _ *chain.Target) {
			f.instances()
			f.targets[0].State, f.targets[1].State = chain.TargetInitial, chain.TargetInitial
		}, stuck},
		"nodes that are new": {func(f *albFake, _ *chain.Target) {
			f.instances()
			for i := range f.targets {
				f.targets[i].State, f.backends.Nodes[i].Created = chain.TargetInitial, noon.Add(-time.Minute)
			}
		}, fresh},
	} {
		t.Run(name, func(t *testing.T) {
			f, target := newALBFake(), shopTarget()
			c.change(f, &target)
			run := runALB(t, albProber(t, f), target)
			if got := verdict(run); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s (%s), want %s", got, run.Verdict.Detail, c.want)
			}
		})
	}
}

// Evidence that no verdict rests on is told all the same.
func TestZonalShiftAndAnomalyAreTold(t *testing.T) {
	f := newALBFake()
	f.targets[0].Override, f.targets[1].Override = "zonal_shift_active", "no_override"
	f.targets[2].Anomalous, f.targets[2].Mitigated = true, true
	run := runALB(t, albProber(t, f), shopTarget())
	expect(t, run, allGood, "")
	facts := run.Facts()
	if facts[chain.FactZonalShift] != "zonal_shift_active 1" || facts[chain.FactAnomaly] != "1 anomalous (10.0.1.13), 1 sent less" {
		t.Errorf("the facts are %v", facts)
	}
}
