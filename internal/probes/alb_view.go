// groupView is one reading of a target group as registration and health judge it: what ELB says beside what the cluster says.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// settleTime is how long a difference between the cluster and ELB may last before somebody is to blame for it: the controller needs some seconds for every change.
const settleTime = time.Minute

// groupView is filled by the reads of alb_reads.go. The judgements on it ask nobody.
type groupView struct {
	target  chain.Target
	started time.Time // when the run began to read
	now     time.Time // when ELB told the targets' health

	group        chain.GroupInfo
	members      []member
	bindingRead  bool // whether the binding was looked for with success
	bindingFound bool
	binding      chain.Binding
	multiCluster bool // the binding's flag, or the latest that is known of it
	bindings     []chain.Binding
	backends     chain.Backends
	attributed   bool // whether the targets were held against the cluster's endpoints or nodes
	absent       []absentee
	pods         map[string]chain.Pod // by name; those that were read
	trouble      chain.BindingTrouble
	unread       error // the first read of the cluster that failed; nil: all that decides was read
	shared       bool  // foreign targets are to blame; the one thing that a judgement writes down
}

// member is a target with what the cluster and earlier runs know of it.
type member struct {
	chain.TargetReading
	exact     bool      // Since is when the state began; else it may have begun earlier
	began     time.Time // when the target can have entered its state at the earliest, from the ages of its pod or node; zero: not known
	local     bool      // it is an endpoint or node of the cluster
	wasLocal  bool      // or was one earlier
	wanted    bool      // the controller should have it registered
	knownZone string    // its own zone, else that of its endpoint or node; "" when nobody tells
}

// absentee is a ready endpoint, or node, that is not registered.
type absentee struct {
	id, pod string
	since   time.Time // since when it is known to be absent, or to be there to be registered; zero: not known
	evicted bool      // it was a target before, or drains
}

func newMember(t chain.TargetHealth, seen sight) member {
	return member{TargetReading: chain.TargetReading{TargetHealth: t, Since: seen.since}, exact: seen.exact, wasLocal: seen.local, knownZone: t.Zone}
}

// notRead keeps the first read of the cluster that failed.
func (v *groupView) notRead(err error) {
	v.unread = cmp.Or(v.unread, err)
}

// longAgo reports whether the controller has had its time since a moment that is known.
func (v *groupView) longAgo(at time.Time) bool {
	return !at.IsZero() && v.now.Sub(at) >= settleTime
}

// bindingUnread reports whether a binding is named and could not be looked for.
func (v *groupView) bindingUnread() bool { return !v.bindingRead && !v.target.Group.Binding.IsZero() }

// ownKnown reports whether the group's own targets can be told from those of other clusters, which may be among them.
func (v *groupView) ownKnown() bool { return v.attributed || !v.multiCluster }

// own are the targets that this target answers for: all but those of other clusters.
func (v *groupView) own() []member {
	return slices.DeleteFunc(slices.Clone(v.members), func(m member) bool { return m.Foreign })
}

// leaves reports whether a target is on its way out, or was never in.
func (m member) leaves() bool {
	return m.State == chain.TargetDraining || m.Code == chain.CodeNotRegistered
}

// isStrange reports whether the cluster does not have a target, and never had.
func (m member) isStrange() bool { return !m.local && !m.wasLocal }

// registered counts the group's own targets that stay.
func (v *groupView) registered() int {
	n := 0
	for _, m := range v.own() {
		if !m.leaves() {
			n++
		}
	}
	return n
}

func (v *groupView) count(states ...chain.TargetState) int {
	n := 0
	for _, m := range v.own() {
		if slices.Contains(states, m.State) {
			n++
		}
	}
	return n
}

// local are the targets that the cluster has.
func (v *groupView) local() []chain.TargetHealth {
	var local []chain.TargetHealth
	for _, m := range v.members {
		if m.local {
			local = append(local, m.TargetHealth)
		}
	}
	return local
}

// foreign are the ids of targets that stay, and that the cluster does not have.
func (v *groupView) foreign() []string {
	var ids []string
	for _, m := range v.members {
		if v.attributed && !m.local && !m.leaves() {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// reading is what the run shows of the group; nil when the own targets cannot be told from those of other clusters, so that nothing of them may be counted.
func (v *groupView) reading() *chain.GroupReading {
	if !v.ownKnown() {
		return nil
	}
	reading := &chain.GroupReading{At: v.now, Group: v.group, Missing: v.absentIDs(), FailOpen: noneHealthy(v.members)}
	for _, m := range v.members {
		m.Foreign = m.Foreign || v.shared && m.isStrange()
		if m.State == chain.TargetInitial {
			m.Since = v.initialSince(m)
		}
		reading.Targets = append(reading.Targets, m.TargetReading)
	}
	return reading
}

func (v *groupView) absentIDs() []string {
	var ids []string
	for _, a := range v.absent {
		ids = append(ids, a.id)
	}
	return ids
}

// judge holds the group against the rules, in order: the first that it breaks is to blame. Where the cluster did not tell all, those that rest on it say nothing, and the group is unknown,
// but for one without any target that stays, whoever's: it is empty, whatever the cluster says.
func (v *groupView) judge() error {
	for _, rules := range [][]registrationRule{attachmentRules, membershipRules} {
		for _, broken := range rules {
			if e := broken(v); e != nil {
				return e
			}
		}
		switch {
		case v.unread != nil && v.deserted():
			return misregistered(chain.ReasonNoTargets, chain.AsError(v.unread).Facts, "%s; why could not be read: %s", v.emptiness(), chain.AsError(v.unread).Detail)
		case v.unread != nil:
			return v.unread
		}
	}
	return nil
}
