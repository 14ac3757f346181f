// Section target_groups: which target groups are probed, named or found at run time, and what reads them.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

const (
	defaultGroupInterval = 30 * time.Second
	defaultGroupTimeout  = 10 * time.Second
	mostTargets          = 1000 // of a target group (AWS, Quotas for your Application Load Balancers)
)

// The keys of an entry: those that say which target groups are meant, of which one is given, and the others.
var (
	oneGroup   = []string{"arn", "target_group_name"}
	manyGroups = []string{"load_balancer", "tags", "bindings_of"}
	selectors  = slices.Concat(oneGroup, manyGroups)
	groupKeys  = []string{"name", "region", "observer", "binding", "min_healthy", "interval", "timeout", "labels", "request"}
)

// groupReader reads entries; what they refer to is declared already.
type groupReader struct {
	*decoder
	identities *declared[chain.Identity]
	clusters   *declared[chain.Cluster]
	first      map[groupKey]diag.Place
}

// groupKey is what an entry probes: two entries with the same key are one too many.
type groupKey struct {
	arn, name, loadBalancer, tags string
	region, observer              string // "" when the ARN says it all
	cluster                       string
	binding                       chain.BindingRef
}

// targetGroups reads the section: target groups that are named, and discoveries. Both are sorted by name.
func (d *decoder) targetGroups(root diag.Fields, identities *declared[chain.Identity], clusters *declared[chain.Cluster]) (groups []chain.Target, found []chain.Discovery) {
	r := &groupReader{d, identities, clusters, map[groupKey]diag.Place{}}
	for _, entry := range declare(r.decoder, root, "target_groups", "target group", r.entry).values {
		if entry.LoadBalancer == "" && entry.Tags == nil && !entry.BindingsOf {
			entry.Template.Name = entry.Name
			groups = append(groups, entry.Template)
			continue
		}
		found = append(found, entry)
	}
	slices.SortFunc(groups, func(a, b chain.Target) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(found, func(a, b chain.Discovery) int { return strings.Compare(a.Name, b.Name) })
	return groups, found
}

// entry reads one entry as a discovery; that of a single target group has a template that names it.
func (r *groupReader) entry(item *yaml.Node, i int) (diag.Fields, string, chain.Discovery) {
	f := r.Mapping(item, fmt.Sprintf("target_groups[%d]", i), slices.Concat(selectors, groupKeys)...)
	f.Require("name", "labels and pages call the target group by its name")
	entry := chain.Discovery{Name: r.name(f), LoadBalancer: r.arn(f, "load_balancer", aLoadBalancer), Tags: r.tags(f), BindingsOf: f.Has("bindings_of")}
	schedule := r.schedule(f, Probe{defaultGroupInterval, defaultGroupTimeout})
	target := &entry.Template
	target.Kind, target.Interval, target.Timeout = chain.KindALB, schedule.Interval, schedule.Timeout
	target.Group = chain.TargetGroup{
		ARN: r.arn(f, "arn", aTargetGroup), Name: r.groupName(f), MinHealthy: f.WholeNumber("min_healthy", 1, 1, mostTargets),
		Labels: r.labels(f, groupLabels), Request: r.request(f, schedule.Timeout),
	}
	target.Cluster, target.Group.Binding = r.cluster(f)
	target.Observer = r.identities.values[target.Cluster.Observer]
	target.Group.Region = r.groupRegion(f, entry)
	target.Group.Observer = r.groupObserver(f, entry)
	if r.selector(f) {
		r.checkTwice(f, entry)
	}
	return f, entry.Name, entry
}

// name reads the name, which becomes a part of URLs.
func (r *groupReader) name(f diag.Fields) string {
	name := f.Text("name")
	if name == "." || name == ".." {
		r.Report(f.At("name"), dotName, name)
	}
	return name
}

// selector reports whether one key says which target groups are meant, and the other keys fit it.
func (r *groupReader) selector(f diag.Fields) bool {
	given := slices.DeleteFunc(slices.Clone(selectors), func(key string) bool { return !f.Has(key) })
	switch {
	case !f.IsMapping():
		return false
	case len(given) == 0:
		r.Report(f.Place(), noGroupSelector, strings.Join(selectors, ", "))
		return false
	case len(given) > 1:
		r.Report(f.AtKey(given[1]), twoGroupSelectors, given[0], given[1])
		return false
	}
	if slices.Contains(oneGroup, given[0]) {
		return true
	}
	for _, key := range []string{"binding", "request"} {
		if f.Has(key) {
			r.Report(f.AtKey(key), notOfOneGroup, key, given[0], key)
		}
	}
	return true
}

// checkTwice reports an entry that probes what an earlier one does.
func (r *groupReader) checkTwice(f diag.Fields, entry chain.Discovery) {
	group := entry.Template.Group
	key := groupKey{arn: group.ARN, cluster: entry.Template.Cluster.Name, binding: group.Binding}
	what := group.ARN
	switch {
	case group.ARN != "":
	case group.Name != "":
		key.name, what = group.Name, "target group "+group.Name
	case entry.LoadBalancer != "":
		key.loadBalancer, what = entry.LoadBalancer, entry.LoadBalancer
	case entry.Tags != nil:
		key.tags = fmt.Sprintf("%q", entry.Tags) // sorted
		what = "these tags"
	case key.cluster != "":
		what = "cluster " + key.cluster
	default:
		return // wrong, and reported
	}
	if group.ARN == "" {
		key.region, key.observer = group.Region, group.Observer.Name
	}
	if earlier, twice := r.first[key]; twice {
		r.Report(f.Place(), duplicateGroup, what, earlier.Line, earlier.Column)
		return
	}
	r.first[key] = f.Place()
}

// groupNameShape is the ELB API's (CreateTargetGroup, Name).
var groupNameShape = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$`)

func (r *groupReader) groupName(f diag.Fields) string {
	name := f.Text("target_group_name")
	if name != "" && !groupNameShape.MatchString(name) {
		r.Report(f.At("target_group_name"), badGroupName, name)
	}
	return name
}

// Bounds of a tag (ELB API, Tag), in characters.
const (
	longestTagKey   = 128
	longestTagValue = 256
)

// tags reads the tags of a discovery; never empty when they are given, since no tag would mean every target group.
func (r *groupReader) tags(f diag.Fields) map[string]string {
	entries, given := f.Entries("tags")
	if !given {
		return nil
	}
	if len(entries) == 0 {
		r.Report(f.At("tags"), diag.NoValue, "tags")
	}
	tags := map[string]string{}
	for _, e := range entries {
		value := r.OptionalText(e.Value, "tag "+e.Name)
		if n := utf8.RuneCountInString(e.Name); n < 1 || n > longestTagKey {
			r.Report(r.At(e.Key), tagTooLong, "key", e.Name, n)
		}
		if n := utf8.RuneCountInString(value); n > longestTagValue {
			r.Report(r.At(e.Value), tagTooLong, "value", e.Name, n)
		}
		tags[e.Name] = value
	}
	return tags
}
