// Section access: which identity is probed on which cluster, and what the cluster must make of it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (d *decoder) access(root fields, probe Probe, identities *declared[chain.Identity], clusters *declared[chain.Cluster]) []chain.Target {
	var targets []chain.Target
	first := map[string]place{}
	for i, item := range root.list("access") {
		f := d.mapping(item, fmt.Sprintf("access[%d]", i), "cluster", "identity", "expect", "rbac", "interval", "timeout")
		f.require("cluster", "the name of a cluster in section clusters")
		f.require("identity", "the name of an identity in section identities")
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
			d.report(d.at(item), duplicateAccess, identity.Name, cluster.Name, earlier.line, earlier.column)
			continue
		}
		first[target.Name] = d.at(item)
		target.Identity, target.Cluster, target.Observer = identity, cluster, identities.values[cluster.Observer]
		d.checkPair(f, target)
		targets = append(targets, target)
	}
	return targets
}

// checkPair checks what an identity and a cluster must not be to each other.
func (d *decoder) checkPair(f fields, target chain.Target) {
	identity, cluster := target.Identity, target.Cluster
	if identity.Name == cluster.Observer {
		d.report(f.at("identity"), ownObserver, identity.Name, cluster.Name)
	}
	if foreign := foreignPartition(identity, cluster.Region); foreign != "" {
		d.crossPartition(f.at("identity"), identity.Name, foreign, placed{"an identity", "cluster", cluster.Name, cluster.Region})
	}
	d.checkLabels(f.at("identity"), identity, cluster)
}

var (
	placeholder  = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	placeholders = []string{"{{SessionName}}", "{{AccountID}}"}
)

func (d *decoder) expect(f fields) chain.Expect {
	n := f.values["expect"]
	if n == nil {
		return chain.Expect{}
	}
	expect := d.mapping(n, "expect", "username", "groups")
	username := expect.text("username")
	for _, found := range placeholder.FindAllStringIndex(username, -1) {
		if word := username[found[0]:found[1]]; !slices.Contains(placeholders, word) {
			d.report(d.within(expect.values["username"], found[0]), badTemplate, word)
		}
	}
	return chain.Expect{Username: username, Groups: expect.texts("groups")}
}
