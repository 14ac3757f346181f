// Every fault of a cluster's endpoint, seen by real clients: names, connections, certificates, hangs and broken answers.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEndpointName(t *testing.T) {
	k := newKubeCluster(t)
	var endpoint string
	k.change(func(c *Cluster) { endpoint = c.Endpoint })
	if !regexp.MustCompile(`^https://[0-9A-F]{32}\.gr7\.eu-west-1\.eks\.amazonaws\.com:\d+$`).MatchString(endpoint) || endpoint != k.api.Endpoint() {
		t.Errorf("DescribeCluster tells %s", endpoint)
	}
	must(t, k.get(t.Context(), t, "/readyz"))
}

func TestProtocols(t *testing.T) {
	k := newKubeCluster(t)
	for want, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		transport := k.transport(t)
		transport.ForceAttemptHTTP2 = http2
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+k.api.Addr()+"/readyz", nil) // 127.0.0.1 is on the certificate too
		must(t, err)
		response, err := transport.RoundTrip(request)
		must(t, err)
		must(t, response.Body.Close())
		wantSame(t, response.Proto, want)
	}
}

// TestCertificates swaps them on a running server.
func TestCertificates(t *testing.T) {
	k := newKubeCluster(t)
	for _, test := range []struct {
		certificate Certificate
		broken      func(error) bool
	}{
		{CertificateExpired, func(err error) bool {
			var invalid x509.CertificateInvalidError
			return errors.As(err, &invalid) && invalid.Reason == x509.Expired
		}},
		{CertificateOtherName, func(err error) bool { var name x509.HostnameError; return errors.As(err, &name) }},
		{CertificateOtherCA, func(err error) bool { var authority x509.UnknownAuthorityError; return errors.As(err, &authority) }},
		{CertificateGood, func(err error) bool { return err == nil }},
	} {
		must(t, k.api.ServeCertificate(test.certificate))
		if err := k.get(t.Context(), t, "/readyz"); !test.broken(err) {
			t.Errorf("certificate %d: %v", test.certificate, err)
		}
	}
	if err := k.api.ServeCertificate(99); err == nil {
		t.Error("there is a certificate 99")
	}
}

func TestRotateCA(t *testing.T) {
	k := newKubeCluster(t)
	before := k.transport(t)
	must(t, k.api.RotateCA())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.api.Endpoint()+"/readyz", nil)
	must(t, err)
	_, err = before.RoundTrip(request)
	if unknown := (x509.UnknownAuthorityError{}); !errors.As(err, &unknown) {
		t.Errorf("with the old authority: %v", err)
	}
	must(t, k.get(t.Context(), t, "/readyz"))
}

// TestNoResumption: a resumed TLS session would hide a swapped certificate.
func TestNoResumption(t *testing.T) {
	k := newKubeCluster(t)
	transport := k.transport(t)
	transport.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.api.Endpoint()+"/readyz", nil)
		must(t, err)
		response, err := transport.RoundTrip(request)
		must(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		must(t, errors.Join(err, response.Body.Close()))
		wantSame(t, response.TLS.DidResume, false)
		transport.CloseIdleConnections()
	}
}

func TestSharedAuthority(t *testing.T) {
	k := newKubeCluster(t)
	api, err := NewAPIServer(k.state, k.ca, "prod", STSEndpoint{Address: k.sts.Addr(), CAPEM: k.ca.PEM()})
	must(t, err)
	defer func() { must(t, api.Close()) }()
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: k.ca.Pool(), MinVersion: tls.VersionTLS12}}).DialContext(t.Context(), "tcp", api.Addr())
	must(t, err)
	must(t, conn.Close())
}

func TestHang(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) { c.Fault.Hang = true })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := k.get(ctx, t, "/readyz"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	wantSame(t, k.calls(), nilCalls)
}

var nilCalls []Call

func TestBrokenAnswers(t *testing.T) {
	tests := map[string]struct {
		fault      ClusterFault
		path       string
		body       string // "" when it is the Status
		status     metav1.Status
		retryAfter string
		code       string
	}{
		"storage is warming up": {
			fault: ClusterFault{HTTPStatus: 429, StatusMessage: "storage is (re)initializing"}, path: "/readyz",
			status:     metav1.Status{Message: "storage is (re)initializing", Reason: "TooManyRequests", Code: 429, Details: &metav1.StatusDetails{RetryAfterSeconds: 1}},
			retryAfter: "1", code: "TooManyRequests",
		},
		"flow control":     {fault: ClusterFault{HTTPStatus: 429}, path: "/api/v1/nodes", body: "Too many requests, please try again later.\n", retryAfter: "1", code: "429"},
		"a failing check":  {fault: ClusterFault{HTTPStatus: 500}, path: "/readyz", body: "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nreadyz check failed\n", code: "500"},
		"an internal one":  {fault: ClusterFault{HTTPStatus: 500, StatusMessage: "etcdserver: request timed out"}, path: "/api/v1/nodes", status: metav1.Status{Message: "etcdserver: request timed out", Reason: "InternalError", Code: 500, Details: &metav1.StatusDetails{}}, code: "InternalError"},
		"unavailable":      {fault: ClusterFault{HTTPStatus: 503}, path: "/api/v1/nodes", status: metav1.Status{Message: "the server is currently unable to handle the request", Reason: "ServiceUnavailable", Code: 503, Details: &metav1.StatusDetails{}}, code: "ServiceUnavailable"},
		"denied by a mesh": {fault: ClusterFault{HTTPStatus: 403, StatusMessage: "no"}, path: "/readyz", status: metav1.Status{Message: "no", Reason: "Forbidden", Code: 403, Details: &metav1.StatusDetails{}}, code: "Forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			k.change(func(c *Cluster) { c.Fault = test.fault })
			got := k.do(t, "GET "+test.path, "", "")
			wantSame(t, got.status, test.fault.HTTPStatus)
			wantSame(t, got.header.Get("Retry-After"), test.retryAfter)
			if test.body != "" {
				wantSame(t, got.body, test.body)
			} else {
				test.status.TypeMeta, test.status.Status = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, "Failure"
				var status metav1.Status
				must(t, json.Unmarshal([]byte(got.body), &status))
				wantSame(t, status, test.status)
			}
			calls := k.calls()
			wantSame(t, len(calls), 1)
			wantSame(t, calls[0].Code, test.code)
		})
	}
}

// TestDateIsTheSandboxClock: the apiserver's Date header is what a clock skew is measured from.
func TestDateIsTheSandboxClock(t *testing.T) {
	k := newKubeCluster(t)
	k.state.ShiftClock(7 * time.Minute)
	date, err := http.ParseTime(k.do(t, "GET /readyz", "", "").header.Get("Date"))
	must(t, err)
	if skew := time.Until(date); skew < 6*time.Minute || skew > 8*time.Minute {
		t.Errorf("the skew is %s", skew)
	}
}

func TestRefused(t *testing.T) {
	address, err := Refused()
	must(t, err)
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func TestBlackhole(t *testing.T) {
	hole, err := NewBlackhole()
	must(t, err)
	for range 3 {
		_, err := (&net.Dialer{Timeout: 50 * time.Millisecond}).DialContext(t.Context(), "tcp", hole.Addr())
		if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("got %v, want a timeout", err)
		}
	}
	must(t, hole.Close())
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", hole.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after closing: %v", err)
	}
}
