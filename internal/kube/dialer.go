// The dialer opens a new connection to an apiserver, as a new CI job does, and asks /readyz: DNS, TCP, TLS and HTTP are timed and told apart.
//
// SPDX-License-Identifier: Apache-2.0

// Package kube is client-go behind our types: timed connections to API servers, reviews, dry-run writes and the aws-auth read, and reads of TargetGroupBindings and what is behind them, with
// every error turned into a reason.
package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// Options configure a Dialer.
type Options struct {
	Resolver    *net.Resolver                                     // nil: the system's
	Now         func() time.Time                                  // the local clock, by which certificates are judged and skew is measured
	ObserveSkew func(peer string, skew time.Duration)             // told after every answer; positive: the local clock is ahead. Called concurrently
	Proxy       func(target *url.URL) (proxy *url.URL, err error) // nil URL: no proxy
}

// DefaultOptions use the system's resolver and clock, and the proxy of the environment (HTTPS_PROXY, NO_PROXY) as it is now.
func DefaultOptions() Options {
	return Options{
		Now:         time.Now,
		ObserveSkew: func(string, time.Duration) {},
		Proxy:       httpproxy.FromEnvironment().ProxyFunc(),
	}
}

func (o Options) validate() error {
	switch {
	case o.Now == nil:
		return errors.New("kube: Options.Now is not set")
	case o.ObserveSkew == nil:
		return errors.New("kube: Options.ObserveSkew is not set")
	case o.Proxy == nil:
		return errors.New("kube: Options.Proxy is not set")
	}
	return nil
}

// Dialer opens connections to API servers. It keeps none, and is safe for concurrent use.
type Dialer struct{ options Options }

// NewDialer returns a Dialer; the error names the option that is wrong.
func NewDialer(options Options) (*Dialer, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	return &Dialer{options}, nil
}

// Endpoint is where an apiserver is dialled.
type Endpoint struct {
	ClusterName string // the peer of the clock skew
	URL         string // https
	CA          []byte // PEM; what the server's certificate must chain to
}

// Dial opens a new connection, with no resumed TLS session, and asks /readyz without a token. A 401 or 403 in Kubernetes' own words is a success: the apiserver
// answered, and anonymous access is off. The facts are returned in every case.
//
// The error is a *chain.Error of the step endpoint, or an unknown when this machine could not try; the deadline is blamed on the phase that was open. Only a context that was cancelled, or that
// had ended before any phase began, comes back as its own error. The caller closes the connection.
func (d *Dialer) Dial(ctx context.Context, endpoint Endpoint) (*Conn, chain.Facts, error) {
	conn, failure := d.prepare(endpoint)
	if failure != nil {
		return nil, failure.Facts, failure
	}
	seen, answer, err := conn.exchange(ctx, conn.getReadyz)
	conn.server = seen.Certificates
	conn.share(answer)
	facts := conn.facts(seen, answer)
	if err == nil {
		err = conn.notReady(answer)
	}
	if err != nil {
		conn.Close()
		if e, ok := errors.AsType[*chain.Error](err); ok {
			e.Facts = facts.Merge(e.Facts)
			facts = e.Facts
		}
		return nil, facts, err
	}
	return conn, facts, nil
}

// prepare reads the endpoint; nothing is dialled yet.
func (d *Dialer) prepare(endpoint Endpoint) (*Conn, *chain.Error) {
	target, err := parseEndpoint(endpoint.URL)
	if err != nil {
		return nil, notConfigured(err.Error(), nil)
	}
	facts := chain.Facts{chain.FactHost: target.Hostname()}
	roots, err := wire.ParseCA(endpoint.CA)
	if err != nil {
		return nil, notConfigured("reading the cluster's certificate authority: "+err.Error(), facts)
	}
	proxy, err := d.options.Proxy(target)
	if err != nil { // its text may hold the proxy's password
		return nil, chain.Fail(chain.StepEndpoint, chain.ReasonProxyDenied, "the proxy settings of this process cannot be read as a URL", facts, err)
	}
	conn := &Conn{dialer: d, peer: endpoint.ClusterName, target: target, proxy: proxy, roots: roots, limit: maxBody}
	if err := conn.open(); err != nil {
		return nil, notConfigured(fmt.Sprintf("making a client for %s: %v", target, err), facts)
	}
	return conn, nil
}

// parseEndpoint reads an endpoint URL: https, a host, an optional port and path prefix, and nothing else.
func parseEndpoint(text string) (*url.URL, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the cluster has no endpoint URL")
	}
	target, err := url.Parse(text)
	switch {
	case err != nil || target.User != nil: // neither may be shown: a malformed URL, too, may hold a password
		return nil, errors.New("the endpoint is not a plain https URL (it cannot be parsed, or holds a user name)")
	case target.Scheme != "https" || target.Hostname() == "" || target.RawQuery != "" || target.Fragment != "":
		return nil, fmt.Errorf("the endpoint %q is not a plain https URL", chain.Redact(text))
	}
	return target, nil
}

func (c *Conn) getReadyz(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.target.JoinPath("readyz").String(), nil)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// facts are the evidence of a dial.
func (c *Conn) facts(seen wire.Seen, got answer) chain.Facts {
	facts := seen.Facts()
	facts[chain.FactHost] = c.target.Hostname()
	facts[chain.FactProxy] = c.proxyName()
	if got.status != 0 {
		facts[chain.FactHTTPStatus] = fmt.Sprint(got.status)
	}
	if !got.date.IsZero() {
		facts[chain.FactClockSkew] = got.skew.Round(time.Second).String()
	}
	return facts.Merge()
}

func (c *Conn) proxyName() string { return wire.ProxyName(c.proxy) }
