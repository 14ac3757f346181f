// The transport of one call: its dialer, TLS settings and proxy. It makes one connection and never a second one.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// maxHeaders bounds an answer's header in bytes, as browsers do (Chromium: 256 KiB).
const maxHeaders = 256 << 10

// transport is used through NewClientConn alone: RoundTrip would ask again over a second connection where HTTP/2 allows it (RFC 9113, section 8.7), and hide what the first one showed.
func (c *call) transport() *http.Transport {
	noCertificate := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.trace.AskedForCertificate()
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
		OnProxyConnectResponse: wire.CheckTunnel,
	}
	if c.proxy != nil && c.proxy.Scheme == "https" {
		// The proxy's certificate is for the system's authorities to judge, not for the request's.
		transport.DialTLSContext = wire.DialProxyTLS(c.dial, &tls.Config{RootCAs: c.options.Roots, Time: c.options.Now, MinVersion: tls.VersionTLS12})
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
