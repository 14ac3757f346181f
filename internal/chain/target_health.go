// What the ELB API says of a target group: the group, its load balancers, and the health of its targets.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "time"

// TargetState is the state of a registered target (ELBv2 API, TargetHealth).
type TargetState string

// The states. healthy is good; unhealthy and unhealthy.draining are bad; the others are neither, and visible.
const (
	TargetHealthy           TargetState = "healthy"
	TargetUnhealthy         TargetState = "unhealthy"
	TargetUnhealthyDraining TargetState = "unhealthy.draining" // of Network Load Balancers
	TargetInitial           TargetState = "initial"
	TargetDraining          TargetState = "draining"
	TargetUnused            TargetState = "unused"
	TargetUnavailable       TargetState = "unavailable"
)

// TargetStates lists every state, in the order of pages and labels.
var TargetStates = []TargetState{TargetHealthy, TargetUnhealthy, TargetUnhealthyDraining, TargetInitial, TargetDraining, TargetUnused, TargetUnavailable}

// Bad reports whether a target in this state counts against the group.
func (s TargetState) Bad() bool { return s == TargetUnhealthy || s == TargetUnhealthyDraining }

// The reason codes of target health (ELBv2 API, TargetHealth). The description beside them is for people alone.
const (
	CodeRegistrationInProgress   = "Elb.RegistrationInProgress"
	CodeInitialHealthChecking    = "Elb.InitialHealthChecking"
	CodeResponseCodeMismatch     = "Target.ResponseCodeMismatch"
	CodeTimeout                  = "Target.Timeout"
	CodeFailedHealthChecks       = "Target.FailedHealthChecks"
	CodeInternalError            = "Elb.InternalError"
	CodeNotRegistered            = "Target.NotRegistered"
	CodeNotInUse                 = "Target.NotInUse"
	CodeInvalidState             = "Target.InvalidState"
	CodeIPUnusable               = "Target.IpUnusable"
	CodeDeregistrationInProgress = "Target.DeregistrationInProgress"
	CodeHealthCheckDisabled      = "Target.HealthCheckDisabled"
)

// TargetHealth is one target of a group as DescribeTargetHealth says it.
type TargetHealth struct {
	ID          string // instance id, IP address, or an ARN
	Port        int32  // 0: none (a Lambda function)
	Zone        string // "" when it is not told, as of instances; "all" of addresses outside the VPC
	State       TargetState
	Code        string // "" when healthy
	Description string // for people, redacted
	Override    string // state of an administrative override, such as zonal_shift_active; "" and no_override: none
	Anomalous   bool   // anomaly detection finds it unlike the others
	Mitigated   bool   // and the load balancer sends it less
}

// The types of target that a cluster can register; the others are lambda and alb.
const (
	TargetTypeInstance = "instance"
	TargetTypeIP       = "ip"
)

// GroupInfo is a target group with its load balancers.
type GroupInfo struct {
	ARN           string
	Name          string
	Region        string
	TargetType    string
	Protocol      string // HTTP, HTTPS, TCP, …; "" of lambda
	Check         HealthCheck
	LoadBalancers []LoadBalancer // none: no listener forwards to the group
	Read          time.Time      // when it was read
}

// HealthCheck says how the load balancer checks a group's targets.
type HealthCheck struct {
	Enabled            bool
	Protocol           string
	Port               string // a number, or traffic-port
	Path               string
	Matcher            string // accepted codes, such as 200-299
	Interval, Timeout  time.Duration
	HealthyThreshold   int
	UnhealthyThreshold int
}

// Types of load balancers, and the states in which they route.
const (
	LoadBalancerApplication    = "application"
	LoadBalancerNetwork        = "network"
	LoadBalancerActive         = "active"
	LoadBalancerActiveImpaired = "active_impaired" // it cannot scale
)

// LoadBalancer is what DescribeLoadBalancers says of one.
type LoadBalancer struct {
	ARN   string
	Name  string
	Type  string   // application, network or gateway
	State string   // provisioning, active, active_impaired or failed
	Zones []string // the Availability Zones that it serves
}

// GroupAttributes are the attributes of a target group that change what its health means (ELBv2 API, TargetGroupAttribute).
type GroupAttributes struct {
	// MinHealthyCount and MinHealthyPercent are target_group_health.unhealthy_state_routing.minimum_healthy_targets: below either, in a zone, the load balancer
	// routes to all targets of the zone. 0 is off; the default is a count of 1.
	MinHealthyCount   int
	MinHealthyPercent int
}
