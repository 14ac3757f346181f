// Tests of the families of target groups: exact exposition, and what a reading and a request leave behind.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func group(name, region string) chain.Target {
	return chain.Target{Name: name, Kind: chain.KindALB, Group: chain.TargetGroup{Region: region, Name: name, MinHealthy: 1, Request: &chain.Request{URL: "https://" + name + ".example.test/"}}}
}

var shop = group("shop", "eu-west-1")

var (
	timedOut     = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepHealth, Reason: chain.ReasonHealthCheckTimeout}
	noTargets    = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRegistration, Reason: chain.ReasonNoTargets}
	groupMissing = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRegistration, Reason: chain.ReasonTargetGroupMissing}
	elbThrottled = chain.Verdict{Outcome: chain.OutcomeUnknown, Step: chain.StepHealth, Reason: chain.ReasonELBAPIThrottled}
)

// read gives a run a reading with a target in each of the states; none means an empty group.
func read(r chain.Run, states ...chain.TargetState) chain.Run {
	r.Reading = &chain.GroupReading{At: r.Started.Add(time.Second)}
	for _, state := range states {
		r.Reading.Targets = append(r.Reading.Targets, chain.TargetReading{TargetHealth: chain.TargetHealth{State: state}})
	}
	return r
}

func withTLS(r chain.Run) chain.Run {
	r.Steps[len(r.Steps)-1].Facts = chain.Facts{chain.FactTLSNotAfter: "2026-01-04T00:00:00Z"}
	return r
}

const oneGroup = `
# HELP alb_fail_open 1 while too few targets are healthy, so that the load balancer routes to all of them, at the latest successful reading, else 0. Users may still be served: it is no outage by itself.
# TYPE alb_fail_open gauge
alb_fail_open{target_group="shop"} 0
# HELP alb_failing 1 while the latest verdict is a failure, with the blamed step and its reason; no series otherwise.
# TYPE alb_failing gauge
alb_failing{reason="health_check_timeout",step="health",target_group="shop"} 1
# HELP alb_failures_total Failures by the one step that is blamed. They add up to alb_probes_total of the result failure.
# TYPE alb_failures_total counter
alb_failures_total{step="health",target_group="shop"} 1
alb_failures_total{step="registration",target_group="shop"} 1
alb_failures_total{step="request",target_group="shop"} 0
# HELP alb_last_read_timestamp_seconds When the target group was last read with success; its gauges are as old as that.
# TYPE alb_last_read_timestamp_seconds gauge
alb_last_read_timestamp_seconds{target_group="shop"} 1.750000001e+09
# HELP alb_probes_total Events by result: success, failure or unknown (the prober could not tell). They add up to alb_slots_total.
# TYPE alb_probes_total counter
alb_probes_total{result="failure",target_group="shop"} 2
alb_probes_total{result="success",target_group="shop"} 1
alb_probes_total{result="unknown",target_group="shop"} 2
# HELP alb_slots_total Slots of the schedule that ended in an event.
# TYPE alb_slots_total counter
alb_slots_total{target_group="shop"} 5
# HELP alb_step_results_total What each step showed: success, failure or unknown. Skipped steps are not counted.
# TYPE alb_step_results_total counter
alb_step_results_total{region="eu-west-1",result="failure",step="health"} 1
alb_step_results_total{region="eu-west-1",result="failure",step="registration"} 1
alb_step_results_total{region="eu-west-1",result="failure",step="request"} 0
alb_step_results_total{region="eu-west-1",result="success",step="health"} 1
alb_step_results_total{region="eu-west-1",result="success",step="registration"} 3
alb_step_results_total{region="eu-west-1",result="success",step="request"} 1
alb_step_results_total{region="eu-west-1",result="unknown",step="health"} 1
alb_step_results_total{region="eu-west-1",result="unknown",step="registration"} 0
alb_step_results_total{region="eu-west-1",result="unknown",step="request"} 0
# HELP alb_target_observations_total Targets seen at each successful reading, by result: good (healthy) or bad (unhealthy, unhealthy.draining). Those in other states, and of another cluster, are neither.
# TYPE alb_target_observations_total counter
alb_target_observations_total{result="bad",target_group="shop"} 2
alb_target_observations_total{result="good",target_group="shop"} 5
# HELP alb_unknown_reasons_total Unknown events by reason: why the prober could not tell. They add up to alb_probes_total of the result unknown by region, as failure reasons do.
# TYPE alb_unknown_reasons_total counter
alb_unknown_reasons_total{reason="eks_api_throttled",region="eu-west-1"} 0
alb_unknown_reasons_total{reason="elb_api_throttled",region="eu-west-1"} 1
alb_unknown_reasons_total{reason="missed_slot",region="eu-west-1"} 1
alb_unknown_reasons_total{reason="not_measurable",region="eu-west-1"} 0
alb_unknown_reasons_total{reason="observer_denied",region="eu-west-1"} 0
alb_unknown_reasons_total{reason="observer_unavailable",region="eu-west-1"} 0
alb_unknown_reasons_total{reason="overrun",region="eu-west-1"} 0
alb_unknown_reasons_total{reason="read_failed",region="eu-west-1"} 0
`

