// Certificates that are not good and servers that speak no TLS, each told apart in the detail.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

func TestCertificatesThatAreNotGood(t *testing.T) {
	now := time.Now()
	ca, other := newCA(t), newCA(t)
	later := func(o *Options) { o.Now = func() time.Time { return now.Add(11 * 365 * 24 * time.Hour) } } // the sandbox's authorities live for ten years
	for name, c := range map[string]struct {
		shown  tls.Certificate
		change func(*Options)
		sni    string
		want   verdict
	}{
		"expired":                      {issue(t, ca, now.Add(-time.Hour), "127.0.0.1"), nil, "", verdict{chain.ReasonTLSFailure, "ended at " + now.Add(-time.Hour).UTC().Format("2006-01-02T15")}},
		"expired by the given clock":   {issue(t, ca, now.Add(time.Hour), "127.0.0.1"), func(o *Options) { o.Now = func() time.Time { return now.Add(2 * time.Hour) } }, "", verdict{chain.ReasonTLSFailure, "if the clock is off"}},
		"not yet valid":                {issue(t, ca, now.Add(23*time.Hour), "127.0.0.1"), nil, "", verdict{chain.ReasonTLSFailure, "is not valid before"}},
		"an authority that ended":      {issue(t, ca, now.Add(11*365*24*time.Hour+time.Hour), "127.0.0.1"), later, "", verdict{chain.ReasonTLSFailure, `the certificate authority "CN=eks-slo sandbox", which signed`}},
		"another name":                 {issue(t, ca, time.Time{}, "other.test"), nil, "", verdict{chain.ReasonTLSFailure, "is trusted, and not for the name 127.0.0.1: x509"}},
		"another name than the SNI":    {issue(t, ca, time.Time{}, "127.0.0.1"), nil, shop, verdict{chain.ReasonTLSFailure, "not for the name " + shop}},
		"another authority":            {issue(t, other, time.Time{}, "127.0.0.1"), nil, "", verdict{chain.ReasonTLSFailure, `was issued by "CN=eks-slo sandbox", and no authority of the system vouches`}},
		"another authority and name":   {issue(t, other, time.Time{}, "other.test"), nil, "", verdict{chain.ReasonTLSFailure, "vouches for that; it is not for the name 127.0.0.1 either"}},
		"expired and for another name": {issue(t, ca, now.Add(-time.Hour), "other.test"), nil, "", verdict{chain.ReasonTLSFailure, "may be good; it is not for the name 127.0.0.1 either"}},
		"nobody is trusted here":       {issue(t, ca, time.Time{}, "127.0.0.1"), func(o *Options) { o.Roots = x509.NewCertPool() }, "", verdict{chain.ReasonReadFailed, "this machine has no certificate authorities"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, hello, func(s *server) { s.TLS.Certificates = []tls.Certificate{c.shown} })
			options := trusting(ca)
			if c.change != nil {
				c.change(&options)
			}
			_, facts, _ := check(t, options, chain.Request{URL: s.URL, SNI: c.sni, Timeout: ample}, c.want)
			wantPhases(t, facts, chain.FactTCPTime, chain.FactTLSTime)
			if facts[chain.FactTLSSubject] != c.shown.Leaf.Subject.String() || facts[chain.FactTLSNotAfter] != c.shown.Leaf.NotAfter.UTC().Format(time.RFC3339) {
				t.Errorf("facts %v: not those of the certificate that was shown", facts)
			}
			if s.requests != 0 {
				t.Error("the request was sent")
			}
		})
	}
}

func TestTheSystemsAuthoritiesTrustNoSandbox(t *testing.T) {
	pool, err := x509.SystemCertPool()
	want := verdict{chain.ReasonTLSFailure, "no authority of the system vouches"}
	if err != nil || pool.Equal(x509.NewCertPool()) {
		want = verdict{chain.ReasonReadFailed, "this machine has no certificate authorities"}
	}
	check(t, trusting(nil), chain.Request{URL: serve(t, hello).URL, Timeout: ample}, want)
}

// talk is a server that reads what comes first, writes a text and ends; or hangs after it.
func talk(text string, then func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, text)
		then(conn)
	}
}

func closes(conn net.Conn) { conn.Close() }

// resets ends a connection with a RST.
func resets(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// secured makes a server speak TLS.
func secured(t testing.TB, ca *sandbox.CA, handle func(net.Conn), protocols ...string) func(net.Conn) {
	certificate := issue(t, ca, time.Time{}, "127.0.0.1")
	return func(conn net.Conn) {
		secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: protocols})
		if secure.Handshake() == nil {
			handle(secure)
		}
	}
}

func TestHandshakesThatBreak(t *testing.T) {
	for name, c := range map[string]struct {
		handle  func(net.Conn)
		timeout time.Duration
		want    verdict
	}{
		"hangs":             {wiretest.Hang, brief, verdict{chain.ReasonTLSFailure, "did not finish the TLS handshake in time"}},
		"speaks HTTP":       {talk("HTTP/1.1 400 Bad Request\r\n\r\n", closes), ample, verdict{chain.ReasonTLSFailure, "does not speak TLS: it answered the handshake with plain HTTP"}},
		"speaks SSH":        {talk("SSH-2.0-OpenSSH_9.9\r\n", closes), ample, verdict{chain.ReasonTLSFailure, "does not speak TLS"}},
		"refuses":           {talk("\x15\x03\x01\x00\x02\x02\x28", closes), ample, verdict{chain.ReasonTLSFailure, "refused the TLS handshake for the name 127.0.0.1: remote error: tls: handshake failure"}},
		"knows no such SNI": {talk("\x15\x03\x01\x00\x02\x02\x70", closes), ample, verdict{chain.ReasonTLSFailure, "unrecognized name"}},
		"closes":            {talk("", closes), ample, verdict{chain.ReasonTCPFailure, "ended it in the TLS handshake, without a word of TLS"}},
		"resets":            {talk("", resets), ample, verdict{chain.ReasonTCPFailure, "ended it in the TLS handshake, without a word of TLS"}},
		"closes at once":    {closes, ample, verdict{chain.ReasonTCPFailure, "ended it in the TLS handshake"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, facts, _ := check(t, trusting(nil), chain.Request{URL: "https://" + wiretest.Listen(t, c.handle), Timeout: c.timeout}, c.want)
			wantPhases(t, facts, chain.FactTCPTime, chain.FactTLSTime)
		})
	}
}

func TestAClientCertificateIsAskedFor(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for auth, want := range map[tls.ClientAuthType]verdict{
			tls.RequireAnyClientCert: {chain.ReasonTLSFailure, "asked for a client certificate, got none, and ended the connection without an answer"},
			tls.RequestClientCert:    {},
		} {
			s := serve(t, hello, func(s *server) { s.TLS.ClientAuth, s.TLS.MaxVersion = auth, version })
			check(t, trusting(s.ca), chain.Request{URL: s.URL, Timeout: ample}, want)
		}
	}
}

func TestAnOldTLSVersion(t *testing.T) {
	s := serve(t, hello, func(s *server) { s.TLS.MinVersion, s.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	check(t, trusting(s.ca), chain.Request{URL: s.URL, Timeout: ample}, verdict{chain.ReasonTLSFailure, "refused the TLS handshake for the name 127.0.0.1: remote error: tls: protocol version not supported"})
}
