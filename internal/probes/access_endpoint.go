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
	r.dialled = facts
	return facts.Merge(chain.Facts{chain.FactEndpoint: r.endpoint.URL}), err
}

// explainDial finds out whether the cluster has moved, and which way to it is closed.
func (r *accessRun) explainDial(ctx context.Context, failed error) (chain.Facts, error) {
	facts, failed := r.dialAgain(ctx, failed)
	e, ok := errors.AsType[*chain.Error](failed)
	if !ok || e.Reason != chain.ReasonTCPTimeout {
		return facts, failed
	}
	found := *e
	found.Detail += closedWay(r.cluster, r.endpoint, r.dialled)
	return facts, &found
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
	r.cluster = info
	switch {
	case configured.Endpoint != "" && hostOf(configured.Endpoint) != hostOf(info.Endpoint):
		return facts, chain.Fail(chain.StepEndpoint, chain.ReasonEndpointStale,
			fmt.Sprintf("the configured endpoint %s fails (%s), and EKS says that %s is at %s", configured.Endpoint, first.Detail, info.Name, info.Endpoint), facts, first)
	case configured.Endpoint != "" || configured.CAFile != "":
		return facts, first
	case info.Endpoint == r.endpoint.URL && bytes.Equal(info.CA, r.endpoint.CA):
		return facts, first
	}
	return r.follow(ctx, info, string(first.Reason))
}

// follow goes on at the cluster as EKS describes it now.
func (r *accessRun) follow(ctx context.Context, info chain.ClusterInfo, why string) (chain.Facts, error) {
	r.close()
	r.conn = nil
	if err := r.useCluster(info); err != nil {
		return nil, err
	}
	facts, err := r.dial(ctx)
	return facts.Merge(chain.Facts{chain.FactEndpointDescribed: info.Endpoint, chain.FactClusterRead: "refreshed after " + why}), err
}

// reviewMoved asks the present cluster, when the refusal is that of a former one, still up, whose endpoint this prober had kept. It returns the error that is left to explain.
func (r *accessRun) reviewMoved(ctx context.Context, failed error) (chain.Facts, error) {
	configured := r.target.Cluster
	if _, refused := errors.AsType[*Unauthorized](failed); !refused || configured.Endpoint != "" || configured.Observer == "" {
		return nil, failed
	}
	info, err := r.prober.clusters.refresh(ctx, r.target)
	if err != nil || hostOf(info.Endpoint) == hostOf(r.endpoint.URL) {
		return nil, failed // the search for the cause tells what could not be read
	}
	if err := checkCluster(r.target, info); err != nil {
		return nil, err
	}
	facts, err := r.follow(ctx, info, "a 401")
	if err != nil {
		return facts, err
	}
	found, err := r.review(ctx)
	return facts.Merge(found), err
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	return u.Host
}
