// The transport: one connection of its own per Conn, no kept TLS session, no redirect, answers read whole and bounded, and the clock compared with every Date header.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

const (
	maxBody    = 1 << 20 // bytes of an answer to a Dialer's Conn
	maxHeaders = 64 << 10
	maxIdle    = time.Minute // after which a connection ends by itself, were it never closed
)

// errTooLarge is returned, with the limit, for an answer whose body exceeds the Conn's.
var errTooLarge = errors.New("the answer is larger")

// open makes the transport and the clients on it; nothing is dialled.
func (c *Conn) open() error {
	c.connections = &connections{dialer: &net.Dialer{Resolver: c.dialer.options.Resolver}, open: map[*connection]bool{}}
	c.transport = &http.Transport{
		Proxy:                  http.ProxyURL(c.proxy),
		DialContext:            c.connections.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.roots, Time: c.dialer.options.Now, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		IdleConnTimeout:        maxIdle,
		MaxResponseHeaderBytes: maxHeaders,
		DisableCompression:     true,
		OnProxyConnectResponse: wire.CheckTunnel,
	}
	if c.proxy != nil && c.proxy.Scheme == "https" {
		// The proxy's certificate is for the system's authorities to judge, not for the cluster's.
		c.transport.DialTLSContext = wire.DialProxyTLS(c.connections.dial, &tls.Config{MinVersion: tls.VersionTLS12})
	}
	c.client = &http.Client{
		Transport:     &wholeAnswers{conn: c, next: c.transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	client, err := rest.RESTClientForConfigAndClient(&rest.Config{
		Host:           c.target.String(),
		APIPath:        "/",
		QPS:            -1, // the runner bounds the work
		WarningHandler: rest.NoWarnings{},
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &schema.GroupVersion{},
			NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
			ContentType:          "application/json",
		},
	}, c.client)
	c.rest = client
	return err
}

// answer is a whole HTTP answer. A zero status means that none came.
type answer struct {
	status      int
	http2       bool
	prioritized bool // a header tells the priority level: an apiserver's priority and fairness saw the request
	body        []byte
	date        time.Time     // the Date header; zero when there was none
	skew        time.Duration // by that Date, to about a second; positive: the local clock is ahead
}

type answerKey struct{}

// withAnswer makes wholeAnswers write the answer of requests with this context to where.
func withAnswer(ctx context.Context, where *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, where)
}

// wholeAnswers reads every answer whole, so that a slow, cut or endless body is an error of the exchange and never half an answer.
type wholeAnswers struct {
	conn *Conn
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w *wholeAnswers) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("User-Agent", wire.UserAgent)
	options := w.conn.dialer.options
	sent := options.Now()
	response, err := w.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	received := options.Now()
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(w.conn.limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the body of the %d answer: %w", response.StatusCode, err)
	case request.Context().Err() != nil: // a server may end its answer because we hung up
		return nil, request.Context().Err()
	case len(body) > w.conn.limit:
		return nil, fmt.Errorf("%w than %d MiB", errTooLarge, w.conn.limit>>20)
	}
	got := answer{
		status: response.StatusCode, http2: response.ProtoMajor == 2, body: body,
		prioritized: response.Header.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID) != "",
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		middle := sent.Add(received.Sub(sent) / 2)
		got.date, got.skew = date, middle.Sub(date.Add(time.Second/2)) // Date has whole seconds, cut off
		options.ObserveSkew(w.conn.peer, got.skew)
	}
	if where, ok := request.Context().Value(answerKey{}).(*answer); ok {
		*where = got
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}
