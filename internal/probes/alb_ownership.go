// Whose targets these are: each is held against the endpoints (ip) or nodes (instance) of the cluster, and those against the targets.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// candidate is an endpoint or node that may be a target.
type candidate struct {
	id, pod, node, zone string
	port                int32 // 0: any
	wanted              bool  // the controller should register it
	created             time.Time
}

// candidates are what the cluster has for the group. Of Lambda functions and load balancers as targets, no cluster knows.
func (v *groupView) candidates() []candidate {
	var all []candidate
	switch v.group.TargetType {
	case chain.TargetTypeIP:
		for _, e := range v.backends.Endpoints {
			all = append(all, candidate{id: e.Address, port: e.Port, pod: e.Pod, node: e.Node, zone: e.Zone, wanted: e.Ready && !e.Terminating})
		}
	case chain.TargetTypeInstance:
		for _, n := range v.backends.Nodes {
			if n.InstanceID != "" {
				all = append(all, candidate{id: n.InstanceID, port: v.backends.Service.NodePort, node: n.Name, zone: n.Zone, wanted: n.Ready && !n.Excluded, created: n.Created})
			}
		}
	}
	return all
}

// attribute finds out which targets are the cluster's, and what it has that is not registered. Foreign are targets that another cluster answers for, which only a multi-cluster binding says.
func (v *groupView) attribute() {
	if v.group.TargetType != chain.TargetTypeIP && v.group.TargetType != chain.TargetTypeInstance {
		return
	}
	v.attributed = true
	all := v.candidates()
	for i := range v.members {
		m := &v.members[i]
		for _, c := range all {
			if c.id == m.ID {
				m.belongs(c)
			}
		}
		m.Foreign = v.binding.MultiCluster && !m.local
	}
	known := map[string]bool{}
	for _, c := range all {
		if c.wanted && !known[c.id] && !v.holds(c) {
			v.absent = append(v.absent, absentee{id: c.id, pod: c.pod, since: c.created, evicted: v.drains(c.id)})
		}
		known[c.id] = known[c.id] || c.wanted
	}
}

// belongs makes a target the cluster's. An address may be in several slices, such as a new pod's and a former one's: the one that is wanted tells more.
func (m *member) belongs(c candidate) {
	if m.local && !c.wanted {
		return
	}
	m.local, m.wanted, m.Pod, m.Node = true, c.wanted, c.pod, c.node
	m.began = c.created
	if m.knownZone == "" {
		m.knownZone = c.zone
	}
}

// holds reports whether a candidate is registered, to stay.
func (v *groupView) holds(c candidate) bool {
	for _, m := range v.members {
		if m.ID == c.id && !m.leaves() && (c.port == 0 || m.Port == 0 || m.Port == c.port) {
			return true
		}
	}
	return false
}

func (v *groupView) drains(id string) bool {
	for _, m := range v.members {
		if m.ID == id && m.State == chain.TargetDraining {
			return true
		}
	}
	return false
}

// noteAbsences takes in what earlier runs know of what is absent.
func (v *groupView) noteAbsences(known map[string]absence) {
	for i := range v.absent {
		a := &v.absent[i]
		before, ok := known[a.id]
		if !ok {
			continue
		}
		a.evicted = a.evicted || before.evicted
		a.since = earlier(a.since, before.since)
	}
}

// notePods takes in the ages of pods: a ready one is there to be registered since it became ready, and so can have been in its state only since then.
func (v *groupView) notePods(pods []chain.Pod) {
	v.pods = make(map[string]chain.Pod, len(pods))
	for _, p := range pods {
		v.pods[p.Name] = p
	}
	for i := range v.absent {
		if p, ok := v.pods[v.absent[i].pod]; ok && p.Ready {
			v.absent[i].since = earlier(v.absent[i].since, later(p.ReadySince, v.binding.Created))
		}
	}
	for i := range v.members {
		if p, ok := v.pods[v.members[i].Pod]; ok && p.Ready {
			v.members[i].began = p.ReadySince
		}
	}
}

// longAbsent is what has been absent for longer than the controller needs.
func (v *groupView) longAbsent() []absentee {
	var long []absentee
	for _, a := range v.absent {
		if v.longAgo(a.since) {
			long = append(long, a)
		}
	}
	return long
}

// startsUnseen reports whether a target is initial, and no earlier run saw it begin: the age of its pod may tell.
func (v *groupView) startsUnseen() bool {
	for _, m := range v.own() {
		if m.State == chain.TargetInitial && !m.exact {
			return true
		}
	}
	return false
}

// waitingEndpoints counts the endpoints that are not ready and not on their way out.
func (v *groupView) waitingEndpoints() int {
	n := 0
	for _, e := range v.backends.Endpoints {
		if !e.Ready && !e.Terminating {
			n++
		}
	}
	return n
}

// earlier returns the earlier of two times that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
