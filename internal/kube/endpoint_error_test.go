// Each way in which a connection breaks, made for real on loopback, and the one reason that it must get.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

// dialFails dials and wants a failure of the endpoint; the error's facts must be those returned.
func dialFails(t *testing.T, options Options, endpoint Endpoint, d time.Duration, reason chain.Reason) *chain.Error {
	t.Helper()
	begun := time.Now()
	conn, facts, err := newTestDialer(t, options).Dial(within(t, d), endpoint)
	if conn != nil {
		t.Error("a connection came with the error")
	}
	if took := time.Since(begun); took > d+5*time.Second {
		t.Errorf("took %v with a deadline of %v", took, d)
	}
	e := wantFailure(t, err, chain.StepEndpoint, reason)
	if facts[chain.FactHost] == "" || e.Facts[chain.FactHost] != facts[chain.FactHost] {
		t.Errorf("facts %v, error's facts %v", facts, e.Facts)
	}
	return e
}

func has(t *testing.T, e *chain.Error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(e.Detail, part) {
			t.Errorf("detail %q lacks %q", e.Detail, part)
		}
	}
}

func TestC52DNSOutcomes(t *testing.T) {
	nxdomain, servfail, refused := dnsmessage.RCodeNameError, dnsmessage.RCodeServerFailure, dnsmessage.RCodeRefused
	ca := newCA(t, "ca", time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		code   *dnsmessage.RCode
		within time.Duration
		reason chain.Reason
		detail string
	}{
		"NXDOMAIN":  {&nxdomain, ample, chain.ReasonDNSNXDomain, "the resolver knows no address for the name gone.test"},
		"SERVFAIL":  {&servfail, ample, chain.ReasonDNSFailure, "server misbehaving"},
		"REFUSED":   {&refused, ample, chain.ReasonDNSFailure, "looking up gone.test"},
		"no answer": {nil, brief, chain.ReasonDNSFailure, "no answer from the resolver for gone.test in time"},
	} {
		t.Run(name, func(t *testing.T) {
			options := directOptions()
			options.Resolver = resolver(t, c.code)
			e := dialFails(t, options, Endpoint{URL: "https://gone.test", CA: ca.pem}, c.within, c.reason)
			has(t, e, c.detail)
			if e.Facts[chain.FactDNSTime] == "" || e.Facts[chain.FactTCPTime] != "" {
				t.Errorf("facts %v: DNS was reached and TCP was not", e.Facts)
			}
		})
	}
}

// A name without an address of the family asked for (NODATA) is not told from one that does not exist.
func TestANameWithoutAnAddressIsNotFound(t *testing.T) {
	exists := dnsmessage.RCodeSuccess
	_, err := resolver(t, &exists).LookupNetIP(within(t, ample), "ip6", "here.test.")
	if got := testConn().dnsError(err, false); got.reason != chain.ReasonDNSNXDomain || !strings.Contains(got.detail, "knows no address") {
		t.Errorf("%v: %+v", err, got)
	}
}

func TestTCPRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	e := dialFails(t, directOptions(), Endpoint{URL: "https://" + address, CA: newCA(t, "ca", time.Now().Add(time.Hour)).pem}, ample, chain.ReasonTCPRefused)
	has(t, e, address+" refused the connection")
	if e.Facts[chain.FactAddress] != address || !errors.Is(e, syscall.ECONNREFUSED) {
		t.Errorf("facts %v, cause %v", e.Facts, e.Err)
	}
}

