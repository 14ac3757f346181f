// Tests of proxies: that their names hold no password, and whose certificate is judged by which settings.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

func TestProxyName(t *testing.T) {
	for name, c := range map[string]struct {
		proxy *url.URL
		want  string
	}{
		"none":          {nil, ""},
		"with password": {&url.URL{Scheme: "http", Host: "gateway.test:3128", User: url.UserPassword("probe", "hunter2")}, "http://gateway.test:3128"},
		"a password that was not encoded": {
			&url.URL{Scheme: "http", Host: "http:", Path: "//probe:hun/ter2@gateway.test"}, "of a malformed HTTPS_PROXY (is its password percent-encoded?)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ProxyName(c.proxy); got != c.want {
				t.Errorf("the proxy is called %q, want %q", got, c.want)
			}
		})
	}
}

func TestCheckTunnel(t *testing.T) {
	if err := CheckTunnel(t.Context(), nil, nil, &http.Response{StatusCode: http.StatusOK}); err != nil {
		t.Errorf("200 is refused: %v", err)
	}
	err := CheckTunnel(t.Context(), nil, nil, &http.Response{StatusCode: http.StatusForbidden, Status: "403 Forbidden"})
	if no, ok := errors.AsType[*ProxyRefusal](err); !ok || no.Code != http.StatusForbidden || err.Error() != "the proxy answered with 403 Forbidden" {
		t.Errorf("got %v", err)
	}
}

func TestDialProxyTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	address := server.Listener.Addr().String()
	dial := new(net.Dialer).DialContext
	trusting := &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}

	conn, err := DialProxyTLS(dial, trusting)(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, told := conn.(*tls.Conn); told || trusting.ServerName != "" {
		t.Errorf("the connection shows that it is TLS, or the settings were changed: %q", trusting.ServerName)
	}
	if _, err := fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Error(err)
	}
	answer := make([]byte, len("HTTP/1.0 404"))
	if _, err := conn.Read(answer); err != nil || string(answer) != "HTTP/1.0 404" {
		t.Errorf("got %q (%v)", answer, err)
	}

	if _, err := DialProxyTLS(dial, &tls.Config{MinVersion: tls.VersionTLS12})(t.Context(), "tcp", address); !errors.As(err, new(*tls.CertificateVerificationError)) {
		t.Errorf("a proxy that nobody vouches for: %v", err)
	}
	if _, err := DialProxyTLS(dial, trusting)(t.Context(), "tcp", "gateway.test"); err == nil || !strings.HasPrefix(err.Error(), `reading the proxy's address "gateway.test": `) {
		t.Errorf("an address without a port: %v", err)
	}
}

func TestErrors(t *testing.T) {
	of := func(errno syscall.Errno) error {
		return &url.Error{Op: "Get", URL: "https://a.test", Err: &net.OpError{Op: "dial", Err: errno}}
	}
	if !TimedOut(of(syscall.ETIMEDOUT)) || TimedOut(of(syscall.ECONNREFUSED)) {
		t.Error("ETIMEDOUT alone is a timeout")
	}
	if !Unreachable(of(syscall.ENETUNREACH)) || !Unreachable(of(syscall.EHOSTUNREACH)) || Unreachable(of(syscall.ECONNREFUSED)) {
		t.Error("ENETUNREACH and EHOSTUNREACH alone say that there is no way")
	}
	if got := PlainText(of(syscall.ECONNREFUSED)); got != "dial: connection refused" {
		t.Errorf("the text is %q", got)
	}
	if got := PlainText(errors.New("odd AKIAIOSFODNN7EXAMPLE")); got != "odd [redacted]" {
		t.Errorf("the text is %q", got)
	}
}
