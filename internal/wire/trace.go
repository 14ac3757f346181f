// The trace follows one request through its phases with net/http/httptrace: when each began, what was dialled, which certificates were shown.
//
// SPDX-License-Identifier: Apache-2.0

// Package wire is what kube and request share, which both probe over connections of their own: the phases of a request, the certificates that it is shown, the proxy on its way, and how their errors
// are told apart. What an error means in a chain is its caller's to say.
package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"
)

// UserAgent is how the exporter calls itself to those that it probes.
const UserAgent = "eks-slo-exporter"

// Trace watches one request. Proxied and Secure are set before it begins.
//
// It is safe for concurrent use: net.Dialer tries addresses side by side, and may still report on one when the request has ended. What comes after Finish is ignored.
type Trace struct {
	Proxied bool // through an HTTP proxy, in a tunnel or not
	Secure  bool // https

	mu   sync.Mutex
	seen Seen
}

// Follow returns a context whose requests report to the trace.
func (t *Trace) Follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, t.hooks())
}

// Begin begins a phase that no hook tells of.
func (t *Trace) Begin(next Phase) { t.enter(next, nil) }

// AskedForCertificate notes that the server asked for a client certificate.
func (t *Trace) AskedForCertificate() { t.enter(PhaseTLS, func() { t.seen.Asked = true }) }

// Finish ends the trace, and returns what it saw until it was first called.
func (t *Trace) Finish() Seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.ended.IsZero() {
		t.seen.ended = time.Now()
	}
	return t.seen
}

// enter begins a phase. Phases only go forward; a second address that is dialled belongs to the same phase.
func (t *Trace) enter(next Phase, also func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.seen.ended.IsZero() {
		return
	}
	if next > t.seen.Open {
		t.seen.Open, t.seen.began[next] = next, time.Now()
	}
	if also != nil {
		also()
	}
}

// hooks report to the trace. A phase that ended in an error stays the open one.
func (t *Trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { t.Begin(PhaseDNS) },
		DNSDone: func(done httptrace.DNSDoneInfo) {
			if done.Err == nil {
				t.Begin(PhaseTCP)
			}
		},
		ConnectStart:         func(_, address string) { t.dialled(address, nil) },
		ConnectDone:          func(_, address string, err error) { t.dialDone(address, err) },
		TLSHandshakeStart:    func() { t.Begin(PhaseTLS) },
		TLSHandshakeDone:     t.handshakeDone,
		GotConn:              func(httptrace.GotConnInfo) { t.Begin(PhaseHTTP) },
		GotFirstResponseByte: func() { t.enter(PhaseHTTP, func() { t.seen.Answering = true }) },
	}
}

func (t *Trace) dialDone(address string, err error) {
	if err != nil {
		t.dialled(address, err)
		return
	}
	next := PhaseHTTP
	switch {
	case t.Proxied:
		next = PhaseProxy
	case t.Secure:
		next = PhaseTLS
	}
	t.enter(next, func() {
		if t.seen.Connected == "" {
			t.seen.Connected = address
		}
	})
}

// dialled notes an attempt, or how it ended.
func (t *Trace) dialled(address string, err error) {
	t.enter(PhaseTCP, func() {
		if at := slices.IndexFunc(t.seen.Tried, func(a Attempt) bool { return a.Address == address }); at >= 0 {
			t.seen.Tried[at].Err = err
			return
		}
		t.seen.Tried = append(t.seen.Tried, Attempt{address, err})
	})
}

// handshakeDone notes what was shown, also when it was not accepted.
func (t *Trace) handshakeDone(state tls.ConnectionState, err error) {
	if err == nil {
		t.enter(PhaseHTTP, func() { t.seen.Certificates = state.PeerCertificates })
		return
	}
	if broken, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		t.enter(PhaseTLS, func() { t.seen.Certificates = broken.UnverifiedCertificates })
	}
}

// Attempt is one address that was dialled and did not connect; Err is nil while the dial goes on.
type Attempt struct {
	Address string
	Err     error
}

// Seen is what a finished trace saw. It is not changed any more.
type Seen struct {
	Open         Phase               // the phase in which the request was at its end; a deadline is blamed on it
	Tried        []Attempt           // the addresses that did not connect, or not yet
	Connected    string              // the address that did; "" none
	Certificates []*x509.Certificate // that the server showed, leaf first, whether they were accepted or not
	Asked        bool                // the server asked for a client certificate
	Answering    bool                // the first byte of an answer came

	began [PhaseHTTP + 1]time.Time
	ended time.Time
}
