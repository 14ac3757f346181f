// Step endpoint: DNS, TCP, TLS and HTTP to the apiserver over a new connection, as a new CI job makes.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// moved are the reasons after which the cluster may just have another endpoint or CA than the one known.
var moved = []chain.Reason{
	chain.ReasonDNSNXDomain, chain.ReasonTCPRefused, chain.ReasonTCPTimeout, chain.ReasonTLSCAMismatch, chain.ReasonTLSNameMismatch, chain.ReasonTLSExpired, chain.ReasonTLSFailure,
}

func (r *accessRun) dial(ctx context.Context) (chain.Facts, error) {
	conn, facts, err := r.prober.APIServer.Dial(ctx, r.endpoint)
	if err == nil {
		r.conn = conn
	}
	return facts.Merge(chain.Facts{chain.FactEndpoint: r.endpoint.URL}), err
}

// dialAgain reads the cluster anew after a failure that a moved cluster explains. A changed endpoint or CA is tried once; a configured endpoint that EKS no longer names is stale.
func (r *accessRun) dialAgain(ctx context.Context, failed error) (chain.Facts, error) {
	var first *chain.Error
	if !errors.As(failed, &first) || !slices.Contains(moved, first.Reason) || r.target.Cluster.Observer == "" {
		return nil, failed
	}
	info, err := r.prober.clusters.refresh(ctx, r.target)
	if err != nil {
		unsure := *first
		unsure.Detail += "; DescribeCluster could not say whether the cluster has moved: " + chain.AsError(err).Error()
		return nil, &unsure
	}
	facts := chain.Facts{chain.FactEndpointDescribed: info.Endpoint}
	configured := r.target.Cluster
	switch {
	case configured.Endpoint != "" && hostOf(configured.Endpoint) != hostOf(info.Endpoint):
		return facts, chain.Fail(chain.StepEndpoint, chain.ReasonEndpointStale,
			fmt.Sprintf("the configured endpoint %s fails (%s), and EKS says that %s is at %s", configured.Endpoint, first.Detail, info.Name, info.Endpoint), facts, first)
	case configured.Endpoint != "" || configured.CAFile != "":
		return facts, first
	case info.Endpoint == r.endpoint.URL && bytes.Equal(info.CA, r.endpoint.CA):
		return facts, first
	}
	if err := r.useCluster(info); err != nil {
		return facts, err
	}
	conn, again, err := r.prober.APIServer.Dial(ctx, r.endpoint)
	again = again.Merge(chain.Facts{chain.FactEndpoint: r.endpoint.URL, chain.FactClusterRead: "refreshed after " + string(first.Reason)})
	if err == nil {
		r.conn = conn
	}
	return again, err
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	return u.Host
}
