// The other side of the wire for the tests: TLS servers, raw listeners and a resolver, all on loopback.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const (
	ample = 20 * time.Second
	brief = 300 * time.Millisecond
	shop  = "shop.example.test"
)

func newCA(t testing.TB) *sandbox.CA {
	t.Helper()
	ca, err := sandbox.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// issue makes a certificate that ends at a time; zero: in a year.
func issue(t testing.TB, ca *sandbox.CA, end time.Time, names ...string) tls.Certificate {
	t.Helper()
	options := sandbox.IssueOptions{Names: names, NotAfter: end}
	if !end.IsZero() {
		options.NotBefore = end.Add(-20 * time.Hour)
	}
	certificate, err := ca.Issue(options)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// server is a load balancer on loopback that counts its connections.
type server struct {
	*httptest.Server
	ca *sandbox.CA

	mu       sync.Mutex
	dialled  int
	resumed  int
	requests int
	sni      string
}

// serve starts a TLS server for 127.0.0.1 and shop.example.test.
func serve(t testing.TB, handler http.HandlerFunc, change ...func(*server)) *server {
	t.Helper()
	s := &server{ca: newCA(t)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests++
		s.mu.Unlock()
		handler(w, r)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, s.ca, time.Time{}, "127.0.0.1", shop)}}
	s.TLS.VerifyConnection = func(state tls.ConnectionState) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sni = state.ServerName
		if state.DidResume {
			s.resumed++
		}
		return nil
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.dialled++
			s.mu.Unlock()
		}
	}
	for _, f := range change {
		f(s)
	}
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

// trusting are options without a proxy that trust the authority.
func trusting(ca *sandbox.CA) Options {
	options := DefaultOptions()
	options.Proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	if ca != nil {
		options.Roots = ca.Pool()
	}
	return options
}

func newClient(t testing.TB, options Options) *Client {
	t.Helper()
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// dns is a server that knows every name, and options that ask it. Go's resolver would sit out its own 5 seconds on a silent one after the request has ended.
func dns(t testing.TB, options Options) (*sandbox.DNS, Options) {
	t.Helper()
	server, err := sandbox.NewDNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	options.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, server.Addr())
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}}
	return server, options
}

// caFile writes an authority to a file.
func caFile(t testing.TB, pem []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// closedPort is an address at which nobody listens.
func closedPort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// blackhole is an address that answers no attempt to connect.
func blackhole(t testing.TB) string {
	t.Helper()
	hole, err := sandbox.NewBlackhole()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hole.Close() })
	return hole.Addr()
}

// verdict is what a request must end in; no reason: no error.
type verdict struct {
	reason chain.Reason
	detail string // a part of it
}

// check makes a request that must end in a verdict: an unknown for a reason of the prober's own, else a failure of the step request.
func check(t *testing.T, options Options, request chain.Request, want verdict) (chain.Response, chain.Facts, *chain.Error) {
	t.Helper()
	begun := time.Now()
	response, facts, err := newClient(t, options).Do(t.Context(), request)
	if took := time.Since(begun); took > request.Timeout+5*time.Second {
		t.Errorf("took %v with a timeout of %v", took, request.Timeout)
	}
	if want.reason == "" {
		if err != nil {
			t.Fatalf("got error %v", err)
		}
		return response, facts, nil
	}
	return response, facts, wantError(t, err, want)
}

func wantError(t *testing.T, err error, want verdict) *chain.Error {
	t.Helper()
	var e *chain.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v (%T), want %s", err, err, want.reason)
	}
	outcome, step := chain.OutcomeFailure, chain.StepRequest
	if want.reason == chain.ReasonReadFailed || want.reason == chain.ReasonNotMeasurable {
		outcome, step = chain.OutcomeUnknown, chain.StepNone
	}
	if e.Outcome != outcome || e.Step != step || e.Reason != want.reason {
		t.Fatalf("got %v of %v, want %v of %v/%v", e.Outcome, e, outcome, step, want.reason)
	}
	if !strings.Contains(e.Detail, want.detail) {
		t.Errorf("detail %q lacks %q", e.Detail, want.detail)
	}
	return e
}

// wantPhases checks which phases have a time.
func wantPhases(t *testing.T, facts chain.Facts, want ...chain.Fact) {
	t.Helper()
	var got []chain.Fact
	for _, fact := range []chain.Fact{chain.FactDNSTime, chain.FactTCPTime, chain.FactTLSTime, chain.FactHTTPTime} {
		if facts[fact] != "" {
			got = append(got, fact)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the phases are %v, want %v", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("the phases are %v, want %v", got, want)
		}
	}
}

// named is the server's URL under a host name, which the tests' resolver knows.
func (s *server) named(host string) string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return "https://" + net.JoinHostPort(host, port)
}
