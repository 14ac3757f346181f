// Every way of a target from state to state, at its exact moments, with the words that AWS puts beside them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The moment at which the targets of the tests are registered. The check of their group is every 10 s, with a timeout of 4 s and thresholds of 3 and 2.
var registered = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	registering = "initial Elb.RegistrationInProgress: Target registration is in progress"
	checking    = "initial Elb.InitialHealthChecking: Initial health checks in progress"
	healthy     = "healthy"
	timedOut    = "unhealthy Target.Timeout: Request timed out"
	refused     = "unhealthy Target.FailedHealthChecks: Health checks failed"
	draining    = "draining Target.DeregistrationInProgress: Target deregistration is in progress"
	gone        = "unused Target.NotRegistered: Target is not registered to the target group"
	notAttached = "unused Target.NotInUse: Target group is not configured to receive traffic from the load balancer"
	otherZone   = "unused Target.NotInUse: Target is in an Availability Zone that is not enabled for the load balancer"
)

func mismatch(status int) string {
	return fmt.Sprintf("unhealthy Target.ResponseCodeMismatch: Health checks failed with these codes: [%d]", status)
}

// stage is what is said from a moment on, in the text of a duration after the registration.
type stage struct {
	from string
	says string
}

// wantStages looks at each stage's first moment, and at the last one before it for the stage before.
func wantStages(t *testing.T, view GroupView, target *RegisteredTarget, stages []stage) {
	t.Helper()
	says := func(at time.Time) string {
		view.now = at
		health := view.health(target)
		return strings.TrimSuffix(strings.TrimSpace(fmt.Sprintf("%s %s: %s", health.State, health.Code, health.Description)), " :")
	}
	for i, s := range stages {
		from, err := time.ParseDuration(s.from)
		must(t, err)
		at := registered.Add(from)
		if got := says(at); got != s.says {
			t.Errorf("at %s: %s, want %s", s.from, got, s.says)
		}
		if i == 0 {
			continue
		}
		if got := says(at.Add(-1)); got != stages[i-1].says {
			t.Errorf("just before %s: %s, want %s", s.from, got, stages[i-1].says)
		}
	}
}

func after(text string) time.Time {
	d, err := time.ParseDuration(text)
	mustEncode(err)
	return registered.Add(d)
}

// checkedBy makes a target answer its checks so.
func checkedBy(list ...CheckAnswer) func(*RegisteredTarget) {
	return func(target *RegisteredTarget) { target.Answers = list }
}

// targetLife is a target, its group and load balancer, and what is said of it over time.
type targetLife struct {
	target func(*RegisteredTarget)
	group  func(*TargetGroup)
	alb    func(*LoadBalancer)
	stages []stage
}

