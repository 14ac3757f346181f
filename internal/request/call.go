// A call is one request on its way: what it asks, and what has come back so far.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/idna"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

const (
	maxBody = 64 << 10 // bytes of a body that are read
	maxCA   = 1 << 20  // bytes of a CA file
)

// call is for one goroutine, but for its trace.
type call struct {
	options  Options
	request  chain.Request
	target   *url.URL
	address  string         // host:port
	proxy    *url.URL       // nil: none
	roots    *x509.CertPool // nil: the system's
	trace    *wire.Trace
	seen     wire.Seen // once the trace has ended
	response chain.Response
}

// prepare reads the request; nothing is dialled yet. Every error is an unknown: nothing was asked of the load balancer.
func (c *Client) prepare(request chain.Request) (*call, *chain.Error) {
	target, err := parseURL(request.URL)
	if err != nil {
		return nil, chain.Unsure(chain.ReasonReadFailed, err.Error(), nil, err)
	}
	facts := chain.Facts{chain.FactHost: target.Hostname()}
	if host, err := httpguts.PunycodeHostPort(request.Host); err != nil || !httpguts.ValidHostHeader(host) {
		return nil, chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("the request's host %q cannot be a Host header", chain.Redact(request.Host)), facts, err)
	}
	roots, err := c.roots(request.CAFile)
	if err != nil {
		return nil, chain.Unsure(chain.ReasonReadFailed, err.Error(), facts, err)
	}
	proxy, err := c.options.Proxy(target)
	if err != nil { // its text may hold the proxy's password
		return nil, chain.Unsure(chain.ReasonReadFailed, "the proxy settings of this process cannot be read as a URL, so no request was made", facts, err)
	}
	port := cmp.Or(target.Port(), map[string]string{"http": "80", "https": "443"}[target.Scheme])
	call := &call{
		options: c.options, request: request, target: target, address: net.JoinHostPort(target.Hostname(), port), proxy: proxy, roots: roots,
		trace: &wire.Trace{Proxied: proxy != nil, Secure: target.Scheme == "https"},
	}
	if proxy != nil && request.IPFamily != chain.IPFamilyAny {
		facts[chain.FactProxy] = call.proxyName()
		return nil, chain.Unsure(chain.ReasonNotMeasurable,
			fmt.Sprintf("the proxy %s chooses the IP version, so a request over %s cannot be made through it: exempt %s with NO_PROXY, or leave ip_family out", call.proxyName(), request.IPFamily, target.Hostname()), facts, nil)
	}
	return call, nil
}

// parseURL reads a request's URL: http or https, a host, and no user. The host is turned into ASCII (RFC 5891), as resolver, TLS and Host header want it.
func parseURL(text string) (*url.URL, error) {
	target, err := url.Parse(text)
	switch {
	case err != nil || target.User != nil: // neither may be shown: a malformed URL, too, may hold a password
		return nil, errors.New("the request's URL is not a plain http or https URL (it cannot be parsed, or holds a user name)")
	case target.Scheme != "http" && target.Scheme != "https" || target.Hostname() == "" || !isPort(target.Port()):
		return nil, fmt.Errorf("the request's URL %q is not a plain http or https URL", chain.Redact(text))
	case httpguts.ValidHostHeader(target.Host): // ASCII
		return target, nil
	}
	host, err := idna.Lookup.ToASCII(target.Hostname())
	if err != nil {
		return nil, fmt.Errorf("writing the host of the request's URL %q as DNS knows it: %w", chain.Redact(text), err)
	}
	if port := target.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	target.Host = host
	return target, nil
}

// isPort reports whether a URL's port is one, or left out.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// exchange makes the request; the trace is where it got to.
func (c *call) exchange(ctx context.Context) error {
	ctx = c.trace.Follow(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.target.String(), nil)
	if err != nil {
		return err
	}
	request.Host = cmp.Or(c.request.Host, c.target.Host)
	request.Header.Set("User-Agent", wire.UserAgent)
	conn, err := c.transport().NewClientConn(ctx, c.target.Scheme, c.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it is given up, whatever is still to be read from it
	c.trace.Begin(wire.PhaseHTTP)
	response, err := conn.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return c.read(response)
}

// read takes the answer in: the first 64 KiB of its body, and no more of one that does not end.
func (c *call) read(response *http.Response) error {
	if c.forwarded() && response.StatusCode == http.StatusProxyAuthRequired {
		return &wire.ProxyRefusal{Code: response.StatusCode, Status: response.Status}
	}
	c.response.Status, c.response.Header = response.StatusCode, response.Header
	if response.StatusCode == http.StatusSwitchingProtocols { // what follows is another protocol, not a body
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	c.trace.Finish()
	c.response.Truncated = len(body) > maxBody
	c.response.Body = body[:min(len(body), maxBody)]
	return err
}

// forwarded reports whether the proxy gets the request itself, as it does without TLS, and not a tunnel.
func (c *call) forwarded() bool {
	return c.proxy != nil && c.target.Scheme == "http" && (c.proxy.Scheme == "http" || c.proxy.Scheme == "https")
}

// result is what came back, and the evidence of it.
func (c *call) result() (chain.Response, chain.Facts) {
	facts := c.seen.Facts()
	facts[chain.FactHost] = c.target.Hostname()
	facts[chain.FactProxy] = c.proxyName()
	if c.response.Status != 0 {
		facts[chain.FactHTTPStatus] = fmt.Sprint(c.response.Status)
	}
	return c.response, facts.Merge()
}

func (c *call) proxyName() string { return wire.ProxyName(c.proxy) }

// where names the load balancer in a detail, with the proxy on the way to it.
func (c *call) where() string {
	if c.proxy == nil {
		return c.address
	}
	return fmt.Sprintf("%s (through the proxy %s)", c.address, c.proxyName())
}
