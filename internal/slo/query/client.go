// The client: Prometheus' own, with a timeout for each request, one retry, and errors that have a kind.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/sigv4"
)

// API is what is asked of a Prometheus: a part of client_golang's v1.API, whose documentation holds here. A zero time is the server's own. It is safe for concurrent use, and asking twice is no
// harm. The errors of New's are of type *Error.
type API interface {
	Query(ctx context.Context, query string, at time.Time, options ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error)
	QueryRange(ctx context.Context, query string, r v1.Range, options ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error)
	Rules(ctx context.Context, matches []string) (v1.RulesResult, error)
}

// DefaultTimeout is how long one request may take.
const DefaultTimeout = 10 * time.Second

// Options say which Prometheus is asked, and how.
type Options struct {
	URL       string                  // http or https, with the path prefix; parameters in it are sent with each request, such as Thanos' ?partial_response=false
	HTTP      config.HTTPClientConfig // TLS, credentials, headers, proxy; X-Scope-OrgID is one of HTTPHeaders
	SigV4     *sigv4.SigV4Config      // signs for Amazon Managed Prometheus; nil: nothing is signed. New looks for credentials then, which may take seconds
	Timeout   time.Duration           // of each request; 0: DefaultTimeout
	Transport http.RoundTripper       // in place of the network, see HandlerTransport; HTTP is not used then. nil: the network
}

// New makes a client. It asks nothing yet.
//
// Each request has the timeout. A connection that cannot be made or breaks off, 429 and 5xx are tried once more after a short pause; what comes too late, is refused or is wrong is not. A query
// that is answered with 403, 405 or 501 is asked with GET instead of POST, as some proxies want it.
func New(options Options) (API, error) {
	server, err := url.Parse(options.URL)
	if err != nil || server.Host == "" || (server.Scheme != "http" && server.Scheme != "https") {
		return nil, errors.New("reading the URL of Prometheus: it must begin with http:// or https:// and name a host") // without the URL: it may hold a password
	}
	next, err := options.transport()
	if err != nil {
		return nil, err
	}
	shown := *server
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	timeout := options.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	transport := &transport{next: next, server: shown.String(), timeout: timeout, redirects: options.HTTP.FollowRedirects, pause: pause}
	base, err := api.NewClient(api.Config{Address: options.URL, Client: &http.Client{Transport: transport, CheckRedirect: transport.checkRedirect}})
	if err != nil {
		return nil, errors.New("reading the URL of Prometheus: it is none")
	}
	return &client{api: v1.NewAPI(base), server: transport.server, timeout: timeout}, nil
}

// transport is the way to the server, with its credentials.
func (o Options) transport() (http.RoundTripper, error) {
	next := o.Transport
	if next == nil {
		if err := o.HTTP.Validate(); err != nil {
			return nil, fmt.Errorf("reading the HTTP options for Prometheus: %w", err)
		}
		var err error
		if next, err = config.NewRoundTripperFromConfig(o.HTTP, "prometheus", config.WithUserAgent("eks-slo-exporter")); err != nil {
			return nil, fmt.Errorf("preparing the HTTP client for Prometheus: %w", err)
		}
	}
	if o.SigV4 == nil {
		return next, nil
	}
	if err := o.SigV4.Validate(); err != nil {
		return nil, fmt.Errorf("reading the SigV4 options for Prometheus: %w", err)
	}
	signed, err := sigv4.NewSigV4RoundTripper(o.SigV4, next)
	if err != nil {
		return nil, fmt.Errorf("preparing SigV4 for Prometheus: %w", err)
	}
	return signed, nil
}

// client turns the errors of client_golang into ours.
type client struct {
	api     v1.API
	server  string
	timeout time.Duration
}

// url is where the client asks, without credentials.
func (c *client) url() string { return c.server }

// Query implements API.
func (c *client) Query(ctx context.Context, query string, at time.Time, options ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error) {
	value, warnings, infos, err := c.api.Query(ctx, query, at, append(options, v1.WithTimeout(c.timeout))...)
	return value, warnings, infos, c.judge(ctx, value == nil, err)
}

// QueryRange implements API.
func (c *client) QueryRange(ctx context.Context, query string, r v1.Range, options ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error) {
	value, warnings, infos, err := c.api.QueryRange(ctx, query, r, append(options, v1.WithTimeout(c.timeout))...)
	return value, warnings, infos, c.judge(ctx, value == nil, err)
}

// Rules implements API.
func (c *client) Rules(ctx context.Context, matches []string) (v1.RulesResult, error) {
	result, err := c.api.Rules(ctx, matches)
	return result, c.judge(ctx, result.Groups == nil, err)
}

// judge is the error of an answer, which must not be empty.
func (c *client) judge(ctx context.Context, empty bool, err error) error {
	e := fromClient(ctx, err, c.timeout)
	switch {
	case e != nil:
	case empty:
		e = errorOf(KindNotPrometheus, "its answer is JSON, but not that of a Prometheus")
	default:
		return nil
	}
	e.Server = c.server
	return e
}

// fromClient is an error of client_golang as one of ours; nil for none.
func fromClient(ctx context.Context, err error, timeout time.Duration) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if ctx.Err() != nil {
		return ended(ctx, timeout)
	}
	e, ok := errors.AsType[*v1.Error](err)
	if !ok {
		return &Error{Kind: KindUnreachable, Why: "it cannot be reached", Err: err}
	}
	switch e.Type {
	case v1.ErrBadData, v1.ErrExec:
		return &Error{Kind: KindBadQuery, Why: "it refuses the query: " + firstLine(e.Msg), Err: err}
	case v1.ErrTimeout:
		return &Error{Kind: KindTimeout, Why: "it takes too long to answer: " + firstLine(e.Msg), Err: err}
	case v1.ErrServer, v1.ErrCanceled:
		return &Error{Kind: KindServerError, Why: "it cannot answer: " + firstLine(e.Msg), Err: err}
	case v1.ErrBadResponse, v1.ErrClient:
	}
	return &Error{Kind: KindNotPrometheus, Why: "its answer is not that of a Prometheus", Err: err} // the message may quote the answer
}
