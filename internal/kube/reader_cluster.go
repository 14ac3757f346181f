// The clients of one cluster: client-go's dynamic and typed ones on one pool of connections, with the observer's token put in below them.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryv1client "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/rest"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	readsAtOnce    = 8               // of one cluster; each may hold a whole page
	keptIdle       = 5 * time.Minute // below the 350 s after which a NAT gateway forgets a connection
	pingAfter      = 10 * time.Second
	pingTimeout    = 5 * time.Second
	tokenMargin    = time.Minute
	bindingGroup   = "elbv2.k8s.aws"
	bindingVersion = "v1beta1"
)

// cluster is safe for concurrent use.
type cluster struct {
	conn      *Conn
	bindings  dynamic.NamespaceableResourceInterface
	core      *corev1client.CoreV1Client
	discovery *discoveryv1client.DiscoveryV1Client
	token     chan chain.Token // of one: whoever takes it out may replace it
	used      time.Time        // the Reader's lock guards it
	nodeLists chan nodeList    // of one, as token
	listLimit int              // bytes of all pages of a list
}

func newCluster(dialer *Dialer, endpoint Endpoint) (*cluster, error) {
	conn, failure := dialer.prepare(endpoint)
	if failure != nil {
		return nil, unavailable("reading the cluster", failure.Error(), failure)
	}
	conn.limit, conn.slots = maxPage, make(chan struct{}, readsAtOnce)
	conn.transport.IdleConnTimeout = keptIdle
	conn.transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout} // a connection that broke in silence ends, and the next read dials
	config := &rest.Config{
		Host: conn.target.String(), QPS: -1, WarningHandler: rest.NoWarnings{}, // the runner bounds the work
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
	client := &http.Client{Transport: &underClientGo{conn.client.Transport}, CheckRedirect: conn.client.CheckRedirect}
	bindings, errBindings := dynamic.NewForConfigAndClient(config, client)
	core, errCore := corev1client.NewForConfigAndClient(config, client)
	discovery, errDiscovery := discoveryv1client.NewForConfigAndClient(config, client)
	if err := errors.Join(errBindings, errCore, errDiscovery); err != nil {
		return nil, unavailable("making clients for "+conn.target.Host, chain.Redact(err.Error()), err)
	}
	c := &cluster{
		conn: conn, core: core, discovery: discovery, token: make(chan chain.Token, 1), nodeLists: make(chan nodeList, 1), listLimit: maxList,
		bindings: bindings.Resource(schema.GroupVersionResource{Group: bindingGroup, Version: bindingVersion, Resource: "targetgroupbindings"}),
	}
	c.token <- chain.Token{}
	c.nodeLists <- nodeList{}
	return c, nil
}

// session is a cluster read for one caller, who can make a token when there is none that serves.
type session struct {
	*cluster

	mint func(context.Context) (chain.Token, error)
}

// bearer returns a token that still serves and is not the refused one. Who asks for a new one makes the others wait for it.
func (s session) bearer(ctx context.Context, refused chain.Secret) (chain.Token, error) {
	select {
	case token := <-s.token:
		defer func() { s.token <- token }()
		serves := s.conn.dialer.options.Now().Add(tokenMargin).Before(token.Expires)
		if serves && token.Value.Reveal() != refused.Reveal() {
			return token, nil
		}
		fresh, err := s.mint(ctx)
		if err == nil {
			token = fresh
		}
		return fresh, err
	case <-ctx.Done():
		return chain.Token{}, ctx.Err()
	}
}

// attempt is one request of client-go, as the round tripper below it sees it.
type attempt struct {
	token chain.Secret
	kind  string // of a good answer
	err   error  // why client-go got none
}

type attemptKey struct{}

// underClientGo stands between client-go and the transport. It presents the attempt's token, keeps from client-go what checkAnswer refuses, and leaves it nothing to try again for: neither
// a Retry-After nor an error that it knows.
type underClientGo struct{ next http.RoundTripper }

var errNoAnswer = errors.New("no answer")

// RoundTrip implements http.RoundTripper.
func (u *underClientGo) RoundTrip(request *http.Request) (*http.Response, error) {
	a, ok := request.Context().Value(attemptKey{}).(*attempt)
	got, kept := request.Context().Value(answerKey{}).(*answer)
	if !ok || !kept {
		return nil, errors.New("a request that no reader made")
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+a.token.Reveal())
	response, err := u.next.RoundTrip(request)
	if err == nil && got.ok() {
		err = checkAnswer(got.body, a.kind)
	}
	if err != nil {
		a.err = err
		return nil, errNoAnswer
	}
	response.Header.Del("Retry-After")
	return response, nil
}
