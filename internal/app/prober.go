// NewProber joins the AWS and Kubernetes adapters to a prober, for the exporter and for single runs.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/awsapi"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/kube"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
	"github.com/eks-slo/eks-slo-exporter/internal/request"
)

// ProberOptions say how a prober reaches the world and who watches it.
type ProberOptions struct {
	Resolver          *net.Resolver // for the apiservers' names; nil is the system's
	EKSReadsPerSecond float64       // per account and region; 0 is the default
	ELBReadsPerSecond float64       // likewise
	Watch             Watcher       // nil: nobody watches
}

// Watcher is told of calls and clocks. Its methods are called from many goroutines.
type Watcher interface {
	// ObserveRequest is told of every AWS call and the code it ended with.
	ObserveRequest(service, operation, code string)
	// ObserveSkew is told of every Date header: positive when the local clock is ahead.
	ObserveSkew(peer string, skew time.Duration)
	// ObserveBudgetWait is told how long a read waited for its turn.
	ObserveBudgetWait(wait time.Duration)
}

// Prober is a prober with the connections that its reads of clusters keep.
type Prober struct {
	*probes.Prober
	reader   *kube.Reader
	elbReads float64 // a second, per account and region
}

// Close ends those connections. No run may be under way.
func (p *Prober) Close() { p.reader.Close() }

// DiscoverAll asks every discovery once, and returns what is not configured already, under names that nobody else has. The error names the discoveries that could not tell; what the others found is
// returned beside it.
func (p *Prober) DiscoverAll(ctx context.Context, discoveries []chain.Discovery, configured []chain.Target) ([]chain.Target, error) {
	found, errs := map[string][]chain.Target{}, []error(nil)
	for _, entry := range discoveries {
		targets, err := discoverInTime(ctx, entry, p.Discover)
		if err != nil {
			errs = append(errs, fmt.Errorf("discovering the targets of %s: %w", entry.Name, err))
			continue
		}
		found[entry.Name] = targets
	}
	return unite(configured, discoveries, found), errors.Join(errs...)
}

// NewProber makes a prober. It reads the SDK's environment (endpoints, CA bundle, proxies) once; its errors are the SDK's. The caller closes it.
func NewProber(ctx context.Context, options ProberOptions) (*Prober, error) {
	aws, dialer := awsapi.DefaultOptions(), kube.DefaultOptions()
	dialer.Resolver = options.Resolver
	if options.EKSReadsPerSecond > 0 {
		aws.EKSReadsPerSecond = options.EKSReadsPerSecond
	}
	if options.ELBReadsPerSecond > 0 {
		aws.ELBReadsPerSecond = options.ELBReadsPerSecond
	}
	if w := options.Watch; w != nil {
		aws.ObserveRequest, aws.ObserveSkew, aws.ObserveWait = w.ObserveRequest, w.ObserveSkew, w.ObserveBudgetWait
		dialer.ObserveSkew = w.ObserveSkew
	}
	client, err := awsapi.New(ctx, aws)
	if err != nil {
		return nil, err
	}
	wiring := probes.DefaultOptions()
	wiring.Cloud, wiring.Observer, wiring.ELB = cloud{client}, observer{client}, client
	return joinProber(wiring, dialer, aws.ELBReadsPerSecond)
}

// joinProber adds what speaks with clusters and load balancers over connections of its own.
func joinProber(wiring probes.Options, options kube.Options, elbReads float64) (*Prober, error) {
	dialer, err := kube.NewDialer(options)
	if err != nil {
		return nil, err
	}
	reader, err := kube.NewReader(options)
	if err != nil {
		return nil, err
	}
	asking := request.DefaultOptions()
	asking.Resolver = options.Resolver
	client, err := request.New(asking)
	if err != nil {
		return nil, err
	}
	wiring.APIServer, wiring.Bindings, wiring.Requester = apiserver{dialer}, bindings{reader}, client
	prober, err := probes.New(wiring)
	if err != nil {
		return nil, err
	}
	return &Prober{prober, reader, elbReads}, nil
}
