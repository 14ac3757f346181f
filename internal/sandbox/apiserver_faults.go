// Faults below HTTP: wrong certificates of a running apiserver, and addresses that refuse or swallow connections.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net"
	"time"
)

// Certificate says what an apiserver shows at the TLS handshake.
type Certificate uint8

// The certificates of an apiserver.
const (
	CertificateGood      Certificate = iota
	CertificateExpired               // ended an hour ago
	CertificateOtherName             // for the name of another cluster, and not for loopback
	CertificateOtherCA               // signed by an authority that DescribeCluster does not tell
)

// ServeCertificate swaps the certificate for the connections to come; open ones keep theirs.
func (a *APIServer) ServeCertificate(c Certificate) error {
	ca, options := a.ca.Load(), IssueOptions{Names: []string{a.name, "localhost", "127.0.0.1"}}
	switch c {
	case CertificateGood:
	case CertificateExpired:
		now := time.Now()
		options.NotBefore, options.NotAfter = now.Add(-24*time.Hour), now.Add(-time.Hour)
	case CertificateOtherName:
		options.Names = []string{newEndpointName("eu-central-1")}
	case CertificateOtherCA:
		other, err := NewCA()
		if err != nil {
			return err
		}
		ca = other
	default:
		return fmt.Errorf("serving certificate %d of cluster %q: there is no such kind", c, a.cluster)
	}
	leaf, err := ca.Issue(options)
	if err != nil {
		return err
	}
	a.shown.Store(&leaf)
	return nil
}

// RotateCA gives the cluster a new authority, which DescribeCluster tells at once: whoever kept the old one is refused.
func (a *APIServer) RotateCA() error {
	ca, err := NewCA()
	if err != nil {
		return err
	}
	a.ca.Store(ca)
	if err := a.ServeCertificate(CertificateGood); err != nil {
		return err
	}
	a.register()
	return nil
}

// Refused returns a loopback address at which connections are refused: a port that was free a moment ago.
func Refused() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port on loopback: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("closing %s: %w", address, err)
	}
	return address, nil
}
