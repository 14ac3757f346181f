// What is wrong with a group that has targets: somebody else fills it too, or what should be in it is kept out.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// boundTwice: another binding of the cluster names the group without the multi-cluster flag, and so removes all that is not its own. Two bindings of one service and port register the same.
func boundTwice(v *groupView) *chain.Error {
	mine := v.binding
	for _, other := range v.bindings {
		same := other.Namespace == mine.Namespace && other.Service == mine.Service && other.Port == mine.Port
		if !v.bindingFound || other.BindingRef == mine.BindingRef || other.MultiCluster || same || !v.names(other) {
			continue
		}
		return misregistered(chain.ReasonTargetGroupShared, chain.Facts{chain.FactBinding: mine.Name},
			"the TargetGroupBinding %s (service %s) fills this group too, beside %s and without spec.multiClusterTargetGroup, so each removes what the other registers", other.BindingRef, other.Service, mine.BindingRef)
	}
	return nil
}

// names reports whether a binding is of this group.
func (v *groupView) names(b chain.Binding) bool {
	if b.GroupARN != "" {
		return b.GroupARN == v.group.ARN
	}
	return b.GroupName != "" && b.GroupName == v.group.Name && b.RoleARN == v.binding.RoleARN
}

// notRegistered: something should have been registered for a while, and since then the controller has said why it is not.
func notRegistered(v *groupView) *chain.Error {
	if v.trouble.Reason == "" || !slices.ContainsFunc(v.longAbsent(), func(a absentee) bool { return !v.trouble.Last.Before(a.since) }) {
		return nil
	}
	return v.troubleError(counted(len(v.absent), "target") + " should be registered and are not: " + enumerate(v.absentIDs()))
}

func (v *groupView) troubleError(what string) *chain.Error {
	return misregistered(v.trouble.Reason, chain.Facts{chain.FactEvent: v.trouble.Text}, "%s; an event of the binding %s says: %s", what, v.binding.BindingRef, v.trouble.Text)
}

// evicted: what is ready is not registered, while targets of somebody else live in the group. A multi-cluster group is meant to have those.
func evicted(v *groupView) *chain.Error {
	if v.binding.MultiCluster || len(v.longAbsent()) == 0 || !slices.ContainsFunc(v.members, v.isOthers) {
		return nil
	}
	return sharedError(v, v.longAbsent())
}

// isOthers reports whether a target is somebody else's for sure. One that fails its checks, or that was the cluster's own, may be what a pod has left behind, which is the controller's to remove.
func (v *groupView) isOthers(m member) bool {
	return v.attributed && m.isStrange() && (m.State == chain.TargetHealthy || m.State == chain.TargetInitial)
}

func sharedError(v *groupView, gone []absentee) *chain.Error {
	v.shared = true
	var missing, others []string
	for _, a := range gone {
		missing = append(missing, a.id)
	}
	for _, m := range v.members {
		if m.isStrange() {
			others = append(others, m.ID)
		}
	}
	return misregistered(chain.ReasonTargetGroupShared, chain.Facts{chain.FactForeign: enumerate(others), chain.FactMissing: enumerate(missing)},
		"%s of this cluster, ready, and not registered: %s; in the group are targets that this cluster does not have: %s", counted(len(gone), "target"), enumerate(missing), enumerate(others))
}

// unanswered reports whether the group is short of healthy targets, most of which let the health check go unanswered. A network load balancer may call that a failed check.
func (v *groupView) unanswered() bool {
	code := commonest(v.failing())
	return v.count(chain.TargetHealthy) < v.minHealthy() && (code == chain.ReasonHealthCheckTimeout || code == chain.ReasonHealthCheckFailed && v.behindNetworkLoadBalancer())
}

func (v *groupView) behindNetworkLoadBalancer() bool {
	return slices.ContainsFunc(v.group.LoadBalancers, func(b chain.LoadBalancer) bool { return b.Type == chain.LoadBalancerNetwork })
}

// unreachable: targets do not answer, and the controller says that it could not open their security groups. It registers pods all the same (pkg/targetgroupbinding resource_manager.go).
func unreachable(v *groupView) *chain.Error {
	if v.trouble.Reason != chain.ReasonTGBNetworkReconcileFailed || !v.unanswered() {
		return nil
	}
	return v.troubleError("targets are registered and do not answer the health check (" + summarize(healthOf(v.own())) + ")")
}

// nodePortGone: the group is short of healthy targets, since the service has lost the node port that its instances are registered with.
func nodePortGone(v *groupView) *chain.Error {
	service := v.backends.Service
	if v.group.TargetType != chain.TargetTypeInstance || !v.attributed || !service.Found || service.Ports != nil || service.NodePort != 0 || v.count(chain.TargetHealthy) >= v.minHealthy() {
		return nil
	}
	return misregistered(chain.ReasonServiceTypeMismatch, chain.Facts{chain.FactService: v.binding.Service}, "%s registered as instances, and the service %s (%s) has no node port for port %s any more",
		counted(v.registered(), "target"), v.binding.Service, service.Type, v.binding.Port)
}

// nodesExcluded: the group is short of healthy targets, nothing in it explains that, and the nodes that are kept out would make up for it.
func nodesExcluded(v *groupView) *chain.Error {
	if v.group.TargetType != chain.TargetTypeInstance || !v.attributed {
		return nil
	}
	_, excluded := v.readyNodes()
	healthy, pending, want := v.count(chain.TargetHealthy), v.count(chain.TargetInitial), v.minHealthy()
	bad := v.count(chain.TargetUnhealthy, chain.TargetUnhealthyDraining)
	out := slices.DeleteFunc(excluded, func(n chain.Node) bool { return v.holds(candidate{id: n.InstanceID}) })
	if len(out) == 0 || bad > 0 || healthy+pending >= want || healthy+pending+len(out) < want {
		return nil
	}
	return misregistered(chain.ReasonNodeExcluded, chain.Facts{chain.FactNode: out[0].Name}, "%d of at least %s healthy; kept out of load balancers by label or selector, though Ready: %s",
		healthy, counted(want, "target"), enumerate(nodeNames(out)))
}

// minHealthy is how many healthy targets are enough.
func (v *groupView) minHealthy() int { return max(1, v.target.Group.MinHealthy) }