var targetLives = map[string]targetLife{
	"a new target needs one good check": {stages: []stage{{"0s", registering}, {"2s", checking}, {"12s", healthy}, {"8760h", healthy}}},
	"one that answers late": {
		target: checkedBy(CheckAnswer{time.Time{}, CheckRefusal, 0}, CheckAnswer{after("13s"), CheckWell, 0}),
		stages: []stage{{"0s", registering}, {"2s", checking}, {"22s", healthy}},
	},
	"one that never answers well": {
		target: checkedBy(CheckAnswer{time.Time{}, CheckRefusal, 0}), stages: []stage{{"0s", registering}, {"2s", checking}, {"22s", refused}, {"100h", refused}},
	},
	"silence is known when its timeout is over": {
		target: checkedBy(CheckAnswer{time.Time{}, CheckSilence, 0}), stages: []stage{{"2s", checking}, {"26s", timedOut}},
	},
	"C61 a status that the matcher does not take": {
		target: checkedBy(CheckAnswer{after("1h"), CheckStatus, 401}), stages: []stage{{"12s", healthy}, {"1h12s", mismatch(401)}},
	},
	"a status that the matcher takes": {
		target: checkedBy(CheckAnswer{after("1h"), CheckStatus, 204}), stages: []stage{{"12s", healthy}, {"2h", healthy}},
	},
	"C62 silence after health": {
		target: checkedBy(CheckAnswer{after("1h2s"), CheckSilence, 0}), stages: []stage{{"12s", healthy}, {"1h16s", timedOut}},
	},
	"a single failure changes nothing": {
		target: checkedBy(CheckAnswer{after("1h"), CheckRefusal, 0}, CheckAnswer{after("1h5s"), CheckWell, 0}), stages: []stage{{"12s", healthy}, {"2h", healthy}},
	},
	"failures that are not in a row change nothing": {
		target: checkedBy(CheckAnswer{after("20s"), CheckRefusal, 0}, CheckAnswer{after("30s"), CheckWell, 0}, CheckAnswer{after("40s"), CheckRefusal, 0}, CheckAnswer{after("50s"), CheckWell, 0}),
		stages: []stage{{"12s", healthy}, {"1h", healthy}},
	},
	"failures of two kinds in a row": {
		target: checkedBy(CheckAnswer{after("20s"), CheckRefusal, 0}, CheckAnswer{after("30s"), CheckStatus, 500}), stages: []stage{{"12s", healthy}, {"32s", mismatch(500)}},
	},
	"an unhealthy one changes its code": {
		target: checkedBy(CheckAnswer{time.Time{}, CheckRefusal, 0}, CheckAnswer{after("1h"), CheckStatus, 503}), stages: []stage{{"22s", refused}, {"1h2s", mismatch(503)}},
	},
	"an unhealthy one needs the threshold": {
		target: checkedBy(CheckAnswer{time.Time{}, CheckStatus, 500}, CheckAnswer{after("1h"), CheckWell, 0}), stages: []stage{{"22s", mismatch(500)}, {"1h22s", healthy}},
	},
	"and begins anew when it fails between": {
		target: checkedBy(CheckAnswer{time.Time{}, CheckStatus, 500}, CheckAnswer{after("1h"), CheckWell, 0}, CheckAnswer{after("1h20s"), CheckRefusal, 0}, CheckAnswer{after("1h30s"), CheckWell, 0}),
		stages: []stage{{"22s", mismatch(500)}, {"1h22s", refused}, {"1h52s", healthy}},
	},
	"draining, and gone": {
		target: func(t *RegisteredTarget) { t.Deregistered = after("1h") }, stages: []stage{{"12s", healthy}, {"1h0s", draining}, {"1h5m0s", gone}},
	},
	"a deregistration delay of its own": {
		target: func(t *RegisteredTarget) { t.Deregistered = after("1m") }, group: func(g *TargetGroup) { g.Attributes = map[string]string{"deregistration_delay.timeout_seconds": "0"} },
		stages: []stage{{"1m", gone}},
	},
	"deregistered before it was healthy": {
		target: func(t *RegisteredTarget) { t.Deregistered = after("5s") }, stages: []stage{{"5s", draining}, {"5m5s", gone}},
	},
	"C77 a network load balancer takes its time": {
		alb:    func(l *LoadBalancer) { l.Type = chain.LoadBalancerNetwork },
		stages: []stage{{"0s", registering}, {"3m", checking}, {"3m30s", healthy}},
	},
	"a registration of the group's own": {
		group: func(g *TargetGroup) { g.Registration = time.Minute }, stages: []stage{{"0s", registering}, {"1m", checking}, {"1m10s", healthy}},
	},
	"unhealthy.draining": {
		alb: func(l *LoadBalancer) { l.Type = chain.LoadBalancerNetwork },
		group: func(g *TargetGroup) {
			g.Attributes = map[string]string{"target_health_state.unhealthy.connection_termination.enabled": "false", "target_health_state.unhealthy.draining_interval_seconds": "60"}
		},
		target: checkedBy(CheckAnswer{after("1h"), CheckRefusal, 0}),
		stages: []stage{{"3m30s", healthy}, {"1h10s", "unhealthy.draining Target.FailedHealthChecks: Health checks failed"}, {"1h1m10s", refused}},
	},
	"no unhealthy.draining where connections are ended": {
		alb: func(l *LoadBalancer) { l.Type = chain.LoadBalancerNetwork }, target: checkedBy(CheckAnswer{after("1h"), CheckRefusal, 0}),
		group: func(g *TargetGroup) {
			g.Attributes = map[string]string{"target_health_state.unhealthy.draining_interval_seconds": "60"}
		},
		stages: []stage{{"3m30s", healthy}, {"1h10s", refused}},
	},
	"defaults of the check": {
		group:  func(g *TargetGroup) { g.Check = chain.HealthCheck{Enabled: true} },
		target: checkedBy(CheckAnswer{after("1h"), CheckStatus, 201}, CheckAnswer{after("2h"), CheckWell, 0}),
		stages: []stage{{"2s", checking}, {"32s", healthy}, {"1h32s", mismatch(201)}, {"2h2m2s", healthy}},
	},
	"default of the timeout": {
		group: func(g *TargetGroup) { g.Check = chain.HealthCheck{Enabled: true} }, target: checkedBy(CheckAnswer{time.Time{}, CheckSilence, 0}), stages: []stage{{"2s", checking}, {"67s", timedOut}},
	},
	"checks that are off": {
		group: func(g *TargetGroup) { g.Check.Enabled = false }, stages: []stage{{"0s", "unavailable Target.HealthCheckDisabled: Health checks are disabled"}},
	},
	"C70 a zone that is not enabled": {
		target: func(t *RegisteredTarget) { t.Zone = SceneOtherZone }, stages: []stage{{"1h", otherZone}},
	},
	"addresses outside the VPC have no zone": {
		target: func(t *RegisteredTarget) { t.Zone = "all" }, stages: []stage{{"2s", checking}, {"12s", healthy}},
	},
	"deregistered where it was not in use": {
		target: func(t *RegisteredTarget) { t.Zone, t.Deregistered = SceneOtherZone, after("1h") }, stages: []stage{{"1h", gone}},
	},
	"a stopped instance": {
		target: func(t *RegisteredTarget) { t.Pin = &PinnedHealth{chain.TargetUnused, chain.CodeInvalidState} }, stages: []stage{{"1h", "unused Target.InvalidState: Target is in the stopped state"}},
	},
	"an address of a load balancer's": {
		target: func(t *RegisteredTarget) { t.Pin = &PinnedHealth{chain.TargetUnused, chain.CodeIPUnusable} },
		stages: []stage{{"1h", "unused Target.IpUnusable: The IP address cannot be used as a target, as it is in use by a load balancer"}},
	},
	"a fault of ELB's own": {
		target: func(t *RegisteredTarget) { t.Pin = &PinnedHealth{chain.TargetUnhealthy, chain.CodeInternalError} },
		stages: []stage{{"1h", "unhealthy Elb.InternalError: Health checks failed due to an internal error"}},
	},
	"initial for ever": {
		target: func(t *RegisteredTarget) { t.Pin = &PinnedHealth{chain.TargetInitial, chain.CodeInitialHealthChecking} }, stages: []stage{{"0s", checking}, {"1000h", checking}},
	},
}

