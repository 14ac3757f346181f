// ELB errors: the one place that turns what the ELB API answered the observer, or that it did not, into a reason.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The reads, as the ELB API names them.
const (
	opDescribeTargetGroups    = "DescribeTargetGroups"
	opDescribeLoadBalancers   = "DescribeLoadBalancers"
	opDescribeTargetHealth    = "DescribeTargetHealth"
	opDescribeGroupAttributes = "DescribeTargetGroupAttributes"
	opDescribeTags            = "DescribeTags"
)

// elbCall is what was asked, for the detail and the evidence.
type elbCall struct {
	operation string
	of        string // "the target group shop"
	observer  string
	facts     chain.Facts
	shapeless bool // what was asked for has not the shape of a target group's ARN or name
}

// The shapes of what a target group can be asked for by (ELBv2 API, CreateTargetGroup).
var (
	groupARNShape  = regexp.MustCompile(`^arn:[a-z0-9-]+:elasticloadbalancing:[a-z0-9-]+:[0-9]{12}:targetgroup/[A-Za-z0-9-]{1,32}/[A-Za-z0-9]{1,32}$`)
	groupNameShape = regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`)
)

// fail turns the end of a read into its reason, by this table. All but a missing target group is unknown: the observer's trouble is not the group's.
//
//	TargetGroupNotFound                     → registration/target_group_missing
//	ValidationError, of no ARN or name      → registration/target_group_missing: what has not their shape cannot exist
//	ValidationError                         → observer_unavailable: ELB says it also of ARNs of other accounts and regions
//	Throttling, ThrottlingException, …      → elb_api_throttled
//	AccessDenied, AccessDeniedException     → observer_denied
//	LoadBalancerNotFound                    → not_measurable: it has no target groups to find
//	anything else, and no answer            → observer_unavailable
func (c elbCall) fail(ctx context.Context, a answer) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	facts := c.facts.Merge(a.facts())
	delete(facts, chain.FactHost) // which is the host of the group's request
	unsure := func(reason chain.Reason, more string) error {
		return chain.Unsure(reason, c.detail(a.text())+more, facts, a.err)
	}
	switch {
	case a.code == "TargetGroupNotFound" || a.code == "TargetGroupNotFoundException":
		return chain.Fail(chain.StepRegistration, chain.ReasonTargetGroupMissing, c.detail(a.text()), facts, a.err)
	case a.code == "ValidationError" && c.shapeless:
		return chain.Fail(chain.StepRegistration, chain.ReasonTargetGroupMissing, c.detail(a.text())+"; this is not the shape of a target group's ARN or name, so there is none", facts, a.err)
	case a.code == "ValidationError":
		return unsure(chain.ReasonObserverUnavailable, "; ELB says this also of an ARN of another account than the observer's, or of another region")
	case a.throttled():
		return unsure(chain.ReasonELBAPIThrottled, "")
	case a.code == "AccessDenied" || a.code == "AccessDeniedException":
		facts[chain.FactAction] = "elasticloadbalancing:" + c.operation
		return unsure(chain.ReasonObserverDenied, "")
	case a.code == "LoadBalancerNotFound" || a.code == "LoadBalancerNotFoundException":
		return unsure(chain.ReasonNotMeasurable, "")
	}
	return unsure(chain.ReasonObserverUnavailable, "")
}

// detail begins with what was asked, and by whom.
func (c elbCall) detail(end string) string {
	return chain.Redact(fmt.Sprintf("%s of %s as the observer %s: %s", c.operation, c.of, c.observer, end))
}

// malformed is an answer that came whole and does not hold what every answer of ELB's holds.
type malformed string

// Error implements error.
func (m malformed) Error() string { return string(m) }

// malformed is the reason of such an answer.
func (c elbCall) malformed(err error) error {
	return chain.Unsure(chain.ReasonObserverUnavailable, c.detail("the answer makes no sense: "+err.Error()), c.facts, err)
}

// overBudget: the run's time ends before the budget has a read for it.
func (c elbCall) overBudget(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return chain.Unsure(chain.ReasonELBAPIThrottled, notSent(c.operation+" of "+c.of, "elb_reads_per_second"), c.facts, err)
}

// has reports whether an error carries a reason.
func has(err error, reason chain.Reason) bool {
	e, ok := errors.AsType[*chain.Error](err)
	return ok && e.Reason == reason
}
