// Section clusters: where a cluster is, who observes it, and what overrides its description.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (d *decoder) clusters(root fields, identities *declared[chain.Identity]) *declared[chain.Cluster] {
	return declare(root, "clusters", "cluster", func(item *yaml.Node, i int) (fields, string, chain.Cluster) {
		f := d.mapping(item, fmt.Sprintf("clusters[%d]", i), "name", "region", "eks_name", "account_id", "observer", "endpoint", "ca_file", "labels")
		cluster := d.cluster(f)
		cluster.Observer = d.observer(f, cluster, identities)
		return f, cluster.Name, cluster
	})
}

func (d *decoder) cluster(f fields) chain.Cluster {
	f.require("name", "targets refer to the cluster by its name")
	f.require("region", "the cluster's AWS region, such as eu-west-1; it is never taken from AWS_REGION")
	cluster := chain.Cluster{
		Name: f.text("name"), Region: d.region(f), AccountID: d.accountID(f), Endpoint: d.endpoint(f), CAFile: d.caFile(f, clusterCA), Labels: d.labels(f, accessLabels),
	}
	cluster.EKSName = d.eksName(f, cluster.Name)
	return cluster
}

func (d *decoder) region(f fields) string {
	region := f.text("region")
	if region != "" && !regionShape.MatchString(region) {
		d.report(f.at("region"), badRegion, region)
		return ""
	}
	return region
}

var digits = regexp.MustCompile(`^[0-9]+$`)

func (d *decoder) accountID(f fields) string {
	n := f.values["account_id"]
	if n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!str" && digits.MatchString(n.Value) {
		d.report(d.at(n), quoteAccountID, n.Value)
		return ""
	}
	account := f.text("account_id")
	if account != "" && !accountShape.MatchString(account) {
		d.report(f.at("account_id"), badAccountID, account)
	}
	return account
}

// eksNameShape is the EKS API's (CreateCluster, name).
var eksNameShape = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// eksName reads the name at EKS, which defaults to the cluster's own.
func (d *decoder) eksName(f fields, name string) string {
	key, eksName := "eks_name", f.text("eks_name")
	if !f.has(key) {
		key, eksName = "name", name
		if !nameShape.MatchString(name) {
			return name // reported as a name
		}
	}
	if eksName != "" && !eksNameShape.MatchString(eksName) {
		d.report(f.at(key), badEKSName, eksName)
	}
	return eksName
}

func (d *decoder) endpoint(f fields) string {
	text := f.text("endpoint")
	if text == "" {
		return ""
	}
	if wrong := endpointError(text); wrong != "" {
		d.report(f.at("endpoint"), badEndpoint, wrong)
	}
	return text
}

// endpointError says what is wrong with an endpoint; it never repeats one that may hold a password.
func endpointError(text string) string {
	u, wrong := parseURL(text, "https")
	if wrong == "" && u.RawQuery != "" {
		return "it has a query"
	}
	return wrong
}

// observer reads who observes the cluster, and checks that it can be found at all.
func (d *decoder) observer(f fields, cluster chain.Cluster, identities *declared[chain.Identity]) string {
	if f.isMapping() && !f.has("observer") && (!f.has("endpoint") || !f.has("ca_file")) {
		d.report(f.at("name"), noWayToCluster, cluster.Name)
	}
	observer, ok := identities.find(f, "observer")
	if !ok {
		return f.text("observer") // the cluster has one, whoever that is
	}
	if foreign := foreignPartition(observer, cluster.Region); foreign != "" {
		d.crossPartition(f.at("observer"), observer.Name, foreign, placed{"an observer", "cluster", cluster.Name, cluster.Region})
	}
	return observer.Name
}
