// The front of a kube-apiserver on loopback: TLS, authentication through the authenticator, authorization, reviews and dry runs, in Kubernetes' own words.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// APIServer is the HTTPS endpoint (HTTP/1.1 and HTTP/2) of one cluster. It is safe for concurrent use.
type APIServer struct {
	state   *State
	cluster string // the key in State.Clusters
	name    string // its DNS name
	ca      atomic.Pointer[CA]
	shown   atomic.Pointer[tls.Certificate]
	auth    *authenticator
	tokens  tokenCache
	reviews atomic.Pointer[[]string] // versions of authentication.k8s.io that have SelfSubjectReview

	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc
	running  connections
	handling sync.RWMutex // held for reading by every request
}

// NewAPIServer serves the cluster of that name in the state on a free port of 127.0.0.1, and enters its Endpoint and CAPEM there.
// The certificate is signed by ca; nil makes the cluster an authority of its own, as EKS does.
func NewAPIServer(state *State, ca *CA, cluster string, sts STSEndpoint) (*APIServer, error) {
	a := &APIServer{state: state, cluster: cluster}
	var region string
	known := false
	state.Change(func(s *State) {
		if c := s.Clusters[cluster]; c != nil {
			region, known = c.Region, true
		}
	})
	if !known {
		return nil, fmt.Errorf("serving cluster %q: the state has no such cluster", cluster)
	}
	var err error
	if a.auth, err = newAuthenticator(state, cluster, sts); err != nil {
		return nil, fmt.Errorf("serving cluster %q: %w", cluster, err)
	}
	if ca == nil {
		if ca, err = NewCA(); err != nil {
			return nil, err
		}
	}
	a.ca.Store(ca)
	a.name = newEndpointName(region)
	a.ServeReviewVersions("v1")
	if err := a.ServeCertificate(CertificateGood); err != nil {
		return nil, err
	}
	if a.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listening for cluster %q on loopback: %w", cluster, err)
	}
	a.start()
	a.register()
	return a, nil
}

// newEndpointName makes the DNS name of an EKS endpoint: 16 random bytes in upper-case hex, and the region.
func newEndpointName(region string) string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never an error
	return fmt.Sprintf("%X.gr7.%s.eks%s", id, region, domainOf(region))
}

func (a *APIServer) start() {
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	a.http = a.running.server(ctx, a, func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return a.shown.Load(), nil })
	a.running.Go(func() { _ = a.http.ServeTLS(a.listener, "", "") }) // always ErrServerClosed or the listener's end
}

// register tells the state, and so DescribeCluster, where the cluster is and which authority it has.
func (a *APIServer) register() {
	endpoint, authority := a.Endpoint(), a.ca.Load().PEM()
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			c.Endpoint, c.CAPEM = endpoint, authority
		}
	})
}

// Endpoint is the URL that DescribeCluster tells. Its host is known to the sandbox's DNS alone.
func (a *APIServer) Endpoint() string {
	_, port, _ := net.SplitHostPort(a.Addr()) // a listener's address has one
	return "https://" + net.JoinHostPort(a.name, port)
}

// Addr is host:port of the listener.
func (a *APIServer) Addr() string { return a.listener.Addr().String() }

// ServeReviewVersions says in which versions of authentication.k8s.io SelfSubjectReview exists: v1 since Kubernetes 1.28, v1beta1 before, v1alpha1 in 1.26. None is 1.25.
func (a *APIServer) ServeReviewVersions(versions ...string) { a.reviews.Store(&versions) }

// RequireExactKeys makes the authenticator read the keys of aws-auth lines as they are spelled: rolearn, not roleARN. aws-iam-authenticator v0.7.13 folds their case.
func (a *APIServer) RequireExactKeys(exact bool) { a.auth.exactKeys.Store(exact) }

// Close ends the listener and every connection, and waits for their goroutines. Closing twice is harmless.
func (a *APIServer) Close() error {
	a.stop()
	err := a.http.Close()
	a.running.Wait()
	a.handling.Lock() // HTTP/2 runs requests beside their connection
	defer a.handling.Unlock()
	a.auth.close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
