// The plain HTTP server on loopback under the services of the exporter's own node, which AWS puts at link-local addresses.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// nodeServer is an awsServer without TLS.
type nodeServer struct{ *awsServer }

func newNodeServer(service string, state *State, handler http.Handler) (nodeServer, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nodeServer{}, fmt.Errorf("listening for %s on loopback: %w", service, err)
	}
	s := &awsServer{service: service, state: state, listener: listener}
	s.http = &http.Server{
		Handler: s.frame(handler), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), ConnState: s.running.count,
	}
	s.running.Go(func() { _ = s.http.Serve(listener) }) // always ErrServerClosed or the listener's end
	return nodeServer{s}, nil
}

// URL is where the service listens, such as http://127.0.0.1:40123.
func (s nodeServer) URL() string { return "http://" + s.Addr() }
