// The client makes one real HTTP request through a load balancer, as a new user does: over a new connection, with DNS, TCP, TLS and HTTP timed and told apart.
//
// SPDX-License-Identifier: Apache-2.0

// Package request is net/http behind our types: one request over one new connection, with every error turned into a reason of the step request.
package request

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Options configure a Client.
type Options struct {
	Resolver *net.Resolver                                     // nil: the system's
	Now      func() time.Time                                  // the local clock, by which certificates are judged
	Proxy    func(target *url.URL) (proxy *url.URL, err error) // nil URL: no proxy
	Roots    *x509.CertPool                                    // trusted where a request names no CAFile; nil: the system's authorities
}

// DefaultOptions use the system's resolver, clock and authorities, and the proxy of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) as it is now.
func DefaultOptions() Options {
	return Options{Now: time.Now, Proxy: httpproxy.FromEnvironment().ProxyFunc()}
}

func (o Options) validate() error {
	switch {
	case o.Now == nil:
		return errors.New("request: Options.Now is not set")
	case o.Proxy == nil:
		return errors.New("request: Options.Proxy is not set")
	}
	return nil
}

// Client makes requests. It keeps no connection, and is safe for concurrent use.
type Client struct{ options Options }

// New returns a Client; the error names the option that is wrong.
func New(options Options) (*Client, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	return &Client{options}, nil
}

// Do makes a GET request over a new connection: no resumed TLS session, no redirect followed, no second attempt. HTTP/2 is offered where there is TLS. It returns what came back, also beside
// an error as far as it came, and the facts in every case.
//
// The error is a *chain.Error: dns_failure, tcp_failure, tls_failure or timeout of the step request; or an unknown when this machine, its proxy or the time that the caller's deadline left says
// nothing of the load balancer. Only a context that was cancelled, or that had ended before any phase began, comes back as its own error. What status and body mean is not judged.
func (c *Client) Do(ctx context.Context, request chain.Request) (chain.Response, chain.Facts, error) {
	call, failure := c.prepare(request)
	if failure != nil {
		return chain.Response{}, failure.Facts, failure
	}
	short := endsBefore(ctx, request.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, request.Timeout, fmt.Errorf("the request's timeout of %s", request.Timeout))
	defer cancel()
	err := call.exchange(ctx)
	call.seen = call.trace.Finish()
	if err != nil {
		err = call.failure(ctx, err, short)
	}
	response, facts := call.result()
	if e, ok := errors.AsType[*chain.Error](err); ok {
		e.Facts = facts
	}
	return response, facts, err
}

// endsBefore reports whether the caller's deadline comes before the request's own: then an end in silence is not the request's timeout.
func endsBefore(ctx context.Context, timeout time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < timeout
}
