// One request on its way: the timeout, the retry, and what a response means before anybody reads its JSON.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// maxAnswer is the longest answer that is read.
const maxAnswer = 64 << 20

// transport tries a request twice at most. Its errors are of type *Error; its responses have been read in full.
type transport struct {
	next      http.RoundTripper
	server    string
	timeout   time.Duration
	redirects bool // are followed
	pause     func() time.Duration
}

// pause is how long to wait before the retry: not as long for everybody whose connection broke at the same time.
func pause() time.Duration {
	return 100*time.Millisecond + rand.N(200*time.Millisecond) //nolint:gosec // nobody gains by guessing it
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, failed, again := t.once(req)
	if again {
		timer := time.NewTimer(t.pause())
		defer timer.Stop()
		select {
		case <-req.Context().Done():
			failed = ended(req.Context(), t.timeout)
		case <-timer.C:
			resp, failed, _ = t.once(req)
		}
	}
	if failed != nil {
		failed.Server = t.server
		return nil, failed
	}
	return resp, nil
}

// once tries a request, and says whether to try it again.
func (t *transport) once(req *http.Request) (resp *http.Response, failed *Error, again bool) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), t.timeout, errRequestTimeout)
	defer cancel()
	try := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, &Error{Kind: KindUnknown, Why: "the request cannot be written again", Err: err}, false
		}
		try.Body = body
	}
	resp, err := t.next.RoundTrip(try)
	if err != nil {
		failed, again = t.broken(ctx, err)
		return nil, failed, again
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		failed, again = t.broken(ctx, err)
		return nil, failed, again
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	failed = t.judge(req, resp, answer)
	return resp, failed, failed != nil && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500)
}

// broken is the error of a request without a response, and whether to try it again.
func (t *transport) broken(ctx context.Context, err error) (failed *Error, again bool) {
	switch why, connection := connectionTrouble(err); {
	case ctx.Err() != nil:
		return ended(ctx, t.timeout), false
	case connection && untrusted(err):
		return &Error{Kind: KindUnreachable, Why: "the TLS connection cannot be trusted: " + why, Err: err}, false
	case connection:
		return &Error{Kind: KindUnreachable, Why: "it cannot be reached: " + why, Err: err}, true
	}
	return &Error{Kind: KindUnauthorized, Why: "its credentials cannot be had: " + firstLine(err.Error()), Err: err}, false // what else stands between us and the connection
}

// judge is the error that a response is; nil when its body is to be read.
func (t *transport) judge(req *http.Request, resp *http.Response, answer []byte) *Error {
	status := fmt.Sprintf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	isJSON := bytes.HasPrefix(bytes.TrimLeft(answer, " \t\r\n"), []byte("{"))
	switch code := resp.StatusCode; {
	case len(answer) > maxAnswer:
		return errorOf(KindTooMany, "its answer is longer than %d MiB", maxAnswer>>20)
	case code >= 300 && code < 400 && t.redirects && resp.Header.Get("Location") != "":
		return nil
	case code == http.StatusUnauthorized:
		return errorOf(KindUnauthorized, "%s", status)
	case code == http.StatusForbidden || code == http.StatusMethodNotAllowed || code == http.StatusNotImplemented:
		if req.Method == http.MethodPost {
			return nil // client_golang asks again with GET
		}
		return errorOf(map[bool]Kind{true: KindUnauthorized, false: KindNotPrometheus}[code == http.StatusForbidden], "%s", status)
	case code == http.StatusTooManyRequests:
		return errorOf(KindTooMany, "%s", status)
	case code >= 500:
		return serverError(status, answer)
	case isJSON && (code < 300 || code == http.StatusBadRequest || code == http.StatusUnprocessableEntity):
		return nil
	case code < 300:
		return errorOf(KindNotPrometheus, "its answer is no JSON but %s", contentType(resp))
	}
	return errorOf(KindNotPrometheus, "%s", status)
}

// serverError is a 5xx, with what a Prometheus says of it.
func serverError(status string, answer []byte) *Error {
	var said struct{ ErrorType, Error string }
	if err := json.Unmarshal(answer, &said); err != nil || said.Error == "" {
		return errorOf(KindServerError, "%s", status)
	}
	kind := KindServerError
	if said.ErrorType == "timeout" {
		kind = KindTimeout
	}
	return errorOf(kind, "%s: %s", status, firstLine(said.Error))
}

func contentType(resp *http.Response) string {
	if kind := resp.Header.Get("Content-Type"); kind != "" {
		return firstLine(kind)
	}
	return "something else"
}

// checkRedirect lets the client follow redirects if it may.
func (t *transport) checkRedirect(_ *http.Request, via []*http.Request) error {
	switch {
	case !t.redirects:
		return http.ErrUseLastResponse
	case len(via) >= 10:
		return errorOf(KindNotPrometheus, "it redirects in a circle")
	}
	return nil
}
