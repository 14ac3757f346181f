// Targets whose failing explains nothing: leftovers, which the cluster has no more and nobody deregistered, and nodes without a pod of a service that keeps traffic local.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// isLeftover reports whether a target is known not to be in the cluster. Whether it ever was, or is somebody else's, is not known.
func (v *groupView) isLeftover(m member) bool { return v.attributed && !m.local }

// isUnusable reports whether a target gets no request for a cause of its own, so that no health check will change it: its instance is stopped or gone, or its address is a load balancer's.
func (m member) isUnusable() bool {
	return m.State == chain.TargetUnused && (m.Code == chain.CodeInvalidState || m.Code == chain.CodeIPUnusable)
}

// isSpare reports whether a target is a node that fails by design: its service keeps traffic local, and it runs no ready pod of it (Kubernetes documentation, "Virtual IPs and Service Proxies").
func (v *groupView) isSpare(m member) bool {
	return v.group.TargetType == chain.TargetTypeInstance && v.backends.Service.Local && m.local &&
		!slices.ContainsFunc(v.backends.Endpoints, func(e chain.Endpoint) bool { return e.Node == m.Node && e.Ready && !e.Terminating })
}

// failing are the bad targets of the group whose failing explains something.
func (v *groupView) failing() []member {
	return slices.DeleteFunc(v.own(), func(m member) bool { return !m.State.Bad() || v.isLeftover(m) || v.isSpare(m) })
}

// abandoned reports whether the group holds nothing but leftovers, all of which fail.
func (v *groupView) abandoned() bool {
	staying := slices.DeleteFunc(v.own(), member.leaves)
	return len(staying) > 0 && !slices.ContainsFunc(staying, func(m member) bool { return !v.isLeftover(m) || !m.State.Bad() && !m.isUnusable() })
}

// abandonedGroup: the group is as good as empty. That there is nothing to register needs no time to show; what should be registered must have been absent for a while.
func abandonedGroup(v *groupView) *chain.Error {
	if !v.abandoned() {
		return nil
	}
	if e := nothingToRegister(v); e != nil {
		return e
	}
	if len(v.longAbsent()) == 0 {
		return nil
	}
	for _, why := range []registrationRule{heldBack, evictedAll, boundTwice} {
		if e := why(v); e != nil {
			return e
		}
	}
	return misregistered(chain.ReasonNoTargets, nil, "%s; %s", v.emptiness(), v.unexplained())
}

// shortfall says what the cluster has ready beside the targets, and why some that fail explain nothing; "" when there is nothing of that.
func (v *groupView) shortfall() string {
	var text string
	if n := len(v.absent); n > 0 {
		text = fmt.Sprintf("; ready in the cluster and not registered: %s", enumerate(v.absentIDs()))
	} else if n := v.waitingForGate(); n > 0 {
		text = fmt.Sprintf("; %s wait for the binding's readiness gate", counted(n, "pod"))
	}
	if stale := slices.DeleteFunc(v.own(), func(m member) bool { return !v.isLeftover(m) || !m.State.Bad() }); len(stale) > 0 {
		text += "; registered, and not in the cluster any more: " + enumerate(ids(stale))
	}
	text += v.spareText()
	if text != "" && v.trouble.Text+v.trouble.Other != "" {
		text += "; the binding's newest warning says: " + v.trouble.Text + v.trouble.Other
	}
	return text
}

// spareText names the nodes that fail by design; "" when there are none.
func (v *groupView) spareText() string {
	spare := slices.DeleteFunc(v.own(), func(m member) bool { return !m.State.Bad() || !v.isSpare(m) })
	if len(spare) == 0 {
		return ""
	}
	return fmt.Sprintf("; externalTrafficPolicy of service %s is Local, and no ready pod of it runs on: %s", v.binding.Service, enumerate(ids(spare)))
}

// behindNodes says that nothing ready is behind the node port of a group of instances, so that every node must fail; "" otherwise.
func (v *groupView) behindNodes() string {
	if v.group.TargetType != chain.TargetTypeInstance || !v.attributed || !v.backends.Service.Found ||
		slices.ContainsFunc(v.backends.Endpoints, func(e chain.Endpoint) bool { return e.Ready && !e.Terminating }) {
		return ""
	}
	return "; behind the node port, " + v.noneReady()
}
