// Leftovers: targets that are still registered, although the cluster has them no more, because nobody deregistered them.
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
	for _, why := range []registrationRule{kept, evictedAll, boundTwice} {
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
	if text != "" && v.trouble.Text+v.trouble.Other != "" {
		text += "; the binding's newest warning says: " + v.trouble.Text + v.trouble.Other
	}
	return text
}
