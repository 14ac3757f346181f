// What broke TLS with the load balancer: its certificate, its refusal, its silence, or that it speaks no TLS.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

func (c *call) tlsError(err error, late bool) *chain.Error {
	switch {
	case len(c.seen.Certificates) > 0:
		return c.certificateError(err)
	case late:
		return c.fail(chain.ReasonTLSFailure, err, "%s took the connection and did not finish the TLS handshake in time", c.where())
	case errors.Is(err, http.ErrSchemeMismatch) || answeredHTTP(err):
		return c.fail(chain.ReasonTLSFailure, err, "%s does not speak TLS: it answered the handshake with plain HTTP", c.where())
	case errors.As(err, new(tls.RecordHeaderError)):
		return c.fail(chain.ReasonTLSFailure, err, "%s does not speak TLS", c.where())
	case c.seen.Asked:
		return c.noClientCertificate(err)
	case refusedTLS(err):
		return c.fail(chain.ReasonTLSFailure, err, "%s refused the TLS handshake for the name %s: %s", c.where(), c.tlsName(), wire.PlainText(err))
	case brokeOff(err):
		return c.fail(chain.ReasonTCPFailure, err, "%s took the connection and ended it in the TLS handshake, without a word of TLS: %s", c.where(), wire.PlainText(err))
	}
	return c.fail(chain.ReasonTLSFailure, err, "the TLS handshake with %s broke: %s", c.where(), wire.PlainText(err))
}

// certificateError tells what is wrong with the chain that was shown. A chain that is not trusted is graver than a name that it is not for; x509 stops at the first of the two that it sees.
func (c *call) certificateError(err error) *chain.Error {
	var (
		shown   = c.seen.Certificates
		now     = c.options.Now()
		name    = shown[0].VerifyHostname(c.tlsName())
		trust   = wire.Verify(shown, c.roots, now)
		either  string
		invalid x509.CertificateInvalidError
	)
	if name != nil {
		either = "; it is not for the name " + c.tlsName() + " either"
	}
	unknown := errors.As(trust, new(x509.UnknownAuthorityError))
	switch {
	case errors.As(trust, new(x509.SystemRootsError)) || unknown && trustsNobody(c.roots):
		return c.unsure(err, "this machine has no certificate authorities to judge the certificate of %s by: install the package ca-certificates, or set ca_file of the request", c.where())
	case unknown:
		return c.fail(chain.ReasonTLSFailure, err, "the certificate of %s was issued by %q, and no authority of %s vouches for that%s",
			c.where(), chain.Redact(shown[0].Issuer.String()), cmp.Or(c.request.CAFile, "the system"), either)
	case errors.As(trust, &invalid) && invalid.Reason == x509.Expired:
		return c.fail(chain.ReasonTLSFailure, err, "%s%s", wire.OutOfTime(c.where(), invalid.Cert, now), either)
	case trust == nil && name != nil:
		return c.fail(chain.ReasonTLSFailure, err, "the certificate that %s showed is trusted, and not for the name %s: %s", c.where(), c.tlsName(), wire.PlainText(name))
	}
	return c.fail(chain.ReasonTLSFailure, err, "the certificate of %s is not good: %s", c.where(), wire.PlainText(err))
}

// noClientCertificate: with TLS 1.3 the refusal comes when the handshake has ended on this side, and often as no more than the end of the connection.
func (c *call) noClientCertificate(err error) *chain.Error {
	return c.fail(chain.ReasonTLSFailure, err, "%s asked for a client certificate, got none, and ended the connection without an answer: %s", c.where(), wire.PlainText(err))
}

// tlsName is the name for which the certificate must be.
func (c *call) tlsName() string { return cmp.Or(c.request.SNI, c.target.Hostname()) }

// refusedTLS reports whether the other side sent a TLS alert: crypto/tls marks it with an operation of its own.
func refusedTLS(err error) bool {
	var alert *net.OpError
	return errors.As(err, &alert) && alert.Op == "remote error"
}

// answeredHTTP reports whether the first bytes that came are those of an HTTP/1 answer.
func answeredHTTP(err error) bool {
	header, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok && string(header.RecordHeader[:]) == "HTTP/"
}
