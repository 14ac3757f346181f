// The embedded engine's API without a network: a transport that calls a handler.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"bytes"
	"io"
	"net/http"
)

// HandlerTransport serves requests by a handler in this process. The handler must end when the context of its request does.
func HandlerTransport(handler http.Handler) http.RoundTripper { return handlerTransport{handler} }

type handlerTransport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t handlerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	served := req.Clone(req.Context())
	served.RequestURI = req.URL.RequestURI()
	if served.Body == nil {
		served.Body = http.NoBody
	}
	defer served.Body.Close()
	w := &responseWriter{header: http.Header{}}
	t.handler.ServeHTTP(w, served)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK) // of a handler that wrote nothing
	return &http.Response{
		StatusCode: w.code, Status: http.StatusText(w.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: req,
	}, nil
}

// responseWriter keeps what a handler writes.
type responseWriter struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. The first one counts.
func (w *responseWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
