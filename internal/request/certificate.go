// Certificates: whom a request trusts, what a server showed, and what is wrong with it.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// roots reads the authorities of a request anew: those of its CA file alone, else those of the options.
func (c *Client) roots(caFile string) (*x509.CertPool, error) {
	if caFile == "" {
		return c.options.Roots, nil
	}
	text, err := chain.ReadSmall(caFile, maxCA)
	if err != nil {
		return nil, fmt.Errorf("reading the CA file %s of the request: %w", caFile, err)
	}
	pool, err := parseCA(text)
	if err != nil {
		return nil, fmt.Errorf("reading the CA file %s of the request: %w", caFile, err)
	}
	return pool, nil
}

// parseCA reads PEM. At least one certificate must be in it, and none may be broken; other blocks are passed over.
func parseCA(text []byte) (*x509.CertPool, error) {
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

// trustsNobody reports whether a pool is empty, as the system's is in a container without its package ca-certificates: then a certificate by "an unknown authority" says nothing of the server.
func trustsNobody(pool *x509.CertPool) bool {
	if pool == nil {
		system, err := x509.SystemCertPool()
		if err != nil {
			return true
		}
		pool = system
	}
	return pool.Equal(x509.NewCertPool())
}

// verify returns nil for a chain, leaf first, that ends at an authority at a time, whatever name it is for; else what x509 says against it.
func verify(shown []*x509.Certificate, roots *x509.CertPool, at time.Time) error {
	if len(shown) == 0 {
		return errors.New("no certificate was shown")
	}
	between := x509.NewCertPool()
	for _, certificate := range shown[1:] {
		between.AddCert(certificate)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: at})
	return err
}

// firstEnd is when the first of them ends; zero for none.
func firstEnd(shown []*x509.Certificate) time.Time {
	var first time.Time
	for _, certificate := range shown {
		if first.IsZero() || certificate.NotAfter.Before(first) {
			first = certificate.NotAfter
		}
	}
	return first
}

func certificateFacts(leaf *x509.Certificate) chain.Facts {
	return chain.Facts{
		chain.FactTLSIssuer:   chain.Redact(leaf.Issuer.String()),
		chain.FactTLSSubject:  chain.Redact(leaf.Subject.String()),
		chain.FactTLSNotAfter: leaf.NotAfter.UTC().Format(time.RFC3339),
	}
}

// outOfTime tells by which clock: a broken handshake brings no Date header, so the local clock is unchecked here.
func outOfTime(what string, certificate *x509.Certificate, now time.Time) string {
	state, at := "ended at", certificate.NotAfter
	if now.Before(certificate.NotBefore) {
		state, at = "is not valid before", certificate.NotBefore
	}
	return fmt.Sprintf("%s %s %s, by the local clock (%s), which this server could not confirm: if the clock is off, the certificate may be good",
		what, state, at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
}
