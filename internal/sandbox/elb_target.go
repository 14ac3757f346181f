// A registered target: since when it is there, how it answers health checks, and how it answers requests.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"strconv"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// RegisteredTarget is a target of a target group. What DescribeTargetHealth says of it is a pure function of the fields and the time.
type RegisteredTarget struct {
	ID           string // instance id or IP address
	Port         int32
	Zone         string // where it is; "all" of an address outside the VPC
	Registered   time.Time
	Deregistered time.Time     // zero: it is still registered
	Answers      []CheckAnswer // to health checks, oldest first; before the first, and without any, it answers well
	Pin          *PinnedHealth // overrides all else that is said of its health
	Anomalous    bool          // anomaly detection finds it unlike the others
	Mitigated    bool          // and it gets fewer requests for it
	Reply        Reply         // to requests
	// renewed is when the load balancer began anew to register it, after its group or zone was not in use; zero: when it was registered.
	renewed time.Time
}

// PinnedHealth is a state that no health check changes, such as unused with Target.InvalidState, or unhealthy with Elb.InternalError.
type PinnedHealth struct {
	State chain.TargetState
	Code  string
}

// CheckAnswer is how a target answers health checks from some moment on.
type CheckAnswer struct {
	Since  time.Time
	Kind   CheckKind
	Status int // of CheckStatus
}

// CheckKind is a way to answer a health check.
type CheckKind uint8

// The ways to answer a health check.
const (
	CheckWell    CheckKind = iota // as the group's matcher wants it
	CheckStatus                   // with a status, which the matcher may want or not
	CheckSilence                  // not at all: Target.Timeout
	CheckRefusal                  // by refusing the connection: Target.FailedHealthChecks
)

// Reply is how a target answers a request that the load balancer sends on. Its zero value is a quick 200.
type Reply struct {
	Status int           // 0: 200
	Body   string        // "": the target's id, and a line feed
	Delay  time.Duration // before the answer
	Gone   bool          // the process is gone: connections are refused, and open ones break
}

// passes reports whether a check succeeds by this answer.
func (a CheckAnswer) passes(check chain.HealthCheck) bool {
	return a.Kind == CheckWell || a.Kind == CheckStatus && matcherTakes(check.Matcher, a.Status)
}

// failure is the reason code of a check that did not succeed.
func (a CheckAnswer) failure() string {
	switch a.Kind {
	case CheckStatus:
		return chain.CodeResponseCodeMismatch
	case CheckSilence:
		return chain.CodeTimeout
	case CheckRefusal:
		return chain.CodeFailedHealthChecks
	case CheckWell:
	}
	return ""
}

// matcherTakes reports whether a status is among those of a matcher, such as 200, 200,202 or 200-299; "" is 200.
func matcherTakes(matcher string, status int) bool {
	if matcher == "" {
		matcher = defaultMatcher
	}
	for part := range strings.SplitSeq(matcher, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if errFrom == nil && errTo == nil && from <= status && status <= to {
			return true
		}
	}
	return false
}
