// Which errors of a request are those of its connection, and what may be shown of them.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// connectionTrouble says whether an error is that of a connection, and what it is. The others come from what adds credentials to a request.
func connectionTrouble(err error) (why string, ok bool) {
	if e, ok := errors.AsType[*net.OpError](err); ok { // before what it wraps: it names the address
		return firstLine(e.Error()), true
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return firstLine(e.Error()), true
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case untrusted(err):
		return firstLine(err.Error()), true
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks no TLS, and the URL says https", true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
		return "the connection ends before the answer does", true
	case strings.HasPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken"), strings.HasPrefix(err.Error(), "http2: "): // they have no types
		return "the connection ends before the answer does", true
	}
	return "", false
}

// untrusted says whether the two sides do not accept each other's certificates or versions: trying again is no use.
func untrusted(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, hostname := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return verification || alert || authority || hostname || invalid
}

// firstLine is what is shown of a foreign text: one line that is not long.
func firstLine(text string) string {
	const longest = 200
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return line
}
