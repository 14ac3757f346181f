// Certificates: authorities that are trusted, what a server showed, and what is wrong with it.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// ParseCA reads PEM. At least one certificate must be in it, and none may be broken; other blocks are passed over.
func ParseCA(text []byte) (*x509.CertPool, error) {
	pool, read := x509.NewCertPool(), 0
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", read+1, err)
		}
		pool.AddCert(certificate)
		read++
	}
	if read == 0 {
		return nil, errors.New("it holds no PEM certificate")
	}
	return pool, nil
}

// Verify returns nil for a chain, leaf first, that ends at one of the authorities at a time, whatever name it is for; else what x509 says against it. Nil authorities are the system's.
func Verify(shown []*x509.Certificate, authorities *x509.CertPool, at time.Time) error {
	if len(shown) == 0 {
		return errors.New("no certificate was shown")
	}
	between := x509.NewCertPool()
	for _, certificate := range shown[1:] {
		between.AddCert(certificate)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: authorities, Intermediates: between, CurrentTime: at})
	return err
}

// CertificateFacts are who a certificate is for, who signed it, and when it ends (RFC 3339, UTC).
func CertificateFacts(leaf *x509.Certificate) chain.Facts {
	return chain.Facts{
		chain.FactTLSIssuer:   chain.Redact(leaf.Issuer.String()),
		chain.FactTLSSubject:  chain.Redact(leaf.Subject.String()),
		chain.FactTLSNotAfter: leaf.NotAfter.UTC().Format(time.RFC3339),
	}
}

// OutOfTime says of a server's certificate, or of an authority above it, that it is out of its time, and by which clock: a broken handshake brings no Date header, so the local clock is unchecked
// here. The certificate is the one that x509 names.
func OutOfTime(server string, certificate *x509.Certificate, now time.Time) string {
	what := "the certificate of " + server
	if certificate.IsCA {
		what = fmt.Sprintf("the certificate authority %q, which signed the certificate of %s,", chain.Redact(certificate.Subject.String()), server)
	}
	state, at := "ended at", certificate.NotAfter
	if now.Before(certificate.NotBefore) {
		state, at = "is not valid before", certificate.NotBefore
	}
	return fmt.Sprintf("%s %s %s, by the local clock (%s), which this server could not confirm: if the clock is off, the certificate may be good",
		what, state, at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
}
