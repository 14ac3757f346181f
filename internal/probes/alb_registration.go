// Step registration: the right targets are in the target group, and a load balancer serves it.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// registrationRule is one way to be badly registered. nil: the group is not.
type registrationRule func(*groupView) *chain.Error

// attachmentRules need nothing of what is behind the binding.
var attachmentRules = []registrationRule{bindingMissing, notAttached, zoneNotEnabled}

// membershipRules hold ELB's targets against the cluster's endpoints, nodes and pods.
var membershipRules = []registrationRule{emptyGroup, abandonedGroup, boundTwice, notRegistered, evicted, unreachable, nodePortGone, nodesExcluded, gateStale}

// registration reads all that it and health judge, so that both judge one reading.
func (r *albRun) registration(ctx context.Context) (chain.Facts, error) {
	r.readBinding(ctx)
	if err := r.readGroup(ctx); err != nil {
		return nil, err
	}
	r.readCluster(ctx)
	found := r.view.judge()
	r.reading = r.view.reading()
	return r.view.facts(), found
}

// misregistered makes a failure of the step.
func misregistered(reason chain.Reason, facts chain.Facts, format string, args ...any) *chain.Error {
	return chain.Fail(chain.StepRegistration, reason, fmt.Sprintf(format, args...), facts, nil)
}

// bindingMissing: the binding that should fill the group is not there, or fills another one.
func bindingMissing(v *groupView) *chain.Error {
	ref := v.target.Group.Binding
	switch b := v.binding; {
	case !v.bindingRead:
		return nil
	case !v.bindingFound:
		return misregistered(chain.ReasonBindingMissing, nil, "the cluster %s has no TargetGroupBinding %s", v.target.Cluster.Name, ref)
	case b.GroupARN != "" && b.GroupARN != v.group.ARN:
		return misregistered(chain.ReasonBindingMissing, nil, "the TargetGroupBinding %s fills the group %s, not this one, %s", ref, b.GroupARN, v.group.ARN)
	case b.GroupARN == "" && b.GroupName != "" && b.GroupName != v.group.Name:
		return misregistered(chain.ReasonBindingMissing, nil, "the TargetGroupBinding %s fills the group named %s, not this one, %s", ref, b.GroupName, v.group.Name)
	}
	return nil
}
