// The trace follows one request through its phases with net/http/httptrace: when each began, what was dialled, which certificates were shown.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// phase is a part of a request, in the order in which they come.
type phase uint8

const (
	phaseNone phase = iota
	phaseDNS
	phaseTCP
	phaseProxy // the tunnel through a proxy; its time is counted to TCP, since the proxy dials the load balancer in it
	phaseTLS
	phaseHTTP // from the request to the end of the body
)

// String names a phase in a detail.
func (p phase) String() string {
	switch p {
	case phaseNone:
		return "none"
	case phaseDNS:
		return "DNS"
	case phaseTCP:
		return "TCP"
	case phaseProxy:
		return "proxy"
	case phaseTLS:
		return "TLS"
	case phaseHTTP:
		return "HTTP"
	}
	return fmt.Sprintf("phase(%d)", uint8(p))
}

// attempt is one address that was dialled and did not connect; err is nil while the dial goes on.
type attempt struct {
	address string
	err     error
}

// trace is safe for concurrent use: net.Dialer tries addresses side by side, and may still report on one when it has given up. What comes after finish is ignored.
type trace struct {
	proxied bool
	secure  bool // https

	mu           sync.Mutex
	phase        phase
	began        [phaseHTTP + 1]time.Time
	ended        time.Time
	tried        []attempt // those that did not connect, or not yet
	connected    string    // the address that did
	certificates []*x509.Certificate
	asked        bool // for a client certificate
	answering    bool // the first byte of an answer came
}

// enter begins a phase. Phases only go forward; a second address that is dialled belongs to the same phase.
func (t *trace) enter(next phase, also func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended.IsZero() {
		return
	}
	if next > t.phase {
		t.phase, t.began[next] = next, time.Now()
	}
	if also != nil {
		also()
	}
}

// finish ends the trace, once. The phase that is open then is the one that a deadline is blamed on.
func (t *trace) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended.IsZero() {
		t.ended = time.Now()
	}
}

// hooks report to the trace. A phase that ended in an error stays the open one.
func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { t.enter(phaseDNS, nil) },
		DNSDone: func(done httptrace.DNSDoneInfo) {
			if done.Err == nil {
				t.enter(phaseTCP, nil)
			}
		},
		ConnectStart:         func(_, address string) { t.dialled(address, nil) },
		ConnectDone:          func(_, address string, err error) { t.dialDone(address, err) },
		TLSHandshakeStart:    func() { t.enter(phaseTLS, nil) },
		TLSHandshakeDone:     t.handshakeDone,
		GotFirstResponseByte: func() { t.enter(phaseHTTP, func() { t.answering = true }) },
	}
}

func (t *trace) dialDone(address string, err error) {
	if err != nil {
		t.dialled(address, err)
		return
	}
	next := phaseHTTP
	switch {
	case t.proxied:
		next = phaseProxy
	case t.secure:
		next = phaseTLS
	}
	t.enter(next, func() {
		if t.connected == "" {
			t.connected = address
		}
	})
}

// dialled notes an attempt, or how it ended.
func (t *trace) dialled(address string, err error) {
	t.enter(phaseTCP, func() {
		if at := slices.IndexFunc(t.tried, func(a attempt) bool { return a.address == address }); at >= 0 {
			t.tried[at].err = err
			return
		}
		t.tried = append(t.tried, attempt{address, err})
	})
}

// handshakeDone notes what was shown, also when it was not accepted.
func (t *trace) handshakeDone(state tls.ConnectionState, err error) {
	if err == nil {
		t.enter(phaseHTTP, func() { t.certificates = state.PeerCertificates })
		return
	}
	if broken, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		t.enter(phaseTLS, func() { t.certificates = broken.UnverifiedCertificates })
	}
}

// duration is from the beginning of the first phase to the end; 0 when none began.
func (t *trace) duration() time.Duration {
	for _, began := range t.began {
		if !began.IsZero() {
			return t.ended.Sub(began)
		}
	}
	return 0
}

// took returns how long a phase lasted; false when it was not reached.
func (t *trace) took(p phase) (time.Duration, bool) {
	if t.began[p].IsZero() {
		return 0, false
	}
	until := t.ended
	for next := p + 1; next <= phaseHTTP; next++ {
		if next != phaseProxy && !t.began[next].IsZero() {
			until = t.began[next]
			break
		}
	}
	return until.Sub(t.began[p]), true
}

// facts tell what a finished trace saw: the address that connected, else those that were tried.
func (t *trace) facts() chain.Facts {
	facts := chain.Facts{chain.FactAddress: t.connected}
	if t.connected == "" {
		var tried []string
		for _, a := range t.tried {
			tried = append(tried, a.address)
		}
		facts[chain.FactAddress] = strings.Join(tried, ", ")
	}
	for p, fact := range map[phase]chain.Fact{phaseDNS: chain.FactDNSTime, phaseTCP: chain.FactTCPTime, phaseTLS: chain.FactTLSTime, phaseHTTP: chain.FactHTTPTime} {
		if took, reached := t.took(p); reached {
			facts[fact] = fmt.Sprintf("%.1f", float64(took)/float64(time.Millisecond))
		}
	}
	if len(t.certificates) > 0 {
		facts = facts.Merge(certificateFacts(t.certificates[0]))
	}
	return facts
}
