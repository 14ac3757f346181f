// NewProber joins the AWS and Kubernetes adapters to a prober, for the exporter and for single runs.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/awsapi"
	"github.com/eks-slo/eks-slo-exporter/internal/kube"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
)

// ProberOptions say how a prober reaches the world and who watches it.
type ProberOptions struct {
	Resolver          *net.Resolver // for the apiservers' names; nil is the system's
	EKSReadsPerSecond float64       // per account and region; 0 is the default
	Watch             Watcher       // nil: nobody watches
}

// Watcher is told of calls and clocks. Its methods are called from many goroutines.
type Watcher interface {
	// ObserveRequest is told of every AWS call and the code it ended with.
	ObserveRequest(service, operation, code string)
	// ObserveSkew is told of every Date header: positive when the local clock is ahead.
	ObserveSkew(peer string, skew time.Duration)
	// ObserveBudgetWait is told how long an EKS read waited for its turn.
	ObserveBudgetWait(wait time.Duration)
}

// NewProber makes a prober. It reads the SDK's environment (endpoints, CA bundle, proxies) once; its errors are the SDK's.
func NewProber(ctx context.Context, options ProberOptions) (*probes.Prober, error) {
	aws, dialer := awsapi.DefaultOptions(), kube.DefaultOptions()
	dialer.Resolver = options.Resolver
	if options.EKSReadsPerSecond > 0 {
		aws.EKSReadsPerSecond = options.EKSReadsPerSecond
	}
	if w := options.Watch; w != nil {
		aws.ObserveRequest, aws.ObserveSkew, aws.ObserveWait = w.ObserveRequest, w.ObserveSkew, w.ObserveBudgetWait
		dialer.ObserveSkew = w.ObserveSkew
	}
	client, err := awsapi.New(ctx, aws)
	if err != nil {
		return nil, err
	}
	k, err := kube.NewDialer(dialer)
	if err != nil {
		return nil, err
	}
	wiring := probes.DefaultOptions()
	wiring.Cloud, wiring.Observer, wiring.APIServer = cloud{client}, observer{client}, apiserver{k}
	return probes.New(wiring)
}
