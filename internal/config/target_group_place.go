// Where a target group is, who reads it, and which binding of which cluster fills it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// cluster reads the cluster whose bindings fill target groups: of the key bindings_of all of them, of the key binding one.
func (r *groupReader) cluster(f diag.Fields) (chain.Cluster, chain.BindingRef) {
	cluster := r.observed(f, "bindings_of")
	n := f.Node("binding")
	if n == nil {
		return cluster, chain.BindingRef{}
	}
	b := r.Mapping(n, "binding", "cluster", "namespace", "name")
	b.Require("cluster", "the name of the cluster in section clusters that has the TargetGroupBinding")
	b.Require("namespace", "the TargetGroupBinding's namespace")
	b.Require("name", "the TargetGroupBinding's name (kubectl get targetgroupbindings -A)")
	ref := chain.BindingRef{Namespace: r.kubernetesName(b, "namespace", aNamespace), Name: r.kubernetesName(b, "name", anObject)}
	if of := r.observed(b, "cluster"); of.Name != "" {
		cluster = of
	}
	return cluster, ref
}

// observed finds a cluster that must have an observer, since Kubernetes is read with it.
func (r *groupReader) observed(f diag.Fields, key string) chain.Cluster {
	cluster, ok := r.clusters.find(f, key)
	if ok && cluster.Observer == "" {
		r.Report(f.At(key), noBindingObserver, cluster.Name)
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

func (r *groupReader) kubernetesName(f diag.Fields, key string, want kubernetesShape) string {
	name := f.Text(key)
	if name != "" && (len(name) > want.longest || !want.shape.MatchString(name)) {
		r.Report(f.At(key), badKubernetesName, name, want.what, want.longest, want.dots)
	}
	return name
}

// groupRegion reads the region, which an ARN or a cluster tells as well; all must tell the same.
func (r *groupReader) groupRegion(f diag.Fields, entry chain.Discovery) string {
	region, from, follows := r.region(f), "region", false
	cluster := entry.Template.Cluster
	for _, told := range []struct{ key, region, from string }{
		{"arn", chain.RegionOf(entry.Template.Group.ARN), "arn"},
		{"load_balancer", chain.RegionOf(entry.LoadBalancer), "load_balancer"},
		{"bindings_of", cluster.Region, fmt.Sprintf("cluster %s", cluster.Name)},
		{"binding", cluster.Region, fmt.Sprintf("cluster %s", cluster.Name)},
	} {
		follows = follows || f.Has(told.key)
		switch {
		case !f.Has(told.key) || told.region == "" || told.region == region:
		case region == "":
			region, from = told.region, told.from
		default:
			r.Report(f.At(told.key), twoRegions, region, from, told.region, told.from)
		}
	}
	if !follows && (f.Has("target_group_name") || f.Has("tags")) {
		f.Require("region", "the target group's AWS region, such as eu-west-1; it is never taken from AWS_REGION")
	}
	return region
}

// groupObserver reads who reads the ELB API: by default the observer of the cluster that fills the target group.
func (r *groupReader) groupObserver(f diag.Fields, entry chain.Discovery) chain.Identity {
	target := entry.Template
	observer, given := r.identities.find(f, "observer")
	if !given {
		if !f.Has("binding") && !f.Has("bindings_of") {
			f.Require("observer", "the identity that reads the ELB API; that of a cluster serves where binding or bindings_of names one")
		}
		return target.Observer
	}
	if foreign := foreignPartition(observer, target.Group.Region); foreign != "" {
		r.crossPartition(f.At("observer"), observer.Name, foreign, placed{"an observer", "target group", entry.Name, target.Group.Region})
	}
	return observer
}
