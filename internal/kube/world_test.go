// The other side of the wire for the tests: CAs, TLS servers, a DNS answerer, CONNECT proxies and raw listeners, all on loopback.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// testCA issues certificates of a test.
type testCA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newCA(t testing.TB, name string, until time.Time) testCA {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-20 * time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return testCA{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue makes a server certificate for 127.0.0.1 and names, valid for 20 hours until the given time.
func (ca testCA) issue(t testing.TB, until time.Time, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotBefore: until.Add(-20 * time.Hour), NotAfter: until, DNSNames: names,
	}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// server is a TLS server that counts its connections.
type server struct {
	*httptest.Server
	ca testCA

	mu      sync.Mutex
	dialled int
	resumed int
}

func (s *server) count() (connections, resumed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialled, s.resumed
}

func (s *server) endpoint() Endpoint {
	return Endpoint{ClusterName: "prod", URL: s.URL, CA: s.ca.pem}
}

// serve starts a server; /readyz answers ok unless the handler is asked for it too.
func serve(t testing.TB, handler http.Handler, change ...func(*httptest.Server)) *server {
	t.Helper()
	ca := newCA(t, "cluster CA", time.Now().Add(10*time.Hour))
	s := &server{ca: ca, Server: httptest.NewUnstartedServer(handler)}
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour))}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.dialled++
			s.mu.Unlock()
		}
	}
	s.TLS.VerifyConnection = func(state tls.ConnectionState) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if state.DidResume {
			s.resumed++
		}
		return nil
	}
	for _, f := range change {
		f(s.Server)
	}
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// ready wraps a handler with a /readyz that is.
func ready(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			io.WriteString(w, "ok")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// says answers everything with one status and body.
func says(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// statusBody is a Status as kube-apiserver writes it.
func statusBody(code int, reason, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"details":{"name":"x"},"code":%d}`, message, reason, code)
}

func directOptions() Options {
	options := DefaultOptions()
	options.Proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	return options
}

func newTestDialer(t testing.TB, options Options) *Dialer {
	t.Helper()
	dialer, err := NewDialer(options)
	if err != nil {
		t.Fatal(err)
	}
	return dialer
}

// within is a deadline for what must hang; it is generous for what must not.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

const (
	ample = 20 * time.Second
	brief = 300 * time.Millisecond
)

// connect dials a server that must be well.
func connect(t testing.TB, s *server) *Conn {
	t.Helper()
	conn, _, err := newTestDialer(t, directOptions()).Dial(within(t, ample), s.endpoint())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

var testToken = chain.Token{Value: chain.NewSecret("k8s-aws-v1.dGVzdA")}

// wantFailure checks outcome, step and reason, and returns the error.
func wantFailure(t *testing.T, err error, step chain.Step, reason chain.Reason) *chain.Error {
	t.Helper()
	var e *chain.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v (%T), want %v/%v", err, err, step, reason)
	}
	want := chain.OutcomeFailure
	if step == chain.StepNone {
		want = chain.OutcomeUnknown
	}
	if e.Outcome != want || e.Step != step || e.Reason != reason {
		t.Fatalf("got %v of %v, want %v of %v/%v", e.Outcome, e, want, step, reason)
	}
	return e
}

// resolver answers DNS queries on loopback with a response code, and 127.0.0.1 when that is success; a nil code leaves them unanswered.
func resolver(t testing.TB, code *dnsmessage.RCode) *net.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			var query dnsmessage.Message
			if query.Unpack(buffer[:n]) != nil || code == nil {
				continue
			}
			if reply, err := reply(query, *code); err == nil {
				socket.WriteTo(reply, from)
			}
		}
	})
	t.Cleanup(func() { socket.Close(); wait.Wait() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "udp", socket.LocalAddr().String())
		if err == nil { // Go's resolver would sit out its own 5 seconds
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}}
}

func reply(query dnsmessage.Message, code dnsmessage.RCode) ([]byte, error) {
	query.Response, query.RecursionAvailable, query.RCode, query.Additionals = true, true, code, nil
	if question := query.Questions[0]; code == dnsmessage.RCodeSuccess && question.Type == dnsmessage.TypeA {
		query.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	return query.Pack()
}

// newNamedServer is a ready server whose certificate is for a name.
func newNamedServer(t testing.TB, name string) *server {
	t.Helper()
	ca := newCA(t, "cluster CA", time.Now().Add(10*time.Hour))
	s := serve(t, ready(http.NotFoundHandler()), func(s *httptest.Server) {
		s.TLS.Certificates = []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), name)}
	})
	s.ca = ca
	return s
}
