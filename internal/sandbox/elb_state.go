// The load balancers of every account: target groups, load balancers, and the listener rules that forward from these to those.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// LoadBalancing is the ELBv2 of every account and region. Its zero value has no load balancer.
type LoadBalancing struct {
	groups    map[string]*TargetGroup  // by ARN
	balancers map[string]*LoadBalancer // by ARN
	buckets   map[elbPool]*elbBucket
}

// TargetGroup is a target group with its targets.
type TargetGroup struct {
	ARN        string
	Protocol   string // HTTP, HTTPS, TCP, …
	Port       int32
	TargetType string            // instance or ip
	Check      chain.HealthCheck // one that is changed counts as if it had always been so
	// Registration is how long a new target is in registration; zero: two seconds behind an application load balancer, three minutes behind a network one.
	Registration time.Duration
	Attributes   map[string]string // those that are not at their default, by key (ELBv2 API, TargetGroupAttribute)
	Tags         map[string]string
	Targets      []*RegisteredTarget // in the order of their registration
}

// Name is the group's, as its ARN has it.
func (g *TargetGroup) Name() string { return arnPart(g.ARN, 1) }

// target finds one by id, and by port when it is not 0; nil when there is none. It finds what is gone too.
func (g *TargetGroup) target(id string, port int32) *RegisteredTarget {
	for _, t := range g.Targets {
		if t.ID == id && (port == 0 || t.Port == port) {
			return t
		}
	}
	return nil
}

// LoadBalancer is an application or network load balancer.
type LoadBalancer struct {
	ARN         string
	Type        string // application or network
	Scheme      string // internet-facing or internal
	Status      string // provisioning, active, active_impaired or failed; "": active
	DNSName     string
	Zones       []string          // that are enabled
	Shifted     string            // the zone away from which a zonal shift moves traffic; "" none
	Attributes  map[string]string // those that are not at their default, by key (ELBv2 API, LoadBalancerAttribute)
	Tags        map[string]string
	Created     time.Time
	Listeners   []*Listener
	IdleTimeout time.Duration // for how long it waits for the answer of a target; zero: 60 s
	// Lag is for how long a target still gets new requests after it was deregistered, since the nodes of a load balancer learn of it late.
	Lag time.Duration
}

// Name is the load balancer's, as its ARN has it.
func (l *LoadBalancer) Name() string { return arnPart(l.ARN, 2) }

// Listener is a port of a load balancer. A request that no rule takes is answered with 404.
type Listener struct {
	Protocol string // HTTP, HTTPS, TCP, …
	Port     int32
	Rules    []ListenerRule // the first that matches takes the request
}

// ListenerRule forwards to a target group.
type ListenerRule struct {
	Host  string // of the request, without port; "" any: the default action
	Group string // ARN
}

// arnPart is the nth part, from 0, of an ARN's resource as / separates them; "" when there are fewer.
func arnPart(arn string, n int) string {
	parts := strings.Split(arn[strings.LastIndex(arn, ":")+1:], "/")
	if n >= len(parts) {
		return ""
	}
	return parts[n]
}

// AddGroups puts target groups into the accounts and regions of their ARNs.
func (l *LoadBalancing) AddGroups(groups ...*TargetGroup) {
	if l.groups == nil {
		l.groups = map[string]*TargetGroup{}
	}
	for _, g := range groups {
		l.groups[g.ARN] = g
	}
}

// AddLoadBalancers puts load balancers into the accounts and regions of their ARNs.
func (l *LoadBalancing) AddLoadBalancers(balancers ...*LoadBalancer) {
	if l.balancers == nil {
		l.balancers = map[string]*LoadBalancer{}
	}
	for _, b := range balancers {
		l.balancers[b.ARN] = b
	}
}

// LoadBalancer finds a load balancer; nil when there is none.
func (l *LoadBalancing) LoadBalancer(arn string) *LoadBalancer { return l.balancers[arn] }

// forwarding maps the ARN of each group to the load balancer that forwards to it: AWS lets a group have one alone.
func (l *LoadBalancing) forwarding() map[string]*LoadBalancer {
	index := map[string]*LoadBalancer{}
	for _, arn := range slices.Sorted(maps.Keys(l.balancers)) {
		for _, listener := range l.balancers[arn].Listeners {
			for _, rule := range listener.Rules {
				index[rule.Group] = l.balancers[arn]
			}
		}
	}
	return index
}