// fullQueue listens with an accept queue that is full: further SYNs get no answer, as behind a security group that drops them.
func fullQueue(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 16 {
		conn, err := net.DialTimeout("tcp", address, brief)
		if err != nil {
			return address
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the accept queue never filled")
	return ""
}

func TestC49TCPTimeout(t *testing.T) {
	address := fullQueue(t)
	e := dialFails(t, directOptions(), Endpoint{URL: "https://" + address, CA: newCA(t, "ca", time.Now().Add(time.Hour)).pem}, brief, chain.ReasonTCPTimeout)
	has(t, e, "no answer in time")
	if e.Facts[chain.FactAddress] != address || e.Facts[chain.FactTCPTime] == "" || e.Facts[chain.FactTLSTime] != "" || !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("facts %v, cause %v", e.Facts, e.Err)
	}
}

func TestTLSFailures(t *testing.T) {
	now := time.Now()
	ca, other, dead := newCA(t, "cluster CA", now.Add(10*time.Hour)), newCA(t, "corporate proxy CA", now.Add(10*time.Hour)), newCA(t, "cluster CA", now.Add(-time.Hour))
	for name, c := range map[string]struct {
		shown  tls.Certificate
		roots  testCA
		reason chain.Reason
		detail string
	}{
		"another CA":          {other.issue(t, now.Add(time.Hour)), ca, chain.ReasonTLSCAMismatch, `issued by "CN=corporate proxy CA"`},
		"another of the name": {dead.issue(t, now.Add(time.Hour)), ca, chain.ReasonTLSCAMismatch, "does not chain to the cluster's certificate authority"},
		"expired":             {ca.issue(t, now.Add(-time.Hour)), ca, chain.ReasonTLSExpired, "if the clock is off"},
		"not yet valid":       {ca.issue(t, now.Add(23*time.Hour)), ca, chain.ReasonTLSExpired, "is not valid before"},
		"expired CA":          {dead.issue(t, now.Add(time.Hour)), dead, chain.ReasonTLSExpired, `the certificate authority "CN=cluster CA", which signed`},
		"another name":        {ca.issue(t, now.Add(time.Hour), "other.test"), ca, chain.ReasonTLSNameMismatch, "it is signed by the cluster's certificate authority"},
		"another server":      {other.issue(t, now.Add(time.Hour), "other.test"), ca, chain.ReasonTLSCAMismatch, "it is not for this name either"},
		"another name, dead":  {dead.issue(t, now.Add(time.Hour), "other.test"), dead, chain.ReasonTLSExpired, `the certificate authority "CN=cluster CA", which signed`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, ready(http.NotFoundHandler()), func(s *httptest.Server) { s.TLS.Certificates = []tls.Certificate{c.shown} })
			e := dialFails(t, directOptions(), Endpoint{URL: s.URL, CA: c.roots.pem}, ample, c.reason)
			has(t, e, c.detail)
			if e.Facts[chain.FactTLSSubject] != "CN=kube-apiserver" || e.Facts[chain.FactTLSNotAfter] == "" || e.Facts[chain.FactHTTPTime] != "" {
				t.Errorf("facts %v: the certificate was seen and HTTP was not reached", e.Facts)
			}
		})
	}
}

func TestCertificatesAreJudgedByTheGivenClock(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	options := directOptions()
	options.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	dialFails(t, options, s.endpoint(), ample, chain.ReasonTLSExpired)
}

