// Tests of the trace: which phase is open when its hooks are called as net/http calls them, and what it shows as evidence.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var errRefused = errors.New("refused")

// What net/http reports, in its order.
func lookedUp(h *httptrace.ClientTrace, err error) {
	h.DNSStart(httptrace.DNSStartInfo{})
	time.Sleep(time.Millisecond)
	h.DNSDone(httptrace.DNSDoneInfo{Err: err})
}

func connected(h *httptrace.ClientTrace, address string, err error) {
	h.ConnectStart("tcp", address)
	time.Sleep(2 * time.Millisecond)
	h.ConnectDone("tcp", address, err)
}

func shaken(h *httptrace.ClientTrace, err error, shown ...*x509.Certificate) {
	h.TLSHandshakeStart()
	time.Sleep(4 * time.Millisecond)
	h.TLSHandshakeDone(tls.ConnectionState{PeerCertificates: shown}, err)
}

func TestTheOpenPhase(t *testing.T) {
	for name, c := range map[string]struct {
		proxied, secure bool
		reports         func(*httptrace.ClientTrace)
		want            Phase
	}{
		"nothing began":            {false, true, func(*httptrace.ClientTrace) {}, PhaseNone},
		"a look-up that failed":    {false, true, func(h *httptrace.ClientTrace) { lookedUp(h, errRefused) }, PhaseDNS},
		"a look-up":                {false, true, func(h *httptrace.ClientTrace) { lookedUp(h, nil) }, PhaseTCP},
		"an address that refuses":  {false, true, func(h *httptrace.ClientTrace) { connected(h, "a", errRefused) }, PhaseTCP},
		"a connection for TLS":     {false, true, func(h *httptrace.ClientTrace) { connected(h, "a", nil) }, PhaseTLS},
		"a connection without TLS": {false, false, func(h *httptrace.ClientTrace) { connected(h, "a", nil) }, PhaseHTTP},
		"a connection to a proxy":  {true, true, func(h *httptrace.ClientTrace) { connected(h, "a", nil) }, PhaseProxy},
		"a handshake that failed":  {false, true, func(h *httptrace.ClientTrace) { shaken(h, errRefused) }, PhaseTLS},
		"a handshake":              {false, true, func(h *httptrace.ClientTrace) { shaken(h, nil) }, PhaseHTTP},
		"a kept connection":        {false, true, func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{Reused: true}) }, PhaseHTTP},
		"phases only go forward":   {false, true, func(h *httptrace.ClientTrace) { shaken(h, nil); connected(h, "b", nil) }, PhaseHTTP},
	} {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{Proxied: c.proxied, Secure: c.secure}
			c.reports(trace.hooks())
			if got := trace.Finish().Open; got != c.want {
				t.Errorf("the phase %s is open, want %s", got, c.want)
			}
		})
	}
}

func TestTheTimeOfAProxyIsCountedToTCP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &Trace{Proxied: true, Secure: true}
		h := trace.hooks()
		lookedUp(h, nil)
		connected(h, "192.0.2.1:3128", errRefused)
		connected(h, "192.0.2.2:3128", nil)
		time.Sleep(8 * time.Millisecond) // in the tunnel
		shaken(h, nil)
		time.Sleep(16 * time.Millisecond)
		seen := trace.Finish()
		facts := seen.Facts()
		for fact, want := range map[chain.Fact]string{
			chain.FactAddress: "192.0.2.2:3128", chain.FactDNSTime: "1.0", chain.FactTCPTime: "12.0", chain.FactTLSTime: "4.0", chain.FactHTTPTime: "16.0",
		} {
			if facts[fact] != want {
				t.Errorf("%s is %q, want %q", fact, facts[fact], want)
			}
		}
		if seen.Duration() != 33*time.Millisecond {
			t.Errorf("all took %s", seen.Duration())
		}
	})
}

func TestAddressesThatDidNotConnect(t *testing.T) {
	trace := &Trace{}
	h := trace.hooks()
	connected(h, "192.0.2.1:443", errRefused)
	h.ConnectStart("tcp", "192.0.2.2:443")
	seen := trace.Finish()
	if got := seen.Facts()[chain.FactAddress]; got != "192.0.2.1:443, 192.0.2.2:443" {
		t.Errorf("the addresses are %q", got)
	}
	if len(seen.Tried) != 2 || !errors.Is(seen.Tried[0].Err, errRefused) || seen.Tried[1].Err != nil {
		t.Errorf("tried %v", seen.Tried)
	}
}

// A certificate that is not accepted is shown all the same.
func TestWhatTheServerShowed(t *testing.T) {
	leaf := &x509.Certificate{NotAfter: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	for name, report := range map[string]func(*httptrace.ClientTrace){
		"accepted": func(h *httptrace.ClientTrace) { shaken(h, nil, leaf) },
		"refused": func(h *httptrace.ClientTrace) {
			shaken(h, &tls.CertificateVerificationError{UnverifiedCertificates: []*x509.Certificate{leaf}, Err: errRefused})
		},
	} {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{Secure: true}
			report(trace.hooks())
			if got := trace.Finish().Facts()[chain.FactTLSNotAfter]; got != "2030-01-02T03:04:05Z" {
				t.Errorf("the certificate ends %q", got)
			}
		})
	}
}

// A dial that goes on after its request is nobody's evidence.
func TestNothingIsSeenAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &Trace{Secure: true}
		h := trace.hooks()
		lookedUp(h, nil)
		first := trace.Finish()
		time.Sleep(time.Second)
		connected(h, "192.0.2.1:443", nil)
		shaken(h, nil, &x509.Certificate{})
		trace.AskedForCertificate()
		h.GotFirstResponseByte()
		last := trace.Finish()
		if last.Open != PhaseTCP || last.Connected != "" || len(last.Certificates) > 0 || last.Asked || last.Answering || last.Duration() != first.Duration() {
			t.Errorf("after the end the trace saw %+v", last)
		}
	})
}

func TestADurationOfNothing(t *testing.T) {
	if got := new(Trace).Finish().Duration(); got != 0 {
		t.Errorf("nothing took %s", got)
	}
}

func TestPhasesHaveNames(t *testing.T) {
	known := map[string]Phase{}
	for p := PhaseNone; p <= PhaseHTTP; p++ {
		if other, twice := known[p.String()]; twice {
			t.Errorf("the phases %d and %d are both %s", other, p, p)
		}
		known[p.String()] = p
	}
	if got := (PhaseHTTP + 1).String(); got != "Phase(6)" {
		t.Errorf("what is no phase is called %q", got)
	}
}
