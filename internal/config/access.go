// Section access: which identity is probed on which cluster, and what the cluster must make of it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

func (d *decoder) access(root diag.Fields, probe Probe, identities *declared[chain.Identity], clusters *declared[chain.Cluster]) []chain.Target {
	var targets []chain.Target
	first := map[string]diag.Place{}
	for i, item := range root.List("access") {
		f := d.Mapping(item, fmt.Sprintf("access[%d]", i), "cluster", "identity", "expect", "rbac", "interval", "timeout")
		f.Require("cluster", "the name of a cluster in section clusters")
		f.Require("identity", "the name of an identity in section identities")
		target := chain.Target{Kind: chain.KindAccess, Expect: d.expect(f)}
		schedule := d.schedule(f, probe)
		target.Interval, target.Timeout = schedule.Interval, schedule.Timeout
		target.Allow, target.Deny, target.DryRun = d.rbac(f)
		identity, known := identities.find(f, "identity")
		cluster, found := clusters.find(f, "cluster")
		if !known || !found {
			continue
		}
		target.Name = chain.AccessName(identity.Name, cluster.Name)
		if earlier, twice := first[target.Name]; twice {
			d.Report(d.At(item), duplicateAccess, identity.Name, cluster.Name, earlier.Line, earlier.Column)
			continue
		}
		first[target.Name] = d.At(item)
		target.Identity, target.Cluster, target.Observer = identity, cluster, identities.values[cluster.Observer]
		d.checkPair(f, target)
		targets = append(targets, target)
	}
	return targets
}

// checkPair checks what an identity and a cluster must not be to each other.
func (d *decoder) checkPair(f diag.Fields, target chain.Target) {
	identity, cluster := target.Identity, target.Cluster
	if identity.Name == cluster.Observer {
		d.Report(f.At("identity"), ownObserver, identity.Name, cluster.Name)
	}
	if foreign := foreignPartition(identity, cluster.Region); foreign != "" {
		d.crossPartition(f.At("identity"), identity.Name, foreign, placed{"an identity", "cluster", cluster.Name, cluster.Region})
	}
	d.checkLabels(f.At("identity"), identity, cluster)
}

var (
	placeholder  = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	placeholders = []string{"{{SessionName}}", "{{AccountID}}"}
)

func (d *decoder) expect(f diag.Fields) chain.Expect {
	n := f.Node("expect")
	if n == nil {
		return chain.Expect{}
	}
	expect := d.Mapping(n, "expect", "username", "groups")
	username := expect.Text("username")
	for _, found := range placeholder.FindAllStringIndex(username, -1) {
		if word := username[found[0]:found[1]]; !slices.Contains(placeholders, word) {
			d.Report(d.word(expect.Node("username"), found[0]), badTemplate, word)
		}
	}
	return chain.Expect{Username: username, Groups: expect.Texts("groups")}
}
