// What can be wrong with a load balancer's listeners: their certificate, and how they treat those who come.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
)

// ALBManner is how a load balancer treats new connections and requests.
type ALBManner uint32

// The manners of a load balancer.
const (
	ALBServes    ALBManner = iota
	ALBSilent              // takes requests and never answers
	ALBSilentTLS           // takes connections and never answers the TLS handshake
)

// Behave changes the manner, for the connections and requests to come.
func (a *ALB) Behave(manner ALBManner) { a.manner.Store(uint32(manner)) }

// Refuse closes both listeners, so that connections are refused; those that are open stay. There is no way back.
func (a *ALB) Refuse() error {
	for _, listener := range []net.Listener{a.https, a.http} {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("closing %s: %w", listener.Addr(), err)
		}
	}
	return nil
}

// ServeCertificate swaps the certificate for the connections to come; open ones keep theirs. The good one is for the hosts that the rules name by now.
func (a *ALB) ServeCertificate(c Certificate) error {
	var hosts []string
	a.state.Change(func(s *State) {
		if l := s.ELB.balancers[a.arn]; l != nil {
			hosts = l.hosts()
		}
	})
	leaf, err := c.issue(a.ca, hosts, "elsewhere.example.test")
	if err != nil {
		return fmt.Errorf("serving a certificate of %s: %w", a.arn, err)
	}
	a.shown.Store(&leaf)
	return nil
}

// hosts are those that the rules of a load balancer name.
func (l *LoadBalancer) hosts() []string {
	var hosts []string
	for _, listener := range l.Listeners {
		for _, rule := range listener.Rules {
			if rule.Host != "" && !slices.Contains(hosts, rule.Host) {
				hosts = append(hosts, rule.Host)
			}
		}
	}
	return hosts
}

// certificate is what a handshake shows; when the manner is silence, it comes only at the server's end.
func (a *ALB) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if ALBManner(a.manner.Load()) == ALBSilentTLS {
		<-hello.Context().Done()
		return nil, hello.Context().Err()
	}
	return a.shown.Load(), nil
}
