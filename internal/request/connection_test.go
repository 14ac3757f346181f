// A request is one connection, made for it and ended with it, whatever the server or the caller does.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestEveryRequestIsOneNewConnection(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		s := serve(t, hello, func(s *server) { s.EnableHTTP2 = http2 })
		client := newClient(t, trusting(s.ca))
		for range 3 {
			if _, _, err := client.Do(t.Context(), chain.Request{URL: s.URL, Timeout: ample}); err != nil {
				t.Fatal(err)
			}
		}
		s.mu.Lock()
		if s.dialled != 3 || s.requests != 3 || s.resumed != 0 {
			t.Errorf("HTTP/2 %v: %d connections with %d requests, %d resumed; want 3, 3 and none", http2, s.dialled, s.requests, s.resumed)
		}
		s.mu.Unlock()
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := serve(t, hello)
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := serve(t, http.RedirectHandler(elsewhere.URL, code).ServeHTTP)
		response, facts, _ := check(t, trusting(s.ca), chain.Request{URL: s.URL, Timeout: ample}, verdict{})
		if response.Status != code || response.Header.Get("Location") != elsewhere.URL || facts[chain.FactHTTPStatus] != fmt.Sprint(code) {
			t.Errorf("%d: response %+v", code, response)
		}
	}
	if elsewhere.dialled != 0 {
		t.Errorf("%d connections to where the redirect points", elsewhere.dialled)
	}
}

// Nothing that is owed on a connection keeps it open: not the rest of a body, and not a request that was given up before it was sent.
func TestTheConnectionEndsWithTheCall(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		lost := make(chan struct{}, 3)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/long" {
				io.WriteString(w, strings.Repeat("a", 1<<20))
			}
		}, func(s *server) {
			s.EnableHTTP2 = http2
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					lost <- struct{}{}
				}
			}
		})
		for name, handshaken := range map[string]func(cancel func()){"answered": func(func()) {}, "given up": func(cancel func()) { cancel() }} {
			for _, path := range []string{"/", "/long"} {
				ctx, cancel := context.WithCancel(t.Context())
				ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{TLSHandshakeDone: func(tls.ConnectionState, error) { handshaken(cancel) }})
				_, _, err := newClient(t, trusting(s.ca)).Do(ctx, chain.Request{URL: s.URL + path, Timeout: ample})
				if (err != nil) != (name == "given up") {
					t.Errorf("%s: error %v", name, err)
				}
				select {
				case <-lost:
				case <-time.After(ample / 4):
					t.Fatalf("HTTP/2 %v, %s, %s: the server still has the connection", http2, name, path)
				}
				cancel()
			}
		}
	}
}

func TestCancellationIsNobodysFailure(t *testing.T) {
	asked := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, _, err := newClient(t, trusting(s.ca)).Do(ctx, chain.Request{URL: s.URL, Timeout: ample}); !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
		t.Errorf("error %v (%T), want the context's own", err, err)
	}
}

func TestAnEndedContextBlamesNoPhase(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, _, err := newClient(t, trusting(nil)).Do(ctx, chain.Request{URL: "https://127.0.0.1:1", Timeout: ample}); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*chain.Error)) {
		t.Errorf("error %v (%T), want the context's own", err, err)
	}
}
