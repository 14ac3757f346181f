// The alb chain: the ordered steps that prove that a target group is filled, its targets are healthy, and a request through the load balancer is answered.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// LoadBalancers read the ELB API with the group's observer (Target.Group.Observer), within the API budget. Safe for concurrent use; one attempt per read.
//
// Errors are *chain.Error, or the context's own when it was cancelled. target_group_missing is a failure of the step registration: ELB itself said that there is none. All else is unknown:
// elb_api_throttled (also by the exporter's own budget), observer_denied (FactAction names the IAM action), observer_unavailable.
type LoadBalancers interface {
	// Group finds a group by its ARN, or by its name, with its load balancers. Answers may be shared among runs, and are at most a minute old (GroupInfo.Read).
	Group(ctx context.Context, target chain.Target) (chain.GroupInfo, error)
	// Groups lists what a discovery by load balancer or by tags asks for.
	Groups(ctx context.Context, discovery chain.Discovery) ([]chain.GroupInfo, error)
	// Health asks DescribeTargetHealth, anew each time.
	Health(ctx context.Context, target chain.Target, groupARN string) ([]chain.TargetHealth, error)
	// Attributes reads the group's attributes. Answers may be shared, and are at most ten minutes old.
	Attributes(ctx context.Context, target chain.Target, groupARN string) (chain.GroupAttributes, error)
}

// Bindings read what a cluster says of target groups. Safe for concurrent use.
type Bindings interface {
	TargetGroupBindings
	Workloads
}

// TargetGroupBindings read the elbv2.k8s.aws objects, with the observer's token. Errors are *chain.Error and unknown (observer_denied, whose FactAction names verb and resource;
// observer_unavailable), or the context's own.
type TargetGroupBindings interface {
	// Binding reads one. found is false when there is none, or when the cluster does not know the kind at all.
	Binding(ctx context.Context, cluster ClusterReads, ref chain.BindingRef) (binding chain.Binding, found bool, err error)
	// List reads those of every namespace.
	List(ctx context.Context, cluster ClusterReads) ([]chain.Binding, error)
	// Trouble reads the binding's events of the last hour.
	Trouble(ctx context.Context, cluster ClusterReads, ref chain.BindingRef) (chain.BindingTrouble, error)
}

// Workloads read what is behind a binding; errors as those of TargetGroupBindings.
type Workloads interface {
	// Backends reads the binding's service and its EndpointSlices and, for instances, the nodes.
	Backends(ctx context.Context, cluster ClusterReads, binding chain.Binding) (chain.Backends, error)
	// Pods reads the pods that the service selects.
	Pods(ctx context.Context, cluster ClusterReads, namespace string, selector map[string]string) ([]chain.Pod, error)
}

// ClusterReads says where a cluster is read, and with what: a token is asked for when a connection has none that still serves.
type ClusterReads struct {
	Endpoint Endpoint
	Token    func(context.Context) (chain.Token, error)
}

// Requester makes one real request through a load balancer, over a new connection.
type Requester interface {
	// Do returns what came back; the facts (phases, address, certificate) in every case. A *chain.Error belongs to the step request (dns_failure, tcp_failure, tls_failure, timeout), or is
	// unknown when this machine could not try. What status and body mean is not judged here.
	Do(ctx context.Context, request chain.Request) (chain.Response, chain.Facts, error)
}
