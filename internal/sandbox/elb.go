// The ELBv2 API: its query protocol, who may ask, how often, and how it refuses.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"net/url"
	"strings"
)

const (
	elbService   = "elasticloadbalancing"
	elbVersion   = "2015-12-01"
	elbNamespace = "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"
)

// ELB is the Elastic Load Balancing API, version 2, on loopback, for every account and region. A caller sees what is in its account, in the region of its credential scope.
type ELB struct{ *awsServer }

// NewELB starts the API; its certificate is the authority's, for loopback and for every elasticloadbalancing host of AWS.
func NewELB(state *State, ca *CA) (*ELB, error) {
	server, err := newAWSServer(elbService, state, ca, elbHandler(state))
	if err != nil {
		return nil, err
	}
	return &ELB{server}, nil
}

// ELBHandler answers as the API does, without a socket: for a client whose time is not the machine's.
func ELBHandler(state *State) http.Handler {
	return (&awsServer{service: elbService, state: state}).frame(elbHandler(state))
}

// elbCall is one call of a caller that may make it.
type elbCall struct {
	caller awsCaller
	form   url.Values
}

// elbActions answer a call; each runs under the state's lock.
var elbActions = map[string]func(*State, elbCall) (any, *awsError){
	"DescribeLoadBalancers":          (*State).describeLoadBalancers,
	"DescribeLoadBalancerAttributes": (*State).describeLoadBalancerAttributes,
	"DescribeListeners":              (*State).describeListeners,
	"DescribeRules":                  (*State).describeRules,
	"DescribeTags":                   (*State).describeTags,
	"DescribeTargetGroups":           (*State).describeTargetGroups,
	"DescribeTargetGroupAttributes":  (*State).describeTargetGroupAttributes,
	"DescribeTargetHealth":           (*State).describeTargetHealth,
	"RegisterTargets":                (*State).registerTargets,
	"DeregisterTargets":              (*State).deregisterTargets,
}

func elbHandler(state *State) http.Handler {
	return queryService{
		name: elbService, version: elbVersion, namespace: elbNamespace, state: state, answer: state.answerELB,
		knows: func(operation string) bool { return elbActions[operation] != nil },
	}
}

// answerELB is what stands before every action: the signature, the faults of the service, its throttling, and the caller's right to ask.
func (s *State) answerELB(r *http.Request, body []byte, form url.Values) (result any, fault *awsError) {
	operation := form.Get("Action")
	s.Change(func(s *State) {
		var caller awsCaller
		if caller, fault = s.authenticate(r, body, elbService); fault == nil {
			fault = s.hinderELB(caller, operation)
		}
		if fault == nil {
			fault = caller.mayCallELB(operation, form.Get("TargetGroupArn"))
		}
		if fault == nil {
			result, fault = elbActions[operation](s, elbCall{caller, form})
		}
	})
	return result, fault
}

// hinderELB is what keeps the service from looking at a call: a fault that is set, or an empty bucket. A call that is denied afterwards has taken its token.
func (s *State) hinderELB(caller awsCaller, operation string) *awsError {
	refusal, refused := s.Refuse[operation]
	switch {
	case refused:
		return &awsError{http.StatusForbidden, refusal.Code, refusal.Message}
	case s.Failing[operation]:
		return errInternal
	case s.Throttle[operation], elbReads(operation) && !s.ELB.take(caller, s.now()):
		return errThrottled
	}
	return nil
}

func elbReads(operation string) bool { return strings.HasPrefix(operation, "Describe") }

// mayCallELB asks the caller's identity policy (ReadsELB, ManagesELB), then its session policy. The actions that read know no resource but * (Service Authorization Reference).
func (c awsCaller) mayCallELB(operation, group string) *awsError {
	action, resource, on, allowed := elbService+":"+operation, "*", "", c.ReadsELB
	if !elbReads(operation) {
		resource, on, allowed = group, " on resource: "+group, c.ManagesELB
	}
	suffix := " because no identity-based policy allows the " + action + " action"
	if allowed {
		decision := c.sessionPolicy(action, resource)
		if decision == policyAllows {
			return nil
		}
		suffix = decision.suffix(action)
	}
	return &awsError{http.StatusForbidden, "AccessDenied", "User: " + c.ARN + " is not authorized to perform: " + action + on + suffix}
}
