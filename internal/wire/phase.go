// Phases are the parts of a request, and the evidence that a trace of them gives.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Phase is a part of a request.
type Phase uint8

// The phases, in the order in which they come. A request over a kept connection begins with PhaseHTTP.
const (
	PhaseNone Phase = iota
	PhaseDNS
	PhaseTCP
	PhaseProxy // the tunnel through a proxy; its time is counted to TCP, since the proxy dials the server in it
	PhaseTLS
	PhaseHTTP // from the request to the end of the body
)

// String names a phase in a detail.
func (p Phase) String() string {
	switch p {
	case PhaseNone:
		return "none"
	case PhaseDNS:
		return "DNS"
	case PhaseTCP:
		return "TCP"
	case PhaseProxy:
		return "proxy"
	case PhaseTLS:
		return "TLS"
	case PhaseHTTP:
		return "HTTP"
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// Duration is from the beginning of the first phase to the end; 0 when none began.
func (s Seen) Duration() time.Duration {
	for _, began := range s.began {
		if !began.IsZero() {
			return s.ended.Sub(began)
		}
	}
	return 0
}

// took returns how long a phase lasted; false when it was not reached.
func (s Seen) took(p Phase) (time.Duration, bool) {
	if s.began[p].IsZero() {
		return 0, false
	}
	until := s.ended
	for next := p + 1; next <= PhaseHTTP; next++ {
		if next != PhaseProxy && !s.began[next].IsZero() {
			until = s.began[next]
			break
		}
	}
	return until.Sub(s.began[p]), true
}

// Facts are the address that connected, else those that were tried; the times of the phases in milliseconds; and the server's certificate.
func (s Seen) Facts() chain.Facts {
	facts := chain.Facts{chain.FactAddress: s.Connected}
	if s.Connected == "" {
		var tried []string
		for _, a := range s.Tried {
			tried = append(tried, a.Address)
		}
		facts[chain.FactAddress] = strings.Join(tried, ", ")
	}
	for p, fact := range map[Phase]chain.Fact{PhaseDNS: chain.FactDNSTime, PhaseTCP: chain.FactTCPTime, PhaseTLS: chain.FactTLSTime, PhaseHTTP: chain.FactHTTPTime} {
		if took, reached := s.took(p); reached {
			facts[fact] = fmt.Sprintf("%.1f", float64(took)/float64(time.Millisecond))
		}
	}
	if len(s.Certificates) > 0 {
		facts = facts.Merge(CertificateFacts(s.Certificates[0]))
	}
	return facts
}
