// What ELB says of a target at a moment: its state, its reason code, and the words beside it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"slices"
	"strconv"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// How long registration takes: seconds behind an application load balancer, three to five minutes behind a network one (aws-load-balancer-controller, #1834).
const (
	albRegistration = 2 * time.Second
	nlbRegistration = 3 * time.Minute
)

// elbWords are the descriptions beside a reason code (Application Load Balancers, "Health check reason codes").
var elbWords = map[string]string{
	chain.CodeRegistrationInProgress:   "Target registration is in progress",
	chain.CodeInitialHealthChecking:    "Initial health checks in progress",
	chain.CodeTimeout:                  "Request timed out",
	chain.CodeFailedHealthChecks:       "Health checks failed",
	chain.CodeInternalError:            "Health checks failed due to an internal error",
	chain.CodeNotRegistered:            "Target is not registered to the target group",
	chain.CodeNotInUse:                 "Target group is not configured to receive traffic from the load balancer",
	chain.CodeInvalidState:             "Target is in the stopped state",
	chain.CodeIPUnusable:               "The IP address cannot be used as a target, as it is in use by a load balancer",
	chain.CodeDeregistrationInProgress: "Target deregistration is in progress",
	chain.CodeHealthCheckDisabled:      "Health checks are disabled",
}

const zoneNotEnabled = "Target is in an Availability Zone that is not enabled for the load balancer"

// targetHealth is a state with its code and description.
type targetHealth struct {
	State       chain.TargetState
	Code        string
	Description string
}

func healthOf(state chain.TargetState, code string) targetHealth {
	return targetHealth{state, code, elbWords[code]}
}

// GroupView is a target group as its load balancer has it at a moment. It serves under the state's lock alone.
type GroupView struct {
	*TargetGroup
	balancer *LoadBalancer // nil: no listener forwards to the group
	now      time.Time
}

// TargetGroup looks at a group now. It panics when there is none, which is a defect of whoever asks. The caller holds the lock.
func (s *State) TargetGroup(arn string) GroupView {
	g := s.ELB.groups[arn]
	if g == nil {
		panic("sandbox: there is no target group " + arn)
	}
	return GroupView{g, s.ELB.forwarding()[arn], s.now()}
}

// listed are the targets that DescribeTargetHealth tells: what was deregistered stays until its delay is over.
func (v GroupView) listed() []*RegisteredTarget {
	return slices.DeleteFunc(slices.Clone(v.Targets), v.left)
}

// leaving reports whether a target is no longer registered.
func (v GroupView) leaving(t *RegisteredTarget) bool {
	return !t.Deregistered.IsZero() && !v.now.Before(t.Deregistered)
}

// left reports whether a target is gone. One that was not in use drains nothing.
func (v GroupView) left(t *RegisteredTarget) bool {
	return v.leaving(t) && (!v.inUse(t) || !v.now.Before(t.Deregistered.Add(v.seconds("deregistration_delay.timeout_seconds"))))
}

// inUse reports whether the load balancer can send to a target at all.
func (v GroupView) inUse(t *RegisteredTarget) bool { return v.balancer != nil && v.zoneEnabled(t) }

func (v GroupView) zoneEnabled(t *RegisteredTarget) bool {
	return t.Zone == "" || t.Zone == "all" || slices.Contains(v.balancer.Zones, t.Zone)
}

// shifted reports whether a zonal shift keeps traffic away from a target.
func (v GroupView) shifted(t *RegisteredTarget) bool {
	return v.balancer != nil && t.Zone != "" && t.Zone == v.balancer.Shifted
}

// health is what ELB says of a target.
func (v GroupView) health(t *RegisteredTarget) targetHealth {
	switch {
	case v.left(t):
		return healthOf(chain.TargetUnused, chain.CodeNotRegistered)
	case t.Pin != nil:
		return healthOf(t.Pin.State, t.Pin.Code)
	case v.leaving(t):
		return healthOf(chain.TargetDraining, chain.CodeDeregistrationInProgress)
	case v.balancer == nil:
		return healthOf(chain.TargetUnused, chain.CodeNotInUse)
	case !v.zoneEnabled(t):
		return targetHealth{chain.TargetUnused, chain.CodeNotInUse, zoneNotEnabled}
	case !v.Check.Enabled:
		return healthOf(chain.TargetUnavailable, chain.CodeHealthCheckDisabled)
	case v.now.Before(v.checking(t)):
		return healthOf(chain.TargetInitial, chain.CodeRegistrationInProgress)
	}
	checked := v.checked(t)
	health := healthOf(checked.state, checked.code)
	if checked.code == chain.CodeResponseCodeMismatch {
		health.Description = "Health checks failed with these codes: [" + strconv.Itoa(checked.status) + "]"
	}
	if checked.state == chain.TargetUnhealthy && v.now.Before(checked.since.Add(v.grace())) {
		health.State = chain.TargetUnhealthyDraining
	}
	return health
}

// checking is when a target's registration is done, and its health checks begin.
func (v GroupView) checking(t *RegisteredTarget) time.Time {
	from, lasts := t.Registered, v.Registration
	if t.renewed.After(from) {
		from = t.renewed
	}
	if lasts == 0 {
		lasts = albRegistration
		if v.network() {
			lasts = nlbRegistration
		}
	}
	return from.Add(lasts)
}

func (v GroupView) network() bool { return v.balancer.Type == chain.LoadBalancerNetwork }

// grace is for how long an unhealthy target of a network load balancer keeps its connections, which it does only when they are not to be ended at once.
func (v GroupView) grace() time.Duration {
	if !v.network() || v.attribute("target_health_state.unhealthy.connection_termination.enabled") != "false" {
		return 0
	}
	return v.seconds("target_health_state.unhealthy.draining_interval_seconds")
}
