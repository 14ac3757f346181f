// Where a target group is, who reads it, and which binding of which cluster fills it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// cluster reads the cluster whose bindings fill target groups: of the key bindings_of all of them, of the key binding one.
func (r *groupReader) cluster(f fields) (chain.Cluster, chain.BindingRef) {
	cluster := r.observed(f, "bindings_of")
	n := f.values["binding"]
	if n == nil {
		return cluster, chain.BindingRef{}
	}
	b := r.mapping(n, "binding", "cluster", "namespace", "name")
	b.require("cluster", "the name of the cluster in section clusters that has the TargetGroupBinding")
	b.require("namespace", "the TargetGroupBinding's namespace")
	b.require("name", "the TargetGroupBinding's name (kubectl get targetgroupbindings -A)")
	ref := chain.BindingRef{Namespace: r.kubernetesName(b, "namespace", aNamespace), Name: r.kubernetesName(b, "name", anObject)}
	if of := r.observed(b, "cluster"); of.Name != "" {
		cluster = of
	}
	return cluster, ref
}

// observed finds a cluster that must have an observer, since Kubernetes is read with it.
func (r *groupReader) observed(f fields, key string) chain.Cluster {
	cluster, ok := r.clusters.find(f, key)
	if ok && cluster.Observer == "" {
		r.report(f.at(key), noBindingObserver, cluster.Name)
	}
	return cluster
}

// kubernetesShape is how Kubernetes wants a name (Kubernetes, Object Names and IDs; RFC 1123).
type kubernetesShape struct {
	what    string
	shape   *regexp.Regexp
	longest int
	dots    string // for the hint
}

var (
	aNamespace = kubernetesShape{"namespace", regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`), 63, ""}
	anObject   = kubernetesShape{"object", regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$`), 253, " (dots may part them)"}
)

func (r *groupReader) kubernetesName(f fields, key string, want kubernetesShape) string {
	name := f.text(key)
	if name != "" && (len(name) > want.longest || !want.shape.MatchString(name)) {
		r.report(f.at(key), badKubernetesName, name, want.what, want.longest, want.dots)
	}
	return name
}

// groupRegion reads the region, which an ARN or a cluster tells as well; all must tell the same.
func (r *groupReader) groupRegion(f fields, entry chain.Discovery) string {
	region, from, follows := r.region(f), "region", false
	cluster := entry.Template.Cluster
	for _, told := range []struct{ key, region, from string }{
		{"arn", chain.RegionOf(entry.Template.Group.ARN), "arn"},
		{"load_balancer", chain.RegionOf(entry.LoadBalancer), "load_balancer"},
		{"bindings_of", cluster.Region, fmt.Sprintf("cluster %s", cluster.Name)},
		{"binding", cluster.Region, fmt.Sprintf("cluster %s", cluster.Name)},
	} {
		follows = follows || f.has(told.key)
		switch {
		case !f.has(told.key) || told.region == "" || told.region == region:
		case region == "":
			region, from = told.region, told.from
		default:
			r.report(f.at(told.key), twoRegions, region, from, told.region, told.from)
		}
	}
	if !follows && (f.has("target_group_name") || f.has("tags")) {
		f.require("region", "the target group's AWS region, such as eu-west-1; it is never taken from AWS_REGION")
	}
	return region
}

// groupObserver reads who reads the ELB API: by default the observer of the cluster that fills the target group.
func (r *groupReader) groupObserver(f fields, entry chain.Discovery) chain.Identity {
	target := entry.Template
	observer, given := r.identities.find(f, "observer")
	if !given {
		if !f.has("binding") && !f.has("bindings_of") {
			f.require("observer", "the identity that reads the ELB API; that of a cluster serves where binding or bindings_of names one")
		}
		return target.Observer
	}
	if foreign := foreignPartition(observer, target.Group.Region); foreign != "" {
		r.crossPartition(f.at("observer"), observer.Name, foreign, placed{"an observer", "target group", entry.Name, target.Group.Region})
	}
	return observer
}