func TestExpositionOfOneGroup(t *testing.T) {
	m, registry := newMetrics(t, shop)
	const good, bad, draining = chain.TargetHealthy, chain.TargetUnhealthy, chain.TargetDraining
	for _, r := range []chain.Run{
		read(run(shop, success), good, good, good, draining), read(run(shop, noTargets)), missed(shop), run(shop, elbThrottled),
		read(run(shop, timedOut), good, bad, good, chain.TargetUnhealthyDraining),
	} {
		m.Record(r)
	}
	compare(t, registry, oneGroup,
		"alb_slots_total", "alb_probes_total", "alb_failures_total", "alb_unknown_reasons_total", "alb_step_results_total", "alb_failing",
		"alb_target_observations_total", "alb_fail_open", "alb_last_read_timestamp_seconds")
	counted := slices.DeleteFunc(lines(t, registry, "alb_failure_reasons_total"), func(l string) bool { return strings.HasSuffix(l, " 0") })
	want := []string{
		`alb_failure_reasons_total{reason="health_check_timeout",region="eu-west-1",step="health"} 1`,
		`alb_failure_reasons_total{reason="no_targets",region="eu-west-1",step="registration"} 1`,
	}
	if diff := cmp.Diff(want, counted); diff != "" {
		t.Error(diff)
	}
}

