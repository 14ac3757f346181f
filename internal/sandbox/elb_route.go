// Which target a load balancer sends a request to: by host to a group, in it to a healthy target in turn, and to any when too few are healthy.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// match finds the rule for a host; ok is false when none takes it. The default action comes last.
func (l *Listener) match(host string) (rule ListenerRule, ok bool) {
	for _, rule := range l.Rules {
		if strings.EqualFold(rule.Host, host) {
			return rule, true
		}
	}
	rule = l.fallback()
	return rule, rule.Group != ""
}

// routable are the targets that may get a new request: the healthy ones, or all that are in use when fewer are healthy than the group's attributes ask for, by default one.
// failOpen tells of the latter. The nodes of a load balancer decide it each for its own zone; with cross-zone load balancing, as here, it makes no difference.
func (v GroupView) routable() (targets []*RegisteredTarget, failOpen bool) {
	var healthy, all []*RegisteredTarget
	for _, t := range v.Targets {
		switch v.health(t).State {
		case chain.TargetHealthy, chain.TargetUnavailable:
			if all = append(all, t); !v.shifted(t) {
				healthy = append(healthy, t)
			}
		case chain.TargetInitial, chain.TargetUnhealthy, chain.TargetUnhealthyDraining:
			all = append(all, t)
		case chain.TargetDraining:
			if v.now.Before(t.Deregistered.Add(v.balancer.Lag)) {
				all, healthy = append(all, t), append(healthy, t)
			}
		case chain.TargetUnused:
		}
	}
	if len(healthy) < v.enough(len(all)) {
		return all, true
	}
	return healthy, false
}

// enough is how many healthy targets, of so many, keep a load balancer from routing to all.
func (v GroupView) enough(of int) int {
	percent := number(v.attribute(minHealthyPercent))
	return max(number(v.attribute(minHealthyCount)), (percent*of+99)/100)
}

// route finds the target for a request to a listener, or the status of the load balancer's own answer. The caller holds the lock.
func (s *State) route(balancer, protocol, host string, turn map[string]int) (target *RegisteredTarget, status int) {
	l := s.ELB.balancers[balancer]
	if l == nil {
		return nil, http.StatusNotFound
	}
	for _, listener := range l.Listeners {
		if listener.Protocol != protocol {
			continue
		}
		rule, ok := listener.match(host)
		if !ok || s.ELB.groups[rule.Group] == nil {
			return nil, http.StatusNotFound
		}
		targets, _ := s.TargetGroup(rule.Group).routable()
		if len(targets) == 0 {
			return nil, http.StatusServiceUnavailable
		}
		turn[rule.Group]++
		return targets[turn[rule.Group]%len(targets)], 0
	}
	return nil, http.StatusNotFound
}
