// The client: its options, the SDK configuration that every call shares, and the service clients made from it.
//
// SPDX-License-Identifier: Apache-2.0

// Package awsapi is the AWS SDK behind the exporter's own types: credential sources, role hops, tokens and the observer's reads. Errors of the remote leave it as *chain.Error.
package awsapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go/logging"
)

// Options are what a Client needs. The functions are called from many goroutines.
type Options struct {
	// ObserveRequest is told of every call: the service (sts, eks, …), the operation, and what came back: "ok", AWS's own error code, "http_503" for an answer
	// without one, or "timeout", "canceled" and "none" when there was no answer.
	ObserveRequest func(service, operation, code string)
	// ObserveSkew is told of every Date header. A positive skew: the local clock is ahead. The peer is service.region.
	ObserveSkew func(peer string, skew time.Duration)
	// ObserveWait is told how long each read waited for its turn in the read budget.
	ObserveWait func(wait time.Duration)
	// Now is the local clock.
	Now func() time.Time
	// EKSReadsPerSecond is the budget of EKS reads, per account and region.
	EKSReadsPerSecond float64
	// ELBReadsPerSecond is the budget of ELB reads, per account and region. A page is a read.
	ELBReadsPerSecond float64
	// HTTPClient carries the calls of the observers' reads (EKS, ELB, IAM). nil: one that dials, as the environment says.
	HTTPClient aws.HTTPClient
}

// DefaultOptions returns options that observe nothing and read the EKS API once, and the ELB API twice a second.
func DefaultOptions() Options {
	return Options{
		ObserveRequest:    func(string, string, string) {},
		ObserveSkew:       func(string, time.Duration) {},
		ObserveWait:       func(time.Duration) {},
		Now:               time.Now,
		EKSReadsPerSecond: 1,
		ELBReadsPerSecond: 2,
	}
}

func (o Options) validate() error {
	switch {
	case o.ObserveRequest == nil:
		return errors.New("awsapi: Options.ObserveRequest is not set")
	case o.ObserveSkew == nil:
		return errors.New("awsapi: Options.ObserveSkew is not set")
	case o.ObserveWait == nil:
		return errors.New("awsapi: Options.ObserveWait is not set")
	case o.Now == nil:
		return errors.New("awsapi: Options.Now is not set")
	case !(o.EKSReadsPerSecond > 0):
		return fmt.Errorf("awsapi: Options.EKSReadsPerSecond is %g, must be above 0", o.EKSReadsPerSecond)
	case !(o.ELBReadsPerSecond > 0):
		return fmt.Errorf("awsapi: Options.ELBReadsPerSecond is %g, must be above 0", o.ELBReadsPerSecond)
	}
	return nil
}

// Client calls AWS. Safe for concurrent use. It keeps no credentials, but for the sessions of the observers and those of identities with reuse_session; of
// what was read, it keeps the list of target groups and load balancers, their attributes and their tags, for a while.
type Client struct {
	options   Options
	base      aws.Config      // transport and endpoints; no credentials and no region
	transport *http.Transport // what base calls with, for runs to copy
	replays   *http.Client
	node      doer // for the Pod Identity agent and instance metadata
	sessions  *sessionStore
	signIns   underWay[*Session] // of observers
	eksReads  *budgets
	elbReads  *budgets
	kept      elbKept
}

// New reads the SDK's environment variables once: endpoints (AWS_ENDPOINT_URL_STS, _EKS, _ELASTIC_LOAD_BALANCING_V2), AWS_CA_BUNDLE, the proxy, FIPS and dual-stack settings. Its errors name the variable
// that cannot be used. Shared configuration files are read by the sources profile and default alone; credentials, token files and external ids at every run.
func New(_ context.Context, options Options) (*Client, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	base, client, err := environment()
	if err != nil {
		return nil, err
	}
	if options.HTTPClient != nil {
		base.HTTPClient = options.HTTPClient
	}
	return &Client{
		options: options, base: base, transport: client.GetTransport(), sessions: newSessionStore(), signIns: underWay[*Session]{what: "its sign-in"},
		eksReads: newBudgets(options.EKSReadsPerSecond, options.ObserveWait), elbReads: newBudgets(options.ELBReadsPerSecond, options.ObserveWait), kept: newELBKept(options.Now),
		node:    newNodeClient(client.GetTransport()),
		replays: &http.Client{Transport: client.GetTransport(), CheckRedirect: noRedirect},
	}, nil
}

// newHTTPClient makes a client whose every call opens its own connection. A pooled one that died unseen would let a POST, which the transport may not send twice, end as a service
// that cannot be reached. The sign-in of a run, whose calls follow each other at once, has a pool (stsCalls).
func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DisableKeepAlives, t.Proxy = true, proxyOf })
}

// sdkOptions make the SDK show what happened: no retry hides a failure, and no correction from an earlier answer hides a wrong clock. Its own log lines would go to
// stderr, past the exporter's log.
func sdkOptions() []func(*config.LoadOptions) error {
	return []func(*config.LoadOptions) error{
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
		config.WithDisableClockSkewCorrection(aws.Bool(true)),
		config.WithLogger(logging.Nop{}),
	}
}

func (c *Client) eks(region string, credentials aws.CredentialsProvider, seen *observation) *eks.Client {
	return eks.NewFromConfig(c.base, func(o *eks.Options) {
		o.Region, o.Credentials = region, credentials
		o.APIOptions = append(o.APIOptions, seen.attach)
	})
}
