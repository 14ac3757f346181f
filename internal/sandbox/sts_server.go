// The HTTPS server on loopback under both AWS services: its life, its limits, and the frame of every answer.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// maxAWSBody bounds a request; the largest real one carries a web identity token and a session policy.
const maxAWSBody = 64 << 10

// awsServer serves HTTP/1.1, as the AWS services do.
type awsServer struct {
	service  string
	state    *State
	listener net.Listener
	http     *http.Server
	running  connections
}

func newAWSServer(service string, state *State, ca *CA, handler http.Handler) (*awsServer, error) {
	cert, err := ca.Issue(IssueOptions{Names: serviceNames(service)})
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for %s on loopback: %w", service, err)
	}
	s := &awsServer{service: service, state: state, listener: listener}
	s.http = &http.Server{
		Handler:           s.frame(handler),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog:  log.New(io.Discard, "", 0), // a client that refuses the certificate is a case, not news
		ConnState: s.running.count,
	}
	s.running.Go(func() {
		config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
		_ = s.http.Serve(tls.NewListener(listener, config)) // always ErrServerClosed or the listener's end
	})
	return s, nil
}

// frame drops the connection of a service that is off, and puts the clock and the request's id on every other answer.
func (s *awsServer) frame(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var off bool
		var now time.Time
		s.state.Change(func(state *State) { off, now = state.Off[s.service], state.now() })
		if off {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		w.Header().Set("X-Amzn-Requestid", newRequestID())
		next.ServeHTTP(w, r)
	})
}

// URL is where the service listens, such as https://127.0.0.1:40123: an AWS_ENDPOINT_URL.
func (s *awsServer) URL() string { return "https://" + s.Addr() }

// Addr is host:port of the listener.
func (s *awsServer) Addr() string { return s.listener.Addr().String() }

// Close ends the listener and every connection, and waits for their goroutines. Closing twice is harmless.
func (s *awsServer) Close() error {
	err := s.http.Close()
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("closing %s on loopback: %w", s.service, err)
	}
	return nil
}

// readBody reads a request's body up to the limit.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *awsError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAWSBody))
	if err != nil {
		return nil, &awsError{http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Request body is too large or was cut short."}
	}
	return body, nil
}

// newRequestID is a random UUID, version 4.
func newRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
