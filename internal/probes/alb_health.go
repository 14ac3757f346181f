// Step health: enough of the registered targets pass the load balancer's health check.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// health judges the group's own targets, as registration read them.
func (r *albRun) health(ctx context.Context) (chain.Facts, error) {
	v := &r.view
	open := r.failsOpen(ctx)
	r.reading.FailOpen = open != ""
	facts := chain.Facts{chain.FactTargets: summarize(healthOf(v.own())), chain.FactFailOpen: open}
	return facts, v.judgeHealth()
}

// judgeHealth decides by this table, on the group's own targets (first match wins). draining, unused, unavailable and states that are not known are neither good nor bad; an initial target is
// stuck when it has been so for longer than it can take, and else neither.
//
//	healthy ≥ min_healthy                     → success
//	bad, and no healthy target in the group   → all_unhealthy_fail_open
//	bad                                       → by the commonest of their codes (see badReasons); without a code that is known, below_min_healthy
//	stuck                                     → initial_stuck
//	healthy, or all unusable                  → below_min_healthy
//	otherwise                                 → unknown, not_measurable
//
// In the third line, targets that the cluster does not have any more are left out, and so are nodes without a pod of a service that keeps traffic local: that they fail explains nothing.
// The second line speaks of the whole group, also where it is one of several clusters: another cluster's healthy target keeps the load balancer from failing open.
func (v *groupView) judgeHealth() error {
	own, want := v.own(), v.minHealthy()
	healthy := v.count(chain.TargetHealthy)
	var stuck, unusable []member
	for _, m := range own {
		switch {
		case v.isStuck(m):
			stuck = append(stuck, m)
		case m.isUnusable():
			unusable = append(unusable, m)
		}
	}
	bad, failing := v.count(chain.TargetUnhealthy, chain.TargetUnhealthyDraining), v.failing()
	counts := fmt.Sprintf("%d of at least %s healthy: %s", healthy, counted(want, "target"), summarize(healthOf(own)))
	switch {
	case healthy >= want:
		return nil
	case bad > 0 && noneHealthy(v.members):
		return unhealthy(chain.ReasonAllUnhealthyFailOpen, "none of %s is healthy, so the load balancer may send to all of them: %s%s", counted(len(own), "target"), summarize(healthOf(own)), v.behindNodes())
	case len(failing) > 0:
		reason := commonest(failing)
		first := failing[max(0, slices.IndexFunc(failing, func(m member) bool { return commonest([]member{m}) == reason }))]
		return unhealthy(reason, "%s; first: %s%s%s", counts, first.ID, described(first), v.wider(reason))
	case len(stuck) > 0:
		return unhealthy(chain.ReasonInitialStuck, "%s; initial for longer than the %s that registration and the first checks can take: %s", counts, v.initialLimit(), enumerate(ids(stuck)))
	case healthy > 0 || len(unusable) > 0 && len(unusable) == v.registered():
		return unhealthy(chain.ReasonBelowMinHealthy, "%s%s", counts, v.shortfall())
	}
	return chain.Unsure(chain.ReasonNotMeasurable, "no target is healthy and none is unhealthy: "+summarize(healthOf(own)), nil, nil)
}

func unhealthy(reason chain.Reason, format string, args ...any) *chain.Error {
	return chain.Fail(chain.StepHealth, reason, fmt.Sprintf(format, args...), nil, nil)
}

func ids(members []member) []string {
	var all []string
	for _, m := range members {
		all = append(all, m.ID)
	}
	return all
}

// described is ELB's own word on a target, for people.
func described(m member) string {
	if m.Description == "" {
		return ""
	}
	return " (" + m.Description + ")"
}

// wider says where a code rules out less than elsewhere: of a network load balancer, older documentation has no other one (ELBv2 API, TargetHealth).
func (v *groupView) wider(reason chain.Reason) string {
	if reason != chain.ReasonHealthCheckFailed || !v.behindNetworkLoadBalancer() {
		return ""
	}
	return "; a network load balancer may say this of silence and of a wrong status too, so see to security groups as well"
}

// badReasons are what the codes of bad targets mean. Of equally common ones the first here is blamed: an answer shows more than silence, and silence more than a refusal; AWS' own fault comes last.
var badReasons = []struct {
	code   string
	reason chain.Reason
}{
	{chain.CodeResponseCodeMismatch, chain.ReasonHealthCheckCodeMismatch},
	{chain.CodeTimeout, chain.ReasonHealthCheckTimeout},
	{chain.CodeFailedHealthChecks, chain.ReasonHealthCheckFailed},
	{chain.CodeInternalError, chain.ReasonELBInternalError},
}

// commonest is the reason of the code that most of the bad targets have.
func commonest(bad []member) chain.Reason {
	count := map[string]int{}
	for _, m := range bad {
		count[m.Code]++
	}
	found, most := chain.ReasonBelowMinHealthy, 0
	for _, row := range badReasons {
		if n := count[row.code]; n > most {
			found, most = row.reason, n
		}
	}
	return found
}
