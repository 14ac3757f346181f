// Where and as whom a cluster is read for its target groups, and what a failed read means there: it is never a failure of the group.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// clusterReads finds the target's cluster as the access chain does, through the same cache. Errors are unknown.
func (p *Prober) clusterReads(ctx context.Context, target chain.Target) (ClusterReads, error) {
	lookup := &accessRun{prober: p, target: target}
	if _, err := lookup.findCluster(ctx); lookup.endpoint.URL == "" {
		return ClusterReads{}, unread("the cluster "+target.Cluster.Name, err)
	}
	return ClusterReads{
		Endpoint: lookup.endpoint,
		Token:    func(ctx context.Context) (chain.Token, error) { return p.Observer.Token(ctx, target) },
	}, nil
}

// listBindings reads the cluster's bindings, once for all of its target groups.
func (p *Prober) listBindings(ctx context.Context, target chain.Target, cluster ClusterReads) ([]chain.Binding, error) {
	bindings, err := p.bindings.get(ctx, target.Cluster.Key(), func(ctx context.Context) ([]chain.Binding, error) { return p.Bindings.List(ctx, cluster) })
	return bindings, unread("the TargetGroupBindings of "+target.Cluster.Name, err)
}

// unread makes a failed read an unknown, whatever the adapter called it: that EKS knows no such cluster, or that an answer took too long, says nothing of a target group.
func unread(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e, classified := errors.AsType[*chain.Error](err)
	switch {
	case classified && e.Outcome == chain.OutcomeUnknown:
		return e
	case classified:
		return chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("reading %s: %s", what, e.Error()), e.Facts, err)
	case errors.Is(err, context.DeadlineExceeded):
		return chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("reading %s: no answer within the time that the step had for it", what), nil, err)
	}
	return chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("reading %s: %s", what, chain.Redact(err.Error())), nil, err)
}

// bindingHop is how long a session lasts through which another account's group is read.
const bindingHop = 15 * time.Minute

// throughRole returns the observer with the role of a binding as its last hop, as the controller reads a group of another account. Without a role, or with that very one, it stays as it is.
func throughRole(observer chain.Identity, binding chain.Binding) chain.Identity {
	hops := observer.Hops
	if binding.RoleARN == "" || len(hops) > 0 && hops[len(hops)-1].RoleARN == binding.RoleARN {
		return observer
	}
	observer.Hops = append(slices.Clone(hops), chain.Hop{RoleARN: binding.RoleARN, ExternalID: binding.ExternalID, Duration: bindingHop})
	observer.ExpectPrincipal = ""
	return observer
}
