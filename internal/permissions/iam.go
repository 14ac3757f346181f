// IAM policies: what each principal that the exporter signs in with, or passes through, must be allowed.
//
// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Policy is what one AWS principal must be allowed. A policy belongs to a principal and not to an identity: an identity with hops is one principal after another.
type Policy struct {
	Principal  string   `json:"principal"`  // IAM ARN of a role or user; where the configuration does not tell it, where its credentials come from
	Identities []string `json:"identities"` // those that need it, sorted
	Notes      []string `json:"notes,omitempty"`
	Document   Document `json:"policy"`
}

// Document is an IAM policy (IAM User Guide, IAM JSON policy elements reference).
type Document struct {
	Version   string
	Statement []Statement
}

// Statement allows actions on resources.
type Statement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// What a policy cannot say in JSON.
const (
	noteBindingRoles = "A TargetGroupBinding may name a role of another account (spec.iamRoleArnToAssume), which is known only once the binding is read: " +
		"allow sts:AssumeRole on each such role, and let that role do what ReadTargetGroups allows."
	notePrincipals = "ReadPrincipals is optional: without it an access entry of a principal that was deleted and made anew is not told apart from other refusals."
)

// IAM returns the policies, sorted by principal. A principal that needs no permission has none.
func IAM(probes Probes) []Policy {
	all := newPrincipals(probes)
	for _, target := range probes.access() {
		all.assumes(target.Identity)
		if target.Observer.Name != "" {
			all.readsAccess(target)
		}
	}
	for _, target := range probes.groups() {
		all.readsGroups(target, probes.byTags(target.Group.Observer.Name))
		if target.Cluster.Name != "" {
			all.last(target.Observer).add(readClusters, []string{clusterARN(target)}, "eks:DescribeCluster")
		}
	}
	policies := make([]Policy, 0, len(all.known))
	for _, name := range slices.Sorted(maps.Keys(all.known)) {
		if p := all.known[name]; len(p.grants) > 0 {
			policies = append(policies, p.policy(name))
		}
	}
	return policies
}

// WriteIAM writes policies as one JSON array.
func WriteIAM(w io.Writer, policies []Policy) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(policies); err != nil {
		return fmt.Errorf("writing the IAM policies: %w", err)
	}
	return nil
}

// readsAccess: the cluster and its entries, and since when the principal under test exists.
func (all *principals) readsAccess(target chain.Target) {
	p, cluster := all.last(target.Observer), clusterARN(target)
	p.add(readClusters, []string{cluster}, "eks:DescribeCluster", "eks:ListAccessEntries")
	entries := strings.Replace(cluster, ":cluster/", ":access-entry/", 1) + "/*" // …/KIND/ACCOUNT/NAME/UUID (Service Authorization Reference, Amazon EKS)
	p.add(readEntries, []string{entries}, "eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies")
	for action, arns := range iamReads(target) {
		p.add(readPrincipals, arns, action)
		p.notes.add(notePrincipals)
	}
}

// readsGroups: no read of the ELB API knows resources, so the region is all that can bound them (Service Authorization Reference, Elastic Load Balancing V2).
func (all *principals) readsGroups(target chain.Target, byTags bool) {
	group := target.Group
	p := all.last(group.Observer)
	p.add(readGroups, []string{"*"}, "elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeTargetGroupAttributes",
		"elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth")
	if byTags {
		p.add(readGroups, nil, "elasticloadbalancing:DescribeTags")
	}
	p.regions.add(group.Region)
	if target.Cluster.Name != "" {
		p.notes.add(noteBindingRoles)
	}
}

func clusterARN(target chain.Target) string {
	cluster := target.Cluster
	return fmt.Sprintf("arn:%s:eks:%s:%s:cluster/%s", chain.PartitionOfRegion(cluster.Region), cluster.Region, accountOf(cluster, target.Observer), cluster.EKSName)
}

// iamReads returns the principals under test that the observer may look up, by action. IAM knows those of the observer's own account alone.
func iamReads(target chain.Target) map[string][]string {
	own, arn := chain.AccountOf(target.Observer.Expected()), target.Identity.Expected()
	switch account := chain.AccountOf(arn); {
	case account != "" && own != "" && account != own:
		return nil
	case strings.Contains(arn, ":user/"):
		return map[string][]string{"iam:GetUser": {arn}}
	case arn != "":
		return map[string][]string{"iam:GetRole": {arn}}
	}
	if own == "" {
		own = "*"
	}
	prefix := fmt.Sprintf("arn:%s:iam::%s:", chain.PartitionOfRegion(target.Cluster.Region), own)
	reads := map[string][]string{"iam:GetRole": {prefix + "role/*"}}
	switch target.Identity.Source {
	case chain.SourceProfile, chain.SourceEnvironment, chain.SourceDefault: // the keys may be a user's
		reads["iam:GetUser"] = []string{prefix + "user/*"}
	case chain.SourceIRSA, chain.SourcePodIdentity, chain.SourceInstanceProfile:
	}
	return reads
}
