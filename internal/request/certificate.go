// Certificate authorities: whom a request trusts.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/x509"
	"fmt"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
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
	pool, err := wire.ParseCA(text)
	if err != nil {
		return nil, fmt.Errorf("reading the CA file %s of the request: %w", caFile, err)
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
