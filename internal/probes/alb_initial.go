// How long a target may be initial: registration takes its time by design, then the first checks must pass.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// How long registration takes before the first check: a Network Load Balancer needs three to five minutes by design (kubernetes-sigs/aws-load-balancer-controller issue 1834).
const (
	registrationTime        = time.Minute
	networkRegistrationTime = 5 * time.Minute
)

// initialLimit is how long a target of the group may be initial: registration, as many checks as make it healthy, and the last one's timeout.
func (v *groupView) initialLimit() time.Duration {
	allowed, check := networkRegistrationTime, v.group.Check
	balancers := v.group.LoadBalancers
	if len(balancers) > 0 && !slices.ContainsFunc(balancers, func(b chain.LoadBalancer) bool { return b.Type != chain.LoadBalancerApplication }) {
		allowed = registrationTime
	}
	return allowed + check.Interval*time.Duration(check.HealthyThreshold) + check.Timeout
}

// isStuck reports whether a target is known to have been initial for longer than that. Of what nobody knows the age, it is fresh.
func (v *groupView) isStuck(m member) bool {
	if m.State != chain.TargetInitial {
		return false
	}
	since := v.initialSince(m)
	return !since.IsZero() && v.now.Sub(since) > v.initialLimit()
}

// initialSince is since when a target is initial: as it was seen; or, when no run saw it begin, since its pod or node is there and its binding is, since ELB tells no times.
func (v *groupView) initialSince(m member) time.Time {
	if m.exact || m.began.IsZero() {
		return m.Since
	}
	began := m.began
	if v.binding.Created.After(began) {
		began = v.binding.Created
	}
	return earlier(m.Since, began)
}
