// The question about the cluster after a 401: whether the server that answered bears the name that was signed.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// noObserver is what could not be read of a cluster that nobody may read.
const noObserver = "the cluster has no observer, so neither its name nor its access entries could be read"

// otherCluster holds the name that was signed, byte for byte, and the server that answered against what EKS says.
func (i *inquiry) otherCluster(ctx context.Context) error {
	name := i.target.Cluster.EKSName
	if i.target.Cluster.Observer == "" {
		i.unread = append(i.unread, noObserver)
		return nil
	}
	info, err := i.prober.clusters.refresh(ctx, i.target)
	var e *chain.Error
	switch {
	case errors.As(err, &e) && e.Reason == chain.ReasonClusterNotFound:
		return chain.Fail(chain.StepToken, chain.ReasonClusterIDMismatch,
			fmt.Sprintf("an apiserver answers at %s, but EKS knows no cluster %q in %s: the token is signed for a name that this cluster does not bear", i.endpoint.URL, name, i.target.Cluster.Region), e.Facts, e)
	case err != nil:
		i.notRead("DescribeCluster", err)
		return nil
	}
	i.cluster = info
	i.facts[chain.FactAuthMode], i.facts[chain.FactEndpointDescribed] = info.AuthMode, info.Endpoint
	switch configured := i.target.Cluster.Endpoint; {
	case info.Name != name:
		return chain.Fail(chain.StepToken, chain.ReasonClusterIDMismatch, fmt.Sprintf("the token is signed for %q, and EKS calls the cluster %q", name, info.Name), nil, nil)
	case configured != "" && hostOf(configured) != hostOf(info.Endpoint) && !i.conn.ServedBy(info.CA):
		return chain.Fail(chain.StepToken, chain.ReasonClusterIDMismatch,
			fmt.Sprintf("the server at %s has a certificate of another cluster than %s: the token is signed for a name that this server does not bear", configured, name), nil, nil)
	case configured == "" && hostOf(i.endpoint.URL) != hostOf(info.Endpoint):
		return chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("the cluster moved during the run: %s refused the token, and EKS says by now that %s is at %s", i.endpoint.URL, name, info.Endpoint), nil, i.refused)
	}
	i.rule("the signed name %q is the cluster's own", name)
	return checkCluster(i.target, info)
}
