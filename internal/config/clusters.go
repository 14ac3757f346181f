// Section clusters: where a cluster is, who observes it, and what overrides its description.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

func (d *decoder) clusters(root diag.Fields, identities *declared[chain.Identity]) *declared[chain.Cluster] {
	return declare(d, root, "clusters", "cluster", func(item *yaml.Node, i int) (diag.Fields, string, chain.Cluster) {
		f := d.Mapping(item, fmt.Sprintf("clusters[%d]", i), "name", "region", "eks_name", "account_id", "observer", "endpoint", "ca_file", "labels")
		cluster := d.cluster(f)
		cluster.Observer = d.observer(f, cluster, identities)
		return f, cluster.Name, cluster
	})
}

func (d *decoder) cluster(f diag.Fields) chain.Cluster {
	f.Require("name", "targets refer to the cluster by its name")
	f.Require("region", "the cluster's AWS region, such as eu-west-1; it is never taken from AWS_REGION")
	cluster := chain.Cluster{
		Name: f.Text("name"), Region: d.region(f), AccountID: d.accountID(f), Endpoint: d.endpoint(f), CAFile: d.caFile(f, clusterCA), Labels: d.labels(f, accessLabels),
	}
	cluster.EKSName = d.eksName(f, cluster.Name)
	return cluster
}

func (d *decoder) region(f diag.Fields) string {
	region := f.Text("region")
	if region != "" && !regionShape.MatchString(region) {
		d.Report(f.At("region"), badRegion, region)
		return ""
	}
	return region
}

var digits = regexp.MustCompile(`^[0-9]+$`)

func (d *decoder) accountID(f diag.Fields) string {
	n := f.Node("account_id")
	if n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!str" && digits.MatchString(n.Value) {
		d.Report(d.At(n), quoteAccountID, n.Value)
		return ""
	}
	account := f.Text("account_id")
	if account != "" && !accountShape.MatchString(account) {
		d.Report(f.At("account_id"), badAccountID, account)
	}
	return account
}

// eksNameShape is the EKS API's (CreateCluster, name).
var eksNameShape = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// eksName reads the name at EKS, which defaults to the cluster's own.
func (d *decoder) eksName(f diag.Fields, name string) string {
	key, eksName := "eks_name", f.Text("eks_name")
	if !f.Has(key) {
		key, eksName = "name", name
		if !nameShape.MatchString(name) {
			return name // reported as a name
		}
	}
	if eksName != "" && !eksNameShape.MatchString(eksName) {
		d.Report(f.At(key), badEKSName, eksName)
	}
	return eksName
}

func (d *decoder) endpoint(f diag.Fields) string {
	text := f.Text("endpoint")
	if text == "" {
		return ""
	}
	if wrong := endpointError(text); wrong != "" {
		d.Report(f.At("endpoint"), badEndpoint, wrong)
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
func (d *decoder) observer(f diag.Fields, cluster chain.Cluster, identities *declared[chain.Identity]) string {
	if f.IsMapping() && !f.Has("observer") && (!f.Has("endpoint") || !f.Has("ca_file")) {
		d.Report(f.At("name"), noWayToCluster, cluster.Name)
	}
	observer, ok := identities.find(f, "observer")
	if !ok {
		return f.Text("observer") // the cluster has one, whoever that is
	}
	if foreign := foreignPartition(observer, cluster.Region); foreign != "" {
		d.crossPartition(f.At("observer"), observer.Name, foreign, placed{"an observer", "cluster", cluster.Name, cluster.Region})
	}
	return observer.Name
}
