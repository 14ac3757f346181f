// Principals: who an identity is, one after another, from its source's credentials to the role of its last hop.
//
// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// grant is one statement of a policy. Grants are written in this order.
type grant int

const (
	assumeRoles grant = iota
	readClusters
	readEntries
	readGroups
	readPrincipals
)

// sids are the statements' names, by grant.
var sids = [...]string{
	assumeRoles: "AssumeRoles", readClusters: "ReadClusters", readEntries: "ReadAccessEntries", readGroups: "ReadTargetGroups", readPrincipals: "ReadPrincipals",
}

// principal is what one principal must be allowed.
type principal struct {
	identities set
	notes      set
	regions    set // of the ELB API
	grants     map[grant]*allowed
}

type allowed struct{ actions, resources set }

func (p *principal) add(to grant, resources []string, actions ...string) {
	if p.grants[to] == nil {
		p.grants[to] = &allowed{set{}, set{}}
	}
	p.grants[to].actions.add(actions...)
	p.grants[to].resources.add(resources...)
}

func (p *principal) policy(name string) Policy {
	document := Document{Version: "2012-10-17"}
	for to, sid := range sids {
		a := p.grants[grant(to)]
		if a == nil {
			continue
		}
		statement := Statement{Sid: sid, Effect: "Allow", Action: a.actions.sorted(), Resource: a.resources.sorted()}
		if grant(to) == readGroups {
			statement.Condition = map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": p.regions.sorted()}}
		}
		document.Statement = append(document.Statement, statement)
	}
	return Policy{Principal: name, Identities: p.identities.sorted(), Notes: p.notes.sorted(), Document: document}
}

// principals are all that take part, by name.
type principals struct {
	known map[string]*principal
	bases map[origin]string // ARNs that the configuration tells of the principals that sources sign in
}

// origin is where first credentials come from; two identities with the same origin begin as the same principal.
type origin struct {
	source             chain.Source
	tokenFile, profile string
}

func originOf(identity chain.Identity) origin {
	return origin{identity.Source, identity.TokenFile, identity.Profile}
}

// newPrincipals looks at who the identities without hops are expected to be: that is who others with the same origin begin as.
func newPrincipals(probes Probes) *principals {
	all := &principals{map[string]*principal{}, map[origin]string{}}
	for _, target := range slices.Concat(probes.Targets, probes.groups()) {
		for _, identity := range []chain.Identity{target.Identity, target.Observer, target.Group.Observer} {
			if arn := identity.Expected(); len(identity.Hops) == 0 && identity.RoleARN == "" && arn != "" {
				all.bases[originOf(identity)] = arn
			}
		}
	}
	return all
}

// base names who an identity is before its first hop.
func (all *principals) base(identity chain.Identity) string {
	from := originOf(identity)
	switch arn := all.bases[from]; {
	case identity.RoleARN != "":
		return identity.RoleARN
	case arn != "":
		return arn
	}
	switch from.source {
	case chain.SourceIRSA:
		if from.tokenFile != "" {
			return "the role of AWS_ROLE_ARN, by the token in " + from.tokenFile
		}
		return "the role of AWS_ROLE_ARN"
	case chain.SourcePodIdentity:
		return "the role of the pod's EKS Pod Identity association"
	case chain.SourceInstanceProfile:
		return "the role of the instance profile"
	case chain.SourceProfile:
		return "who profile " + from.profile + " signs in"
	case chain.SourceEnvironment:
		return "who the keys in the environment belong to"
	case chain.SourceDefault:
		return "who the AWS SDK's default chain signs in"
	}
	return "unknown"
}

func (all *principals) get(name, identity string) *principal {
	p := all.known[name]
	if p == nil {
		p = &principal{identities: set{}, notes: set{}, regions: set{}, grants: map[grant]*allowed{}}
		all.known[name] = p
	}
	p.identities.add(identity)
	return p
}

// assumes allows each principal of an identity to become the next one, and returns the last one's name.
func (all *principals) assumes(identity chain.Identity) string {
	name := all.base(identity)
	for _, hop := range identity.Hops {
		p := all.get(name, identity.Name)
		p.add(assumeRoles, []string{hop.RoleARN}, "sts:AssumeRole")
		if identity.Source == chain.SourcePodIdentity { // its session tags are transitive (Amazon EKS User Guide, EKS Pod Identity session tags)
			p.add(assumeRoles, nil, "sts:TagSession")
		}
		name = hop.RoleARN
	}
	return name
}

// last is the principal that an observer reads as.
func (all *principals) last(observer chain.Identity) *principal {
	return all.get(all.assumes(observer), observer.Name)
}
