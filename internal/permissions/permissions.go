// What the exporter may do at AWS and at the clusters' apiservers, worked out from what it is to probe.
//
// SPDX-License-Identifier: Apache-2.0

// Package permissions generates the least that the exporter's identities must be allowed: IAM policies, one for each principal, and Kubernetes RBAC, one set for each cluster.
// An identity under test needs nothing but its AssumeRole calls: GetCallerIdentity needs no permission (AWS STS API reference), nor do reviews of oneself (Kubernetes, system:basic-user).
package permissions

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Probes are what is probed: targets of any kind, and discoveries that find more of them.
type Probes struct {
	Targets     []chain.Target
	Discoveries []chain.Discovery
}

// groups lists what the target groups have in common with those that a discovery will find.
func (p Probes) groups() []chain.Target {
	var all []chain.Target
	for _, target := range p.Targets {
		if target.Kind == chain.KindALB {
			all = append(all, target)
		}
	}
	for _, found := range p.Discoveries {
		all = append(all, found.Template)
	}
	return all
}

// access lists the access targets.
func (p Probes) access() []chain.Target {
	return slices.DeleteFunc(slices.Clone(p.Targets), func(target chain.Target) bool { return target.Kind != chain.KindAccess })
}

// byTags reports whether any discovery looks at tags with this observer.
func (p Probes) byTags(observer string) bool {
	return slices.ContainsFunc(p.Discoveries, func(found chain.Discovery) bool {
		return len(found.Tags) > 0 && found.Template.Group.Observer.Name == observer
	})
}

// accountOf is the account of a cluster: the one configured, else the observer's own, since EKS tells of no other account's clusters; "*" when neither is known.
func accountOf(cluster chain.Cluster, observer chain.Identity) string {
	return cmp.Or(cluster.AccountID, chain.AccountOf(observer.Expected()), "*")
}

// set is a set of texts.
type set map[string]bool

func (s set) add(texts ...string) {
	for _, text := range texts {
		s[text] = true
	}
}

func (s set) sorted() []string { return slices.Sorted(maps.Keys(s)) }