// What the gauges of a reading show, and for how long.
func TestReadings(t *testing.T) {
	failOpen := read(run(shop, timedOut), chain.TargetUnhealthy)
	failOpen.Reading.FailOpen = true
	foreign := read(run(shop, success), chain.TargetHealthy, chain.TargetUnhealthy)
	foreign.Reading.Targets[1].Foreign = true
	later := read(run(shop, elbThrottled))
	later.Reading, later.Started = nil, epoch.Add(time.Hour)
	for name, c := range map[string]struct {
		runs              []chain.Run
		targets, failOpen string // of alb_targets: those that are not 0
		good, bad         int
	}{
		"before the first run":         {nil, "", "", 0, 0},
		"before the first reading":     {[]chain.Run{run(shop, elbThrottled), missed(shop)}, "", "", 0, 0},
		"an empty group is 0 of each":  {[]chain.Run{read(run(shop, noTargets))}, "none of 7", "0", 0, 0},
		"healthy":                      {[]chain.Run{read(run(shop, success), chain.TargetHealthy, chain.TargetHealthy)}, "healthy 2", "0", 2, 0},
		"a state from nowhere":         {[]chain.Run{read(run(shop, success), "on_holiday\xff", chain.TargetInitial)}, "initial 1, on_holiday\ufffd 1", "0", 0, 0},
		"those of another cluster":     {[]chain.Run{foreign}, "healthy 1", "0", 1, 0},
		"fail-open":                    {[]chain.Run{failOpen}, "unhealthy 1", "1", 0, 1},
		"it stays while reads fail":    {[]chain.Run{failOpen, later, missed(shop)}, "unhealthy 1", "1", 0, 1},
		"and goes with the next":       {[]chain.Run{failOpen, later, foreign}, "healthy 1", "0", 1, 1},
		"a group that is no more":      {[]chain.Run{failOpen, run(shop, groupMissing)}, "", "", 0, 1},
		"somebody else's reading":      {[]chain.Run{read(run(group("other", "eu-west-1"), success), chain.TargetHealthy)}, "", "", 0, 0},
		"an unknown run may have read": {[]chain.Run{read(run(shop, elbThrottled), chain.TargetHealthy)}, "healthy 1", "0", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, registry := newMetrics(t, shop)
			for _, r := range c.runs {
				m.Record(r)
			}
			if got := nonZeroStates(lines(t, registry, "alb_targets")); got != c.targets {
				t.Errorf("targets are %q, want %q", got, c.targets)
			}
			var open, at []string
			if c.failOpen != "" {
				open, at = []string{`alb_fail_open{target_group="shop"} ` + c.failOpen}, []string{`alb_last_read_timestamp_seconds{target_group="shop"} 1.750000001e+09`}
			}
			if diff := cmp.Diff(slices.Concat(open, at), lines(t, registry, "alb_fail_open", "alb_last_read")); diff != "" {
				t.Error(diff)
			}
			want := fmt.Sprintf(`[alb_target_observations_total{result="bad",target_group="shop"} %d alb_target_observations_total{result="good",target_group="shop"} %d]`, c.bad, c.good)
			if got := fmt.Sprint(lines(t, registry, "alb_target_observations_total")); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// nonZeroStates shortens the series of alb_targets.
func nonZeroStates(series []string) string {
	var found []string
	for _, l := range series {
		state, n, _ := strings.Cut(strings.TrimPrefix(l, `alb_targets{state="`), `",target_group="shop"} `)
		if n != "0" {
			found = append(found, state+" "+n)
		}
	}
	if len(series) > 0 && found == nil {
		return fmt.Sprintf("none of %d", len(series))
	}
	return strings.Join(found, ", ")
}

func TestRequests(t *testing.T) {
	const duration, expiry = `alb_request_duration_seconds{target_group="shop"} `, `alb_request_certificate_expiry_timestamp_seconds{target_group="shop"} 1.7674848e+09`
	mismatch := chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRequest, Reason: chain.ReasonStatusMismatch}
	expired := chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRequest, Reason: chain.ReasonTLSFailure}
	served := run(shop, timedOut) // the request runs although targets are unhealthy
	served.Steps[2].Outcome = chain.OutcomeSuccess
	for name, c := range map[string]struct {
		runs []chain.Run
		want []string
	}{
		"before the first":                 {nil, []string{duration + "0"}},
		"answered":                         {[]chain.Run{run(shop, success), withTLS(run(shop, success))}, []string{expiry, duration + "2"}},
		"a failure is no latency":          {[]chain.Run{withTLS(run(shop, mismatch))}, []string{expiry, duration + "0"}},
		"an expired certificate is shown":  {[]chain.Run{withTLS(run(shop, expired))}, []string{expiry, duration + "0"}},
		"served while the health is bad":   {[]chain.Run{served}, []string{duration + "1"}},
		"not asked":                        {[]chain.Run{withTLS(run(shop, success)), run(shop, noTargets), missed(shop)}, []string{expiry, duration + "1"}},
		"TLS no more":                      {[]chain.Run{withTLS(run(shop, success)), run(shop, success)}, []string{duration + "2"}},
		"a time that nobody can read":      {[]chain.Run{withTLS(run(shop, success)), withFact(run(shop, mismatch), "soon")}, []string{expiry, duration + "1"}},
		"what came back before it was cut": {[]chain.Run{withTLS(run(shop, success)), run(shop, expired)}, []string{expiry, duration + "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, registry := newMetrics(t, shop)
			for _, r := range c.runs {
				m.Record(r)
			}
			if diff := cmp.Diff(c.want, lines(t, registry, "alb_request_")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func withFact(r chain.Run, notAfter string) chain.Run {
	r.Steps[2].Facts = chain.Facts{chain.FactTLSNotAfter: notAfter}
	return r
}