func TestNotTLSAndSilence(t *testing.T) {
	ca := newCA(t, "ca", time.Now().Add(time.Hour))
	certificate := ca.issue(t, time.Now().Add(time.Hour))
	secure := func(handle func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) {
			handle(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}}))
		}
	}
	send := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			conn.Read(make([]byte, 4096))
			io.WriteString(conn, text)
			conn.Close()
		}
	}
	begin := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			conn.Read(make([]byte, 4096))
			io.WriteString(conn, text)
			wiretest.Hang(conn)
		}
	}
	for name, c := range map[string]struct {
		handle func(net.Conn)
		within time.Duration
		reason chain.Reason
		detail string
	}{
		"hangs after accept":   {wiretest.Hang, brief, chain.ReasonTLSFailure, "did not finish the TLS handshake in time"},
		"closes after accept":  {func(c net.Conn) { c.Close() }, ample, chain.ReasonTLSFailure, "the TLS handshake with 127.0.0.1"},
		"speaks HTTP":          {send("HTTP/1.1 400 Bad Request\r\n\r\n"), ample, chain.ReasonTLSFailure, "does not speak TLS"},
		"speaks SSH":           {send("SSH-2.0-OpenSSH_9.9\r\n"), ample, chain.ReasonTLSFailure, "does not speak TLS"},
		"sends an alert":       {send("\x15\x03\x01\x00\x02\x02\x28"), ample, chain.ReasonTLSFailure, "handshake failure"},
		"hangs after TLS":      {secure(wiretest.Hang), brief, chain.ReasonHTTPTimeout, "TLS was up"},
		"closes after TLS":     {secure(send("")), ample, chain.ReasonAPIServerError, "gave no whole answer"},
		"garbage after TLS":    {secure(send("\x00\xff\xfegarbage\r\n\r\n")), ample, chain.ReasonAPIServerError, "malformed HTTP"},
		"half an answer":       {secure(send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")), ample, chain.ReasonAPIServerError, "unexpected EOF"},
		"endless header":       {secure(send("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 2*maxHeaders))), ample, chain.ReasonAPIServerError, "exceeded"},
		"stops inside a body":  {secure(begin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")), brief, chain.ReasonHTTPTimeout, "in time"},
		"drips a slow body":    {secure(drip), brief, chain.ReasonHTTPTimeout, "in time"},
		"drips a slow header":  {secure(begin("HTTP/1.1 200")), brief, chain.ReasonHTTPTimeout, "in time"},
		"an answer of 2 MiB":   {secure(send("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("a", 2*maxBody))), ample, chain.ReasonAPIServerError, "larger than 1 MiB"},
		"a redirect":           {secure(send("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")), ample, chain.ReasonAPIServerError, "answered 302"},
		"a Date of long ago":   {secure(send("HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 0001 00:00:00 GMT\r\nContent-Length: 1\r\n\r\nx")), ample, chain.ReasonAPIServerError, "answered 200"},
		"a switch of protocol": {secure(send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")), ample, chain.ReasonAPIServerError, "answered 101"},
	} {
		t.Run(name, func(t *testing.T) {
			e := dialFails(t, directOptions(), Endpoint{URL: "https://" + wiretest.Listen(t, c.handle), CA: ca.pem}, c.within, c.reason)
			has(t, e, c.detail)
		})
	}
}

// drip sends a chunk of one byte every tenth of the brief deadline, for ever.
func drip(conn net.Conn) {
	conn.Read(make([]byte, 4096))
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	ticker := time.NewTicker(brief / 10)
	defer ticker.Stop()
	for range ticker.C {
		if _, err := io.WriteString(conn, "1\r\no\r\n"); err != nil {
			return
		}
	}
}

func TestReadyzAnswers(t *testing.T) {
	const page = "<html><body><h1>403 Forbidden</h1>\xff corporate gateway</body></html>"
	deep := strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)
	for name, c := range map[string]struct {
		status int
		body   string
		reason chain.Reason // "": success
		detail string
	}{
		"ready":                       {200, "ok", "", ""},
		"anonymous access forbidden":  {403, statusBody(403, "Forbidden", `forbidden: User "system:anonymous" cannot get path "/readyz"`), "", ""},
		"anonymous access off":        {401, statusBody(401, "Unauthorized", "Unauthorized"), "", ""},
		"C55 a page of 403":           {403, page, chain.ReasonProxyDenied, "without a Kubernetes Status"},
		"403 of deep JSON":            {403, deep, chain.ReasonProxyDenied, "not RBAC"},
		"403 of a successful Status":  {403, `{"kind":"Status","status":"Success"}`, chain.ReasonProxyDenied, "not RBAC"},
		"407":                         {407, "", chain.ReasonProxyDenied, "answered 407"},
		"401 of something else":       {401, page, chain.ReasonAPIServerError, "a 401 without a Kubernetes Status"},
		"a page of 200":               {200, page, chain.ReasonAPIServerError, "not as an apiserver does: <html>"},
		"404":                         {404, "404 page not found\n", chain.ReasonAPIServerError, "404 page not found"},
		"not ready":                   {500, "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\nreadyz check failed", chain.ReasonAPIServerError, "answered 500: [-]etcd failed: reason withheld"},
		"503 of a load balancer":      {503, "no healthy upstream", chain.ReasonAPIServerError, "answered 503: no healthy upstream"},
		"C58 storage is initializing": {429, statusBody(429, "TooManyRequests", "storage is (re)initializing"), chain.ReasonAPIServerStorageInitializing, "is starting: storage is (re)initializing"},
		"429 of something in front":   {429, "<html><h1>429 Too Many Requests</h1></html>", chain.ReasonAPIServerError, "answered 429, not as an apiserver does"},
		"429 with a Status":           {429, statusBody(429, "TooManyRequests", "too many requests"), chain.ReasonAPIServerFlowControl, "sheds load: too many requests"},
		"flow control":                {429, "Too many requests, please try again later.\n", chain.ReasonAPIServerFlowControl, "sheds load: Too many requests"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, says(c.status, "text/plain", c.body))
			if c.reason != "" {
				e := dialFails(t, directOptions(), s.endpoint(), ample, c.reason)
				has(t, e, c.detail)
				if e.Facts[chain.FactHTTPStatus] != fmt.Sprint(c.status) || len(e.Detail) > 1200 {
					t.Errorf("status %q, detail of %d bytes", e.Facts[chain.FactHTTPStatus], len(e.Detail))
				}
				return
			}
			conn, facts, err := newTestDialer(t, directOptions()).Dial(within(t, ample), s.endpoint())
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
			if facts[chain.FactHTTPStatus] != fmt.Sprint(c.status) {
				t.Errorf("facts %v", facts)
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := serve(t, ready(http.NotFoundHandler()))
	s := serve(t, http.RedirectHandler(elsewhere.URL+"/readyz", http.StatusFound))
	endpoint := s.endpoint()
	endpoint.CA = append(endpoint.CA, elsewhere.ca.pem...)
	dialFails(t, directOptions(), endpoint, ample, chain.ReasonAPIServerError)
	if connections, _ := elsewhere.count(); connections != 0 {
		t.Errorf("%d connections to where the redirect points", connections)
	}
}

func TestFailedDialClosesItsConnection(t *testing.T) {
	ca := newCA(t, "ca", time.Now().Add(time.Hour))
	certificate := ca.issue(t, time.Now().Add(time.Hour))
	closed := make(chan struct{})
	address := wiretest.Listen(t, func(raw net.Conn) {
		conn := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{certificate}})
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
		wiretest.Hang(conn)
		close(closed)
	})
	dialFails(t, directOptions(), Endpoint{URL: "https://" + address, CA: ca.pem}, ample, chain.ReasonAPIServerError)
	select {
	case <-closed:
	case <-within(t, ample).Done():
		t.Error("the connection stays open")
	}
}

func TestDeadlineIsFoundBehindItsCause(t *testing.T) {
	cause := errors.New("step endpoint took its time")
	ctx, cancel := context.WithTimeoutCause(context.Background(), brief, cause)
	defer cancel()
	ca := newCA(t, "ca", time.Now().Add(time.Hour))
	_, _, err := newTestDialer(t, directOptions()).Dial(ctx, Endpoint{URL: "https://" + wiretest.Listen(t, wiretest.Hang), CA: ca.pem})
	wantFailure(t, err, chain.StepEndpoint, chain.ReasonTLSFailure)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) {
		t.Errorf("error %v, want the deadline and its cause in it", errors.Unwrap(err))
	}
}
