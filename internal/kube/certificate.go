// Certificates: the cluster's CA, and whether it signed what a server showed.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// authority is a cluster's CA.
type authority struct{ pool *x509.CertPool }

// parseCA reads PEM. At least one certificate must be in it, and none may be broken; other blocks are passed over.
func parseCA(text []byte) (authority, error) {
	ca, read := authority{pool: x509.NewCertPool()}, 0
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return authority{}, fmt.Errorf("reading certificate %d of the cluster's certificate authority: %w", read+1, err)
		}
		ca.pool.AddCert(certificate)
		read++
	}
	if read == 0 {
		return authority{}, errors.New("the cluster's certificate authority holds no PEM certificate")
	}
	return ca, nil
}

// verify returns nil for a chain, leaf first, that ends at this authority at a time, whatever name it is for; else what x509 says against it.
func (a authority) verify(shown []*x509.Certificate, at time.Time) error {
	if len(shown) == 0 {
		return errors.New("no certificate was shown")
	}
	between := x509.NewCertPool()
	for _, certificate := range shown[1:] {
		between.AddCert(certificate)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: a.pool, Intermediates: between, CurrentTime: at})
	return err
}
