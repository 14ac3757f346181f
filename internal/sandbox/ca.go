// CA is the certificate authority that signs every server of the sandbox.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// caLife is how long the authority is valid on each side of the moment it was made, so that leaves outside the present can still chain to it.
const caLife = 10 * 365 * 24 * time.Hour

// CA is a self-signed authority with an ECDSA P-256 key that never leaves memory. It is safe for concurrent use.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// IssueOptions says what a leaf certificate is for.
type IssueOptions struct {
	Names     []string  // DNS names (a leading "*." is a wildcard) or IP addresses; at least one
	NotBefore time.Time // zero: an hour ago
	NotAfter  time.Time // zero: a year from now
}

// NewCA makes an authority. Its error is the random source's.
func NewCA() (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the authority's key: %w", err)
	}
	serial, err := serialNumber()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "eks-slo sandbox"},
		NotBefore: now.Add(-caLife), NotAfter: now.Add(caLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing the authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parsing the authority: %w", err)
	}
	return &CA{cert: cert, key: key}, nil
}

// PEM is the authority's certificate, as a CA bundle has it.
func (c *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw})
}

// Pool holds the authority alone, for a client's RootCAs.
func (c *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.cert)
	return pool
}

// Issue makes a server certificate with a key of its own; the chain holds the leaf only.
func (c *CA) Issue(o IssueOptions) (tls.Certificate, error) {
	if len(o.Names) == 0 {
		return tls.Certificate{}, errors.New("issuing a certificate: Names is empty")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the key of %s: %w", o.Names[0], err)
	}
	template, err := leafTemplate(o, time.Now())
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.cert, key.Public(), c.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("signing the certificate of %s: %w", o.Names[0], err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("parsing the certificate of %s: %w", o.Names[0], err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

func leafTemplate(o IssueOptions, now time.Time) (*x509.Certificate, error) {
	serial, err := serialNumber()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: o.Names[0]},
		NotBefore: o.NotBefore, NotAfter: o.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if template.NotBefore.IsZero() {
		template.NotBefore = now.Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = now.Add(365 * 24 * time.Hour)
	}
	for _, name := range o.Names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	return template, nil
}

func serialNumber() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("drawing a serial number: %w", err)
	}
	return serial, nil
}
