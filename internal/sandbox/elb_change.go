// What happens to target groups and load balancers: targets come, go, change their ways and their zone; groups are attached, detached and deleted.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
)

// Register adds targets, from now on. A target that is there already stays as it is, unless it was leaving: then it begins anew.
func (v GroupView) Register(targets ...*RegisteredTarget) {
	list := v.listed()
	for _, t := range targets {
		old := v.target(t.ID, t.Port)
		if old != nil && old.Deregistered.IsZero() {
			continue
		}
		t.Registered = v.now
		list = append(slices.DeleteFunc(list, func(o *RegisteredTarget) bool { return o == old }), t)
	}
	v.Targets = list
}

// Deregister begins to take targets out: they drain for the deregistration delay, and are gone. One that is leaving already is left to it. Without ids, all targets leave.
func (v GroupView) Deregister(ids ...string) { v.leave(v.chosen(ids)) }

func (v GroupView) leave(targets []*RegisteredTarget) {
	for _, t := range targets {
		if t.Deregistered.IsZero() {
			t.Deregistered = v.now
		}
	}
}

// Answer changes how targets, or without ids all, answer health checks from now on. The status is that of CheckStatus.
func (v GroupView) Answer(kind CheckKind, status int, ids ...string) {
	for _, t := range v.chosen(ids) {
		t.Answers = append(t.Answers, CheckAnswer{v.now, kind, status})
	}
}

// Reply changes how targets, or without ids all, answer requests.
func (v GroupView) Reply(reply Reply, ids ...string) {
	for _, t := range v.chosen(ids) {
		t.Reply = reply
	}
}

// Stop ends the process of targets, or without ids of all: it refuses health checks and requests, and breaks off the requests that it has.
func (v GroupView) Stop(ids ...string) {
	v.Answer(CheckRefusal, 0, ids...)
	v.Reply(Reply{Gone: true}, ids...)
}

// Pin sets what is said of the health of targets, or without ids of all, whatever is the case.
func (v GroupView) Pin(health PinnedHealth, ids ...string) {
	for _, t := range v.chosen(ids) {
		t.Pin = &health
	}
}

// Move puts a target into another zone, where the load balancer registers it anew.
func (v GroupView) Move(id, zone string) {
	for _, t := range v.chosen([]string{id}) {
		t.Zone, t.renewed = zone, v.now
	}
}

// chosen are the targets with these ids, or all. It panics when there is none of an id, which is a defect of whoever asks.
func (v GroupView) chosen(ids []string) []*RegisteredTarget {
	if len(ids) == 0 {
		return v.Targets
	}
	var chosen []*RegisteredTarget
	for _, id := range ids {
		t := v.target(id, 0)
		if t == nil {
			panic(fmt.Sprintf("sandbox: target group %s has no target %s", v.ARN, id))
		}
		chosen = append(chosen, t)
	}
	return chosen
}

// EnableZone makes a load balancer serve a zone; targets that waited for it begin their registration. The caller holds the lock.
func (s *State) EnableZone(balancer, zone string) {
	l := s.mustBalancer(balancer)
	if slices.Contains(l.Zones, zone) {
		return
	}
	l.Zones = append(l.Zones, zone)
	forwarding := s.ELB.forwarding()
	for arn, g := range s.ELB.groups {
		for _, t := range g.Targets {
			if t.Zone == zone && forwarding[arn] == l {
				t.renewed = s.now()
			}
		}
	}
}

// AttachGroup makes a load balancer forward requests for a host to a group, at every listener; the targets of a group that no one forwarded to begin their registration. The caller holds the lock.
func (s *State) AttachGroup(balancer, group, host string) {
	view := s.TargetGroup(group)
	for _, t := range view.Targets {
		if view.balancer == nil {
			t.renewed = view.now
		}
	}
	for _, listener := range s.mustBalancer(balancer).Listeners {
		listener.Rules = append(listener.Rules, ListenerRule{host, group})
	}
}

// DetachGroup takes out every rule that forwards to a group. The caller holds the lock.
func (s *State) DetachGroup(group string) {
	for _, l := range s.ELB.balancers {
		for _, listener := range l.Listeners {
			listener.Rules = slices.DeleteFunc(listener.Rules, func(r ListenerRule) bool { return r.Group == group })
		}
	}
}

// DeleteGroup deletes a group, and first every rule that forwards to it: ELB refuses to delete one that is in use. The caller holds the lock.
func (s *State) DeleteGroup(group string) {
	s.DetachGroup(group)
	delete(s.ELB.groups, group)
}

func (s *State) mustBalancer(arn string) *LoadBalancer {
	l := s.ELB.balancers[arn]
	if l == nil {
		panic("sandbox: there is no load balancer " + arn)
	}
	return l
}