func TestTargetStates(t *testing.T) {
	for name, c := range targetLives {
		t.Run(name, func(t *testing.T) {
			l := testBalancing(registered)
			view := GroupView{l.groups[shopGroup], l.balancers[shopALB], registered}
			target := view.Targets[0]
			if c.target != nil {
				c.target(target)
			}
			if c.group != nil {
				c.group(view.TargetGroup)
			}
			if c.alb != nil {
				c.alb(view.balancer)
			}
			wantStages(t, view, target, c.stages)
		})
	}
}

func TestUnattachedGroup(t *testing.T) {
	l := testBalancing(registered)
	view := GroupView{TargetGroup: l.groups[shopGroup]}
	wantStages(t, view, view.Targets[0], []stage{{"1h", notAttached}})
	view.Targets[0].Deregistered = after("2h")
	wantStages(t, view, view.Targets[0], []stage{{"2h", gone}})
}

func TestMatcher(t *testing.T) {
	for name, c := range map[string]struct {
		matcher string
		status  int
		want    bool
	}{
		"the default":        {"", 200, true},
		"not the default":    {"", 204, false},
		"one of a list":      {"200,302", 302, true},
		"none of a list":     {"200,302", 301, false},
		"in a range":         {"200-299", 250, true},
		"the end of a range": {"200-299", 299, true},
		"past a range":       {"200-299", 300, false},
		"a list of ranges":   {"200-204,400-404", 403, true},
		"no matcher at all":  {"good", 200, false},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, matcherTakes(c.matcher, c.status), c.want) })
	}
}

// replay makes every check of a target, one after the other: the slow and plain way to what checked counts.
func replay(view GroupView, target *RegisteredTarget) checkedState {
	s := checkedState{state: chain.TargetInitial, code: chain.CodeInitialHealthChecking}
	for at := view.checking(target).Add(view.Check.Interval); !at.After(view.now); at = at.Add(view.Check.Interval) {
		answer := CheckAnswer{}
		for _, a := range target.Answers {
			if !a.Since.After(at) {
				answer = a
			}
		}
		known := at
		if answer.Kind == CheckSilence {
			known = at.Add(view.Check.Timeout)
		}
		switch passes := answer.passes(view.Check); {
		case known.After(view.now):
			return s
		case passes:
			s.good, s.bad = s.good+1, 0
			if s.state != chain.TargetHealthy && (s.good >= view.Check.HealthyThreshold || s.state == chain.TargetInitial && !view.network()) {
				s.state, s.code, s.status, s.since = chain.TargetHealthy, "", 0, known
			}
		default:
			s.good, s.bad = 0, s.bad+1
			if s.state != chain.TargetUnhealthy && s.bad >= view.Check.UnhealthyThreshold {
				s.state, s.since = chain.TargetUnhealthy, known
			}
			if s.state == chain.TargetUnhealthy {
				s.code, s.status = answer.failure(), answer.Status
			}
		}
	}
	return s
}

// TestCheckedCountsWhatReplayMakes compares the two on targets that change their ways at random, often between two checks.
func TestCheckedCountsWhatReplayMakes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // the same cases every time
	states := map[chain.TargetState]int{}
	for range 5000 {
		l := testBalancing(registered)
		view := GroupView{l.groups[shopGroup], l.balancers[shopALB], registered}
		if random.IntN(2) == 0 {
			view.balancer, view.Registration = l.balancers[tcpNLB], time.Second
		}
		target, at := view.Targets[0], registered
		for range random.IntN(6) {
			at = at.Add(time.Duration(random.IntN(41)) * time.Second)
			target.Answers = append(target.Answers, CheckAnswer{at, CheckKind(random.IntN(4)), 200 + random.IntN(9)})
		}
		view.now = registered.Add(time.Duration(random.IntN(150_000)) * time.Millisecond)
		got, want := view.checked(target), replay(view, target)
		if got != want {
			t.Fatalf("%+v, want %+v, of %+v at %s", got, want, target.Answers, view.now.Sub(registered))
		}
		states[got.state]++
	}
	if states[chain.TargetInitial] < 100 || states[chain.TargetHealthy] < 100 || states[chain.TargetUnhealthy] < 100 {
		t.Errorf("%v: the cases do not reach every state often", states)
	}
}
