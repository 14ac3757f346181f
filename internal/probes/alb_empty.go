// Why a target group is empty, as far as the cluster tells: there is nothing to register, somebody keeps the controller from it, or somebody undoes it.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// emptyGroup: none of the targets is the group's own and stays.
func emptyGroup(v *groupView) *chain.Error {
	if v.registered() > 0 {
		return nil
	}
	for _, why := range []registrationRule{nothingToRegister, heldBack, evictedAll, boundTwice} {
		if e := why(v); e != nil {
			return e
		}
	}
	return misregistered(chain.ReasonNoTargets, nil, "%s; %s", v.emptiness(), v.unexplained())
}

// deserted reports whether no target at all stays in the group, of this cluster or of another.
func (v *groupView) deserted() bool {
	return !slices.ContainsFunc(v.members, func(m member) bool { return !m.leaves() })
}

// emptiness says in which way the group is empty.
func (v *groupView) emptiness() string {
	own := v.own()
	switch {
	case len(v.members) == 0:
		return "the target group is empty"
	case len(own) == 0:
		return "the target group has " + counted(len(v.members), "target") + ", none of them of this cluster"
	case v.abandoned():
		return "the target group has none but failing targets that the cluster does not have (" + summarize(healthOf(own)) + ")"
	}
	return "the target group has none but leaving targets (" + summarize(healthOf(own)) + ")"
}

// unexplained says what speaks for an explanation and gives none.
func (v *groupView) unexplained() string {
	nodes, excluded := v.readyNodes()
	switch {
	case !v.bindingFound:
		return "no binding is named that would say what belongs into it"
	case v.group.TargetType == chain.TargetTypeInstance && len(nodes)+len(excluded) == 0 && slices.ContainsFunc(v.backends.Nodes, func(n chain.Node) bool { return n.Ready }):
		return "it registers instances, and no Ready node of the cluster is an EC2 instance that can be one, as on Fargate, where pods are registered (target type ip)"
	case v.group.TargetType == chain.TargetTypeInstance && len(nodes)+len(excluded) == 0:
		return "the cluster has no Ready node"
	case v.group.TargetType == chain.TargetTypeInstance:
		return counted(len(nodes), "node") + " of the cluster should be registered, and " + v.lastWarning()
	case v.waitingForGate() > 0 && len(v.absent) == 0:
		return counted(v.waitingForGate(), "pod") + " wait for the binding's readiness gate, which the controller sets once they are registered and healthy; " + v.lastWarning()
	}
	return counted(len(v.absent), "endpoint") + " of service " + v.binding.Service + " are ready, and " + v.lastWarning()
}

// lastWarning is what the binding's events say, without being on the list of reasons.
func (v *groupView) lastWarning() string {
	if v.trouble.Other == "" {
		return "the binding's events say nothing"
	}
	return "the binding's newest warning says: " + v.trouble.Other
}

// nothingToRegister: the service is not there, has no port that nodes answer on, or has nothing behind it that is ready.
func nothingToRegister(v *groupView) *chain.Error {
	service := v.backends.Service
	facts := chain.Facts{chain.FactService: v.binding.Service}
	switch {
	case !v.bindingFound || v.group.TargetType != chain.TargetTypeIP && v.group.TargetType != chain.TargetTypeInstance:
		return nil
	case !service.Found:
		return misregistered(chain.ReasonNoReadyEndpoints, facts, "%s: the service %s/%s does not exist", v.emptiness(), v.binding.Namespace, v.binding.Service)
	case service.Ports != nil:
		return misregistered(chain.ReasonNoReadyEndpoints, facts, "%s: the service %s has no port %s, which the binding names; its ports are: %s",
			v.emptiness(), v.binding.Service, v.binding.Port, cmp.Or(enumerate(service.Ports), "none"))
	case v.group.TargetType == chain.TargetTypeInstance && service.NodePort == 0:
		return misregistered(chain.ReasonServiceTypeMismatch, facts, "%s: it registers instances, and the service %s (%s) has no node port for port %s",
			v.emptiness(), v.binding.Service, service.Type, v.binding.Port)
	case v.group.TargetType == chain.TargetTypeInstance:
		return allExcluded(v)
	case slices.ContainsFunc(v.backends.Endpoints, func(e chain.Endpoint) bool { return e.Ready && !e.Terminating }):
		return nil
	}
	if stale := gateStale(v); stale != nil {
		return stale
	}
	if v.waitingForGate() > 0 {
		return nil // the controller registers them, since it sets the gate only then
	}
	return misregistered(chain.ReasonNoReadyEndpoints, facts, "%s: %s", v.emptiness(), v.noneReady())
}

