// A Conn is one connection to an apiserver; every question on it is one request, one attempt, with its own bearer.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// Conn is one connection to an apiserver, made by Dialer.Dial. Safe for concurrent use: requests share the connection (HTTP/2), or queue for it (HTTP/1.1). Like any client it connects again
// when the server ends the connection in an orderly way.
type Conn struct {
	dialer *Dialer
	peer   string // the cluster's name
	target *url.URL
	proxy  *url.URL       // nil: none
	roots  *x509.CertPool // the cluster's certificate authority
	limit  int            // bytes of an answer

	connections *connections
	transport   *http.Transport
	client      *http.Client
	rest        *rest.RESTClient
	server      []*x509.Certificate // what the server showed, leaf first
	slots       chan struct{}       // one for each request under way
}

// maxStreams stays below the 100 streams that an HTTP/2 server should allow (RFC 9113, section 6.5.2): beyond its limit the transport would open a second connection.
// (http.HTTP2Config.StrictMaxConcurrentRequests would queue instead, but hangs in Go 1.26.)
const maxStreams = 50

// share bounds the requests that are under way at once to what the connection carries.
func (c *Conn) share(first answer) {
	c.slots = make(chan struct{}, 1)
	if first.http2 {
		c.slots = make(chan struct{}, maxStreams)
	}
}

// Close ends the connection, also under a request that ran into its deadline and that the transport has not done with. No call may be in flight. It may be called again.
func (c *Conn) Close() {
	c.transport.CloseIdleConnections() // in order, where nothing is owed
	c.connections.close()
}

// ServedBy reports whether the server's certificate also chains to another CA (PEM), whatever name it is for: whether that CA's cluster is the one that answered.
func (c *Conn) ServedBy(ca []byte) bool {
	other, err := wire.ParseCA(ca)
	return err == nil && wire.Verify(c.server, other, c.dialer.options.Now()) == nil
}

// exchange traces one request. An error means that no whole answer came: a *chain.Error, or the context's own.
func (c *Conn) exchange(ctx context.Context, send func(context.Context) error) (wire.Seen, answer, error) {
	var got answer
	trace := &wire.Trace{Proxied: c.proxy != nil, Secure: true}
	quiet := logr.NewContext(ctx, logr.Discard()) // client-go would log what we return
	err := send(trace.Follow(withAnswer(quiet, &got)))
	seen := trace.Finish()
	if got.status != 0 { // client-go calls a refusal an error, too
		return seen, got, nil
	}
	if err == nil {
		err = errors.New("the exchange brought no answer")
	}
	return seen, got, c.connectionError(ctx, seen, err)
}

// call sends one request with the token. No retry: a refused or lost request is the result.
func (c *Conn) call(ctx context.Context, token chain.Token, request *rest.Request) (answer, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	request = request.MaxRetries(0).SetHeader("Authorization", "Bearer "+token.Value.Reveal())
	_, got, err := c.exchange(ctx, func(ctx context.Context) error { return request.Do(ctx).Error() })
	return got, err
}

// object is a Kubernetes object as JSON has it.
type object map[string]any

// create posts an object that is a question, such as a review.
func (c *Conn) create(ctx context.Context, token chain.Token, path string, question object) (answer, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return answer{}, fmt.Errorf("encoding the object for %s: %w", path, err)
	}
	return c.call(ctx, token, c.rest.Verb(http.MethodPost).AbsPath(path).SetHeader("Content-Type", "application/json").Body(body))
}

// read decodes a successful answer that must be of the given kind; anything else is not Kubernetes' answer.
func (c *Conn) read(got answer, kind string, into any) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(got.body, &head); err != nil {
		return c.notKubernetes(got, "the answer is no "+kind, err)
	}
	if head.Kind != kind {
		return c.notKubernetes(got, fmt.Sprintf("the answer is a %q, not a %s", chain.Redact(head.Kind), kind), nil)
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		return c.notKubernetes(got, "the answer is no "+kind, err)
	}
	return nil
}

// ok reports whether an answer says success.
func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }
