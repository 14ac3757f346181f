// A transport without a network: requests go straight to a handler, so that a test in virtual time can ask the sandbox.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// InProcess is a transport whose every request is answered by the handler, in the caller's goroutine. When the handler drops the connection, the request ends with io.EOF.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (response *http.Response, err error) {
	defer func() {
		switch dropped := recover(); dropped {
		case nil:
		case http.ErrAbortHandler:
			response, err = nil, fmt.Errorf("asking %s: %w", r.URL.Host, io.EOF)
		default:
			panic(dropped)
		}
	}()
	served := r.Clone(r.Context())
	if served.Host == "" {
		served.Host = r.URL.Host
	}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	w := &written{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(w, served)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, served.Body.Close()
}

// written is what a handler wrote.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *written) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *written) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *written) Write(p []byte) (int, error) { return w.body.Write(p) }
