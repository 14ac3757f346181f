// The CONNECT proxy between real clients and the sandbox's servers.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	iamtoken "sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// newTestProxy lets STS and the clusters through, as a company would.
func newTestProxy(t *testing.T, k *kubeCluster) *Proxy {
	t.Helper()
	p, err := NewProxy(ProxyRoute{Host: "sts.eu-west-1.amazonaws.com:443", Address: k.sts.Addr()}, ProxyRoute{Host: "*.eks.amazonaws.com:*"})
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(p.Close(), p.Close())) })
	return p
}

// throughProxy is a transport like the cluster's that knows no DNS: the proxy does.
func (k *kubeCluster) throughProxy(t *testing.T, p *Proxy) *http.Transport {
	t.Helper()
	transport := k.transport(t)
	at, err := url.Parse(p.URL())
	must(t, err)
	transport.Proxy, transport.DialContext = http.ProxyURL(at), nil
	return transport
}

func roundTrip(ctx context.Context, t *testing.T, transport http.RoundTripper, target string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	must(t, err)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer func() { must(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return string(body), nil
}

func TestProxyTunnels(t *testing.T) {
	k := newKubeCluster(t)
	p := newTestProxy(t, k)
	body, err := roundTrip(t.Context(), t, k.throughProxy(t, p), k.api.Endpoint()+"/readyz")
	must(t, err)
	wantSame(t, body, "ok")
}

func TestSTSThroughProxy(t *testing.T) {
	k := newKubeCluster(t)
	p := newTestProxy(t, k)
	transport := k.throughProxy(t, p)
	transport.TLSClientConfig.RootCAs = k.ca.Pool()
	output, err := k.stsClient(testUser, testRegion, "", func(o *sts.Options) { o.HTTPClient = &http.Client{Transport: transport} }).GetCallerIdentity(t.Context(), nil)
	must(t, err)
	wantSame(t, *output.Arn, userARN)
}

// TestRealVerifierThroughProxy is how the real authenticator reaches the sandbox's STS: nothing but a proxy and an authority.
func TestRealVerifierThroughProxy(t *testing.T) {
	k := newKubeCluster(t)
	p := newTestProxy(t, k)
	transport := k.throughProxy(t, p)
	transport.TLSClientConfig.RootCAs = k.ca.Pool()
	before := http.DefaultTransport
	http.DefaultTransport = transport
	defer func() { http.DefaultTransport = before }()
	verified, err := iamtoken.NewVerifier("prod", "aws", testRegion).Verify(k.deployToken(t))
	must(t, err)
	wantSame(t, verified.CanonicalARN, deployARN)
}

func TestProxyDenies(t *testing.T) {
	for name, test := range map[string]struct {
		mode   ProxyMode
		target string
	}{
		"in deny mode":     {ProxyDeny, ""},
		"another host":     {ProxyOpen, "https://example.com/"},
		"another port":     {ProxyOpen, "https://sts.eu-west-1.amazonaws.com:8443/"},
		"another region":   {ProxyOpen, "https://sts.eu-west-2.amazonaws.com/"},
		"a similar domain": {ProxyOpen, "https://eks.amazonaws.com/"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			p := newTestProxy(t, k)
			p.SetMode(test.mode)
			target := test.target
			if target == "" {
				target = k.api.Endpoint() + "/readyz"
			}
			_, err := roundTrip(t.Context(), t, k.throughProxy(t, p), target)
			wantSame(t, errorText(err), "Forbidden")
			wantSame(t, k.calls(), nilCalls)
		})
	}
}

// TestProxyDenialPage: the body is a page for people, which no Kubernetes client can read.
func TestProxyDenialPage(t *testing.T) {
	k := newKubeCluster(t)
	p := newTestProxy(t, k)
	for request, want := range map[string]string{
		"CONNECT a'b.example.com:443 HTTP/1.1\r\nHost: a'b.example.com:443\r\n\r\n":                             "<a>a&#39;b.example.com:443</a>",
		"GET http://sts.eu-west-1.amazonaws.com:443/ HTTP/1.1\r\nHost: sts.eu-west-1.amazonaws.com:443\r\n\r\n": "<a>sts.eu-west-1.amazonaws.com:443</a>",
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL(), "http://"))
		must(t, err)
		_, err = io.WriteString(conn, request)
		must(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must(t, err)
		body, err := io.ReadAll(response.Body)
		must(t, errors.Join(err, response.Body.Close(), conn.Close()))
		wantSame(t, response.StatusCode, http.StatusForbidden)
		wantSame(t, response.Header.Get("X-Squid-Error"), "ERR_ACCESS_DENIED 0")
		if !strings.Contains(string(body), "<b>Access Denied.</b>") || !strings.Contains(string(body), want) {
			t.Errorf("the page is %s", body)
		}
	}
}

func TestProxyHangs(t *testing.T) {
	k := newKubeCluster(t)
	p := newTestProxy(t, k)
	p.SetMode(ProxyHangs)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := roundTrip(ctx, t, k.throughProxy(t, p), k.api.Endpoint()+"/readyz")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestProxyCannotReachTheOrigin(t *testing.T) {
	k := newKubeCluster(t)
	address, err := Refused()
	must(t, err)
	p, err := NewProxy(ProxyRoute{Host: "*:443", Address: address})
	must(t, err)
	defer func() { must(t, p.Close()) }()
	_, err = roundTrip(t.Context(), t, k.throughProxy(t, p), "https://example.com/")
	wantSame(t, errorText(err), "Service Unavailable")
}

// TestProxyCloseEndsTunnels leaves one open.
func TestProxyCloseEndsTunnels(t *testing.T) {
	k := newKubeCluster(t)
	p := newTestProxy(t, k)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL(), "http://"))
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	_, err = io.WriteString(conn, "CONNECT sts.eu-west-1.amazonaws.com:443 HTTP/1.1\r\nHost: sts.eu-west-1.amazonaws.com:443\r\n\r\n")
	must(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	must(t, err)
	must(t, answer.Body.Close())
	wantSame(t, answer.StatusCode, http.StatusOK)
	soon(t, func() { must(t, p.Close()) })
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the tunnel is still open")
	}
}

func TestProxyRefusesAMalformedRoute(t *testing.T) {
	_, err := NewProxy(ProxyRoute{Host: "[x:443"})
	wantSame(t, errorText(err), `reading the proxy route "[x:443": syntax error in pattern`)
}
