// Faults below HTTP: wrong certificates of a running apiserver, and addresses that refuse or swallow connections.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"
)

// Certificate says what an apiserver or load balancer shows at the TLS handshake.
type Certificate uint8

// The certificates of a server.
const (
	CertificateGood      Certificate = iota
	CertificateExpired               // ended an hour ago
	CertificateOtherName             // for another name, and not for loopback
	CertificateOtherCA               // signed by an authority that nobody knows
)

// ServeCertificate swaps the certificate for the connections to come; open ones keep theirs.
func (a *APIServer) ServeCertificate(c Certificate) error {
	leaf, err := c.issue(a.ca.Load(), []string{a.name, "localhost", "127.0.0.1"}, newEndpointName("eu-central-1"))
	if err != nil {
		return fmt.Errorf("serving cluster %q: %w", a.cluster, err)
	}
	a.shown.Store(&leaf)
	return nil
}

// issue makes the certificate that is good for names, or what the fault makes of it.
func (c Certificate) issue(ca *CA, names []string, otherName string) (tls.Certificate, error) {
	options := IssueOptions{Names: names}
	switch c {
	case CertificateGood:
	case CertificateExpired:
		now := time.Now()
		options.NotBefore, options.NotAfter = now.Add(-24*time.Hour), now.Add(-time.Hour)
	case CertificateOtherName:
		options.Names = []string{otherName}
	case CertificateOtherCA:
		other, err := NewCA()
		if err != nil {
			return tls.Certificate{}, err
		}
		ca = other
	default:
		return tls.Certificate{}, fmt.Errorf("issuing certificate %d: there is no such kind", c)
	}
	return ca.Issue(options)
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
