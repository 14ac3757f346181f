// Errors of the connection become reasons of the step endpoint here, and nowhere else: by the phase that was open, then by the type of the error.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// verdict is what an error of one phase means.
type verdict struct {
	reason chain.Reason
	detail string
	facts  chain.Facts
}

func notConfigured(detail string, facts chain.Facts) *chain.Error {
	return chain.Fail(chain.StepEndpoint, chain.ReasonEndpointNotConfigured, detail, facts, nil)
}

// connectionError turns the error of an exchange that brought no whole answer into a reason, by this table:
//
//	context cancelled           → the context's error: our own doing is nobody's failure
//	no phase began              → the context's error when it had ended, else unknown
//	trouble of this machine     → unknown, in every phase
//	deadline                    → the reason of the open phase for silence
//	any other error             → the reason of the open phase for that type of error
func (c *Conn) connectionError(ctx context.Context, seen wire.Seen, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) || (ctx.Err() != nil && seen.Open == wire.PhaseNone) {
		return ctx.Err()
	}
	late := ctx.Err() != nil
	if late {
		err = errors.Join(ctx.Err(), err) // the transport returns the deadline's cause instead
	}
	switch {
	case seen.Open == wire.PhaseNone:
		return chain.Unsure(chain.ReasonReadFailed, "making the request: "+wire.PlainText(err), nil, err)
	case chain.LocalTrouble(err):
		return chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("this machine could not connect to %s: %s", c.target.Host, wire.PlainText(err)), nil, err)
	}
	v := c.phaseError(seen, err, late || wire.TimedOut(err))
	return chain.Fail(chain.StepEndpoint, v.reason, v.detail, v.facts, err)
}

// phaseError blames the phase that was open, which is one that began; late: it ended in silence.
func (c *Conn) phaseError(seen wire.Seen, err error, late bool) verdict {
	switch seen.Open {
	case wire.PhaseNone, wire.PhaseDNS, wire.PhaseTCP:
		switch {
		case c.proxy != nil:
			return verdict{reason: chain.ReasonProxyDenied, detail: fmt.Sprintf("the proxy %s itself could not be reached, so nothing is known of the apiserver: %s", c.proxyName(), wire.PlainText(err))}
		case seen.Open == wire.PhaseDNS:
			return c.dnsError(err, late)
		}
		return c.tcpError(err, late)
	case wire.PhaseProxy:
		return c.proxyError(err, late)
	case wire.PhaseTLS:
		return c.tlsError(seen.Certificates, err, late)
	case wire.PhaseHTTP:
	}
	return c.httpError(err, late)
}

func (c *Conn) dnsError(err error, late bool) verdict {
	host := c.target.Hostname()
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return verdict{reason: chain.ReasonDNSNXDomain, detail: fmt.Sprintf("the resolver knows no address for the name %s", host)}
	case late:
		return verdict{reason: chain.ReasonDNSFailure, detail: fmt.Sprintf("no answer from the resolver for %s in time", host)}
	}
	return verdict{reason: chain.ReasonDNSFailure, detail: fmt.Sprintf("looking up %s: %s", host, wire.PlainText(err))}
}

func (c *Conn) tcpError(err error, late bool) verdict {
	where := c.target.Host
	switch {
	case late:
		return verdict{reason: chain.ReasonTCPTimeout, detail: fmt.Sprintf("connecting to %s: no answer in time; packets are dropped on the way (security group, allow-list of the public endpoint, route)", where)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return verdict{reason: chain.ReasonTCPRefused, detail: fmt.Sprintf("%s refused the connection: nothing listens there", where)}
	case wire.Unreachable(err):
		return verdict{reason: chain.ReasonTCPRefused, detail: fmt.Sprintf("connecting to %s: %s; this came from the network (no route, or a firewall that says so), not from the apiserver", where, wire.PlainText(err))}
	}
	return verdict{reason: chain.ReasonTCPRefused, detail: fmt.Sprintf("connecting to %s: %s", where, wire.PlainText(err))}
}

func (c *Conn) proxyError(err error, late bool) verdict {
	var refusal *wire.ProxyRefusal
	switch {
	case errors.As(err, &refusal):
		return verdict{reason: chain.ReasonProxyDenied, detail: fmt.Sprintf("the proxy %s answered CONNECT %s with %s; the apiserver was not reached", c.proxyName(), c.target.Host, chain.Redact(refusal.Status))}
	case late:
		return verdict{reason: chain.ReasonTCPTimeout, detail: fmt.Sprintf("the proxy %s took the request for a tunnel to %s and did not answer in time", c.proxyName(), c.target.Host)}
	}
	return verdict{reason: chain.ReasonProxyDenied, detail: fmt.Sprintf("the proxy %s opened no tunnel to %s: %s", c.proxyName(), c.target.Host, wire.PlainText(err))}
}

func (c *Conn) tlsError(shown []*x509.Certificate, err error, late bool) verdict {
	var (
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
		facts     chain.Facts
	)
	if len(shown) > 0 {
		facts = wire.CertificateFacts(shown[0])
	}
	now, either := c.dialer.options.Now(), ""
	if errors.As(err, &name) { // x509 looks at the name before the chain; a chain that is not the cluster's is the graver
		if foreign := wire.Verify(shown, c.roots, now); foreign != nil {
			err, either = foreign, "; it is not for this name either"
		}
	}
	switch {
	case errors.As(err, &authority):
		return verdict{chain.ReasonTLSCAMismatch, fmt.Sprintf("the certificate of %s was issued by %q and does not chain to the cluster's certificate authority%s", c.target.Host, facts[chain.FactTLSIssuer], either), facts}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return verdict{chain.ReasonTLSExpired, wire.OutOfTime(c.target.Host, invalid.Cert, now), facts}
	case errors.As(err, &name):
		return verdict{chain.ReasonTLSNameMismatch, fmt.Sprintf("the certificate that %s showed is not for this name (%s); it is signed by the cluster's certificate authority", c.target.Host, wire.PlainText(name)), facts}
	case late:
		return verdict{chain.ReasonTLSFailure, fmt.Sprintf("%s took the connection and did not finish the TLS handshake in time", c.target.Host), facts}
	case errors.As(err, new(tls.RecordHeaderError)) || errors.Is(err, http.ErrSchemeMismatch):
		return verdict{chain.ReasonTLSFailure, c.target.Host + " does not speak TLS", facts}
	}
	return verdict{chain.ReasonTLSFailure, fmt.Sprintf("the TLS handshake with %s broke: %s", c.target.Host, wire.PlainText(err)), facts}
}

func (c *Conn) httpError(err error, late bool) verdict {
	switch {
	case late:
		return verdict{reason: chain.ReasonHTTPTimeout, detail: c.target.Host + " gave no whole answer in time; TLS was up"}
	case errors.Is(err, errTooLarge):
		return verdict{reason: chain.ReasonAPIServerError, detail: fmt.Sprintf("%s: %s, which no apiserver sends here", c.target.Host, wire.PlainText(err))}
	}
	return verdict{reason: chain.ReasonAPIServerError, detail: fmt.Sprintf("%s took the request and gave no whole answer: %s", c.target.Host, wire.PlainText(err))}
}
