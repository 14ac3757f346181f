// Proxies on the way to a server: what they are called, how they are reached, and how they refuse.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// ProxyName is a proxy's scheme and host; "" when there is none. Everything else of the URL may hold its password: a "/" in one makes the rest of it a path.
func ProxyName(proxy *url.URL) string {
	switch {
	case proxy == nil:
		return ""
	case proxy.Hostname() == "http" || proxy.Hostname() == "https": // what is left of a URL that was cut at such a "/"
		return "of a malformed HTTPS_PROXY (is its password percent-encoded?)"
	}
	return chain.Redact(proxy.Scheme + "://" + proxy.Host)
}

// ProxyRefusal is a proxy's own answer, in place of the server's.
type ProxyRefusal struct {
	Code   int
	Status string // as it came, such as "407 Proxy Authentication Required"
}

// Error implements error.
func (r *ProxyRefusal) Error() string { return "the proxy answered with " + r.Status }

// CheckTunnel is an OnProxyConnectResponse of http.Transport: it returns a *ProxyRefusal for any answer to CONNECT but 200.
func CheckTunnel(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return &ProxyRefusal{response.StatusCode, response.Status}
	}
	return nil
}

// DialFunc is a DialContext of http.Transport.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// DialProxyTLS is a DialTLSContext of http.Transport for an https proxy: its TLS settings are the proxy's and not the server's; the name in them is the dialled one. The connection hides that it is
// TLS, since the handshake with the server is the one to be traced.
func DialProxyTLS(dial DialFunc, settings *tls.Config) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("reading the proxy's address %q: %w", address, err)
		}
		raw, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		named := settings.Clone()
		named.ServerName = host
		secure := tls.Client(raw, named)
		if err := secure.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, err
		}
		return struct{ net.Conn }{secure}, nil
	}
}