// noneReady says what the service has instead of ready endpoints.
func (v *groupView) noneReady() string {
	waiting, all, unfit := v.waitingEndpoints(), len(v.backends.Endpoints), v.backends.Unfit
	switch {
	case all == 0 && unfit.Family > 0:
		return fmt.Sprintf("of the service %[2]s, %[1]s: of the other address family than spec.ipAddressType of the binding", counted(unfit.Family, "endpoint"), v.binding.Service)
	case all == 0 && unfit.Port > 0:
		return fmt.Sprintf("of the service %[2]s, %[1]s: without its port %[3]s, since no container names the target port", counted(unfit.Port, "endpoint"), v.binding.Service, v.binding.Port)
	case all == 0 && unfit.NoPod > 0:
		return fmt.Sprintf("of the service %[2]s, %[1]s: no pods, and the controller registers nothing else", counted(unfit.NoPod, "endpoint"), v.binding.Service)
	case all == 0 && len(v.backends.Service.Selector) > 0:
		return fmt.Sprintf("the service %s has no endpoint: its selector %s matches no pod", v.binding.Service, selector(v.backends.Service.Selector))
	case all == 0:
		return fmt.Sprintf("the service %s has no endpoint, and no selector that would find one", v.binding.Service)
	case waiting == 0:
		return fmt.Sprintf("the service %s has none but terminating endpoints (%d)", v.binding.Service, all)
	}
	return fmt.Sprintf("of the %s of service %s none is ready: %d not ready, %d terminating", counted(all, "endpoint"), v.binding.Service, waiting, all-waiting)
}

func selector(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ",")
}

// readyNodes are the Ready nodes that are EC2 instances: those to register, and those kept out.
func (v *groupView) readyNodes() (nodes, excluded []chain.Node) {
	for _, n := range v.backends.Nodes {
		switch {
		case !n.Ready || n.InstanceID == "":
		case n.Excluded:
			excluded = append(excluded, n)
		default:
			nodes = append(nodes, n)
		}
	}
	return nodes, excluded
}

// allExcluded: every node that is Ready is kept out of load balancers.
func allExcluded(v *groupView) *chain.Error {
	nodes, excluded := v.readyNodes()
	if len(nodes) > 0 || len(excluded) == 0 {
		return nil
	}
	return misregistered(chain.ReasonNodeExcluded, chain.Facts{chain.FactNode: excluded[0].Name}, "%s: every Ready node is kept out of load balancers by label or selector: %s",
		v.emptiness(), enumerate(nodeNames(excluded)))
}

func nodeNames(nodes []chain.Node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

// heldBack: the binding's events say what keeps the controller from registering.
func heldBack(v *groupView) *chain.Error {
	if v.trouble.Reason == "" {
		return nil
	}
	return v.troubleError(v.emptiness())
}

// evictedAll: what was registered is ready and is not registered any more, and others are there, or are leaving as well.
func evictedAll(v *groupView) *chain.Error {
	gone := slices.DeleteFunc(slices.Clone(v.absent), func(a absentee) bool { return !a.evicted })
	if len(gone) == 0 || !slices.ContainsFunc(v.members, member.isStrange) {
		return nil
	}
	return sharedError(v, gone)
}
