// Discovery finds alb targets at run time: behind a load balancer, by tags, or through a cluster's bindings.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Discover lists the targets that a discovery finds now, by name: one for each target group, as the discovery's template says. NameTargets names them again where other targets have names too.
// Errors are *chain.Error and unknown, or the context's own; then nothing is known of what is there, and what was found before still stands.
func (p *Prober) Discover(ctx context.Context, discovery chain.Discovery) ([]chain.Target, error) {
	find := p.discoverGroups
	if discovery.BindingsOf {
		find = p.discoverBindings
	}
	found, err := find(ctx, discovery)
	if err != nil {
		return nil, unread("what the entry "+discovery.Name+" finds", err)
	}
	NameTargets(found, discovery.Name, func(string) bool { return false })
	return found, nil
}

// discoverGroups asks ELB.
func (p *Prober) discoverGroups(ctx context.Context, discovery chain.Discovery) ([]chain.Target, error) {
	groups, err := p.ELB.Groups(ctx, discovery)
	if err != nil {
		return nil, err
	}
	var found []chain.Target
	for _, g := range groups {
		target := discovery.Template
		target.Group.ARN, target.Group.Name = g.ARN, g.Name
		target.Group.Region = cmp.Or(chain.RegionOf(g.ARN), g.Region, target.Group.Region)
		found = append(found, target)
	}
	return found, nil
}

// discoverBindings asks the cluster. Of several bindings of one group the first by name makes the target; that there are more is its step registration's to judge.
func (p *Prober) discoverBindings(ctx context.Context, discovery chain.Discovery) ([]chain.Target, error) {
	cluster, err := p.clusterReads(ctx, discovery.Template)
	if err != nil {
		return nil, err
	}
	bindings, err := p.listBindings(ctx, discovery.Template, cluster)
	if err != nil {
		return nil, err
	}
	bindings = slices.Clone(bindings)
	slices.SortFunc(bindings, func(a, b chain.Binding) int { return compareRefs(a.BindingRef, b.BindingRef) })
	var found []chain.Target
	for i, b := range bindings {
		if b.GroupARN == "" && b.GroupName == "" || slices.ContainsFunc(bindings[:i], func(earlier chain.Binding) bool { return sameGroup(earlier, b) }) {
			continue
		}
		found = append(found, boundTarget(discovery.Template, b))
	}
	return found, nil
}

// sameGroup reports whether two bindings of a cluster name one group. A group that is given by its name is in the account of the role, or of the controller.
func sameGroup(a, b chain.Binding) bool {
	if a.GroupARN != "" && b.GroupARN != "" {
		return a.GroupARN == b.GroupARN
	}
	return a.RoleARN == b.RoleARN && cmp.Or(a.GroupName, chain.GroupNameOf(a.GroupARN)) == cmp.Or(b.GroupName, chain.GroupNameOf(b.GroupARN))
}

// boundTarget is the target of a binding's group.
func boundTarget(template chain.Target, b chain.Binding) chain.Target {
	group := &template.Group
	group.ARN, group.Name, group.Binding = b.GroupARN, cmp.Or(b.GroupName, chain.GroupNameOf(b.GroupARN)), b.BindingRef
	group.Region = cmp.Or(chain.RegionOf(b.GroupARN), group.Region, template.Cluster.Region)
	group.Observer = throughRole(group.Observer, b)
	return template
}

// NameTargets gives found targets names that no other of them has, and that are not taken: the target group's; else with .ENTRY after it, then .ENTRY.ACCOUNT, then .ENTRY.ID, the last part of
// the ARN, then .ENTRY.ID.N. A group whose ARN or name is none of ELB's has the name of its binding. It sorts them by ARN, then by binding, so that the same targets have the same names whatever
// the order in which they were read.
func NameTargets(found []chain.Target, entry string, taken func(string) bool) {
	slices.SortFunc(found, func(a, b chain.Target) int {
		return cmp.Or(strings.Compare(a.Group.ARN, b.Group.ARN), strings.Compare(a.Group.Name, b.Group.Name), compareRefs(a.Group.Binding, b.Group.Binding))
	})
	used := map[string]bool{}
	for i := range found {
		isFree := func(name string) bool { return !used[name] && !taken(name) }
		names := namesOf(found[i].Group, entry)
		last := names[len(names)-1]
		for n := 2; !slices.ContainsFunc(names, isFree); n++ {
			names = append(names, last+"."+strconv.Itoa(n))
		}
		found[i].Name = names[slices.IndexFunc(names, isFree)]
		used[found[i].Name] = true
	}
}

// namesOf are the names that a group's target may have, the best first. What a binding says of its group is foreign text: it becomes a part of URLs and labels only where it has ELB's shapes.
func namesOf(group chain.TargetGroup, entry string) []string {
	parts := arnShape.FindStringSubmatch(group.ARN)
	if parts == nil {
		base := group.Name
		if group.ARN != "" || !nameShape.MatchString(base) {
			base = noName.ReplaceAllString(group.Binding.Namespace+"."+group.Binding.Name, "-")
		}
		return []string{base, base + "." + entry}
	}
	account, base, id := parts[1], parts[2], parts[3]
	return []string{base, base + "." + entry, base + "." + entry + "." + account, base + "." + entry + "." + id}
}

// The shapes of a target group's ARN and name (ELBv2 API, CreateTargetGroup).
var (
	arnShape  = regexp.MustCompile(`^arn:[a-z0-9-]{3,16}:elasticloadbalancing:[a-z0-9-]{1,32}:([0-9]{1,12}):targetgroup/([A-Za-z0-9-]{1,32})/([A-Za-z0-9]{1,32})$`)
	nameShape = regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`)
	noName    = regexp.MustCompile(`[^A-Za-z0-9.-]+`) // what the API server lets into no name
)

func compareRefs(a, b chain.BindingRef) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
