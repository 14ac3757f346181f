// The open connections of a server of the sandbox, which waits for them when it closes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections are the goroutines of a server: its accept loop and every open connection.
type connections struct{ sync.WaitGroup }

// server serves HTTP/1.1 and HTTP/2, and counts its connections here. Its requests end with ctx.
func (c *connections) server(ctx context.Context, handler http.Handler, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *http.Server {
	return &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute,
		ErrorLog:  log.New(io.Discard, "", 0), // a client that refuses the certificate is a case, not news
		ConnState: c.count,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			SessionTicketsDisabled: true, // a resumed session would not see a swapped certificate
			GetCertificate:         certificate,
		},
	}
}

// count keeps a place for every connection: an http.Server's ConnState. The accept loop holds one of its own while it adds others.
func (c *connections) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.Done()
	case http.StateActive, http.StateIdle:
	}
}
