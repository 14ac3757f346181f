// Step token: find the cluster, presign a token for it, and check the token by the authenticator's own rules.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (r *accessRun) makeToken(ctx context.Context) (chain.Facts, error) {
	token, err := r.session.Token(ctx, r.target.Cluster.EKSName)
	if err != nil {
		return nil, err
	}
	r.token = token
	facts := chain.Facts{chain.FactTokenExpires: token.Expires.UTC().Format(time.RFC3339)}
	if err := checkToken(token, r.target.Cluster.Region, r.prober.Now()); err != nil {
		return facts, err
	}
	found, err := r.findCluster(ctx)
	return facts.Merge(found), err
}

// findCluster fills r.endpoint. When a fresh read is not to be had, a known cluster still serves, and the error says that the read was unknown.
func (r *accessRun) findCluster(ctx context.Context) (chain.Facts, error) {
	configured := r.target.Cluster
	if configured.Endpoint != "" && configured.CAFile != "" {
		return chain.Facts{chain.FactEndpoint: configured.Endpoint, chain.FactClusterRead: "configured"}, r.useCluster(chain.ClusterInfo{})
	}
	info, err := r.prober.clusters.get(ctx, r.target)
	if info.Endpoint == "" && info.Status == "" {
		return nil, err
	}
	facts := chain.Facts{
		chain.FactEndpoint: info.Endpoint, chain.FactClusterStatus: info.Status, chain.FactAuthMode: info.AuthMode,
		chain.FactClusterRead: info.Read.UTC().Format(time.RFC3339), chain.FactActualAccountID: chain.AccountOf(info.ARN),
	}
	if problem := checkCluster(r.target, info); problem != nil {
		return facts, problem
	}
	if problem := r.useCluster(info); problem != nil {
		return facts, problem
	}
	return facts, err
}

// checkCluster holds what DescribeCluster said against the target.
func checkCluster(target chain.Target, info chain.ClusterInfo) error {
	if want, got := target.Cluster.AccountID, chain.AccountOf(info.ARN); want != "" && got != want {
		return chain.Fail(chain.StepToken, chain.ReasonClusterAccountMismatch,
			fmt.Sprintf("the cluster %s that the observer %s finds belongs to account %s, not %s", info.Name, target.Cluster.Observer, got, want), nil, nil)
	}
	switch info.Status {
	case chain.ClusterStatusActive, chain.ClusterStatusUpdating:
		return nil
	}
	return chain.Fail(chain.StepToken, chain.ReasonClusterNotActive, fmt.Sprintf("EKS says that the cluster %s is %s", info.Name, info.Status), nil, nil)
}

// maxCAFile is far above any bundle of authorities.
const maxCAFile = 1 << 20

// useCluster decides where the apiserver is dialled: the configured endpoint and CA go before the described ones. That a file of our own cannot be read says nothing about the cluster.
func (r *accessRun) useCluster(info chain.ClusterInfo) error {
	configured := r.target.Cluster
	endpoint := Endpoint{ClusterName: configured.Name, URL: info.Endpoint, CA: info.CA}
	if configured.Endpoint != "" {
		endpoint.URL = configured.Endpoint
	}
	if configured.CAFile != "" {
		pem, err := chain.ReadSmall(configured.CAFile, maxCAFile)
		if err != nil {
			return chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("reading ca_file %s: %v", configured.CAFile, err), nil, err)
		}
		endpoint.CA = pem
	}
	r.cluster, r.endpoint = info, endpoint
	return nil
}
