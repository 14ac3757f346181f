// The trace follows one request through its phases with net/http/httptrace: when each began, what was dialled, who answered.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// phase is a part of a request, in the order in which they come. A kept connection starts at phaseHTTP.
type phase uint8

const (
	phaseNone phase = iota
	phaseDNS
	phaseTCP
	phaseProxy // the tunnel through a proxy; its time is counted to TCP, since the proxy dials the apiserver in it
	phaseTLS
	phaseHTTP
)

// trace is safe for concurrent use: after a deadline the transport's dial goroutine may still report. What comes after finish is ignored.
type trace struct {
	proxied bool

	mu           sync.Mutex
	phase        phase
	began        [phaseHTTP + 1]time.Time
	ended        time.Time
	addresses    []string // those tried; only the connected one, once there is one
	certificates []*x509.Certificate
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

// finish ends the trace. The phase that is open then is the one that a deadline is blamed on.
func (t *trace) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = time.Now()
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
		ConnectStart: func(_, address string) {
			t.enter(phaseTCP, func() {
				if t.phase == phaseTCP && !slices.Contains(t.addresses, address) {
					t.addresses = append(t.addresses, address)
				}
			})
		},
		ConnectDone: func(_, address string, err error) {
			if err == nil {
				t.connected(address)
			}
		},
		TLSHandshakeStart: func() { t.enter(phaseTLS, nil) },
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			if err == nil {
				t.enter(phaseHTTP, func() { t.certificates = state.PeerCertificates })
			}
		},
		GotConn: func(httptrace.GotConnInfo) { t.enter(phaseHTTP, nil) },
	}
}

func (t *trace) connected(address string) {
	next := phaseTLS
	if t.proxied {
		next = phaseProxy
	}
	t.enter(next, func() {
		if t.phase == next {
			t.addresses = []string{address}
		}
	})
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

// facts tell what a finished trace saw.
func (t *trace) facts() chain.Facts {
	facts := chain.Facts{chain.FactAddress: strings.Join(t.addresses, ", ")}
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

func certificateFacts(leaf *x509.Certificate) chain.Facts {
	return chain.Facts{
		chain.FactTLSIssuer:   chain.Redact(leaf.Issuer.String()),
		chain.FactTLSSubject:  chain.Redact(leaf.Subject.String()),
		chain.FactTLSNotAfter: leaf.NotAfter.UTC().Format(time.RFC3339),
	}
}
