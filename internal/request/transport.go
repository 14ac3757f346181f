// The transport of one call: its dialer, TLS settings and proxy. It makes one connection and never a second one.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// maxHeaders bounds an answer's header in bytes, as browsers do (Chromium: 256 KiB).
const maxHeaders = 256 << 10

// refusal is a proxy's answer in place of the load balancer's.
type refusal struct {
	code   int
	status string
}

// Error implements error.
func (r *refusal) Error() string { return "the proxy answered with " + r.status }

// transport is used through NewClientConn alone: RoundTrip would ask again over a second connection where HTTP/2 allows it (RFC 9113, section 8.7), and hide what the first one showed.
func (c *call) transport() *http.Transport {
	noCertificate := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.trace.enter(phaseTLS, func() { c.trace.asked = true })
		return &tls.Certificate{}, nil
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyURL(c.proxy),
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.roots, ServerName: c.request.SNI, Time: c.options.Now, MinVersion: tls.VersionTLS12, GetClientCertificate: noCertificate},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaders,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
			if response.StatusCode != http.StatusOK {
				return &refusal{response.StatusCode, response.Status}
			}
			return nil
		},
	}
	if c.proxy != nil && c.proxy.Scheme == "https" {
		transport.DialTLSContext = c.dialProxyTLS
	}
	return transport
}

// dial connects over the IP version that the request asks for; by default as net.Dialer does (RFC 6555, Happy Eyeballs).
func (c *call) dial(ctx context.Context, network, address string) (net.Conn, error) {
	switch c.request.IPFamily {
	case chain.IPFamily4:
		network = "tcp4"
	case chain.IPFamily6:
		network = "tcp6"
	case chain.IPFamilyAny:
	}
	return (&net.Dialer{Resolver: c.options.Resolver}).DialContext(ctx, network, address)
}

// dialProxyTLS connects to an https proxy. Its certificate is for the system's authorities to judge, not for the request's. The result hides that it is TLS, since the handshake with the
// load balancer is the one to be traced.
func (c *call) dialProxyTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading the proxy's address %q: %w", address, err)
	}
	raw, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(raw, &tls.Config{RootCAs: c.options.Roots, ServerName: host, Time: c.options.Now, MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return struct{ net.Conn }{secure}, nil
}
