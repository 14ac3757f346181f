// Close ends the connection, whatever the server still owes on it: neither a socket nor a goroutine outlives the run.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

// ended is told of each connection that a server lost.
type ended chan struct{}

func (e ended) watch(s *httptest.Server) {
	counted := s.Config.ConnState
	s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		counted(conn, state)
		if state == http.StateClosed {
			e <- struct{}{}
		}
	}
}

func (e ended) wait(t *testing.T) {
	t.Helper()
	select {
	case <-e:
	case <-within(t, ample/4).Done(): // well before the question's own deadline, which would end the connection too
		t.Fatal("the server still has the connection")
	}
}

func TestCloseEndsAConnectionThatOwesAnAnswer(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			lost, asked := make(ended, 1), make(chan struct{})
			s := serve(t, ready(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				close(asked)
				<-r.Context().Done()
			})), func(s *httptest.Server) { s.EnableHTTP2 = proto == "HTTP/2.0" }, lost.watch)
			before := goleak.IgnoreCurrent()
			conn := connect(t, s)
			ctx, cancel := context.WithTimeout(context.Background(), ample)
			defer cancel()
			var wait sync.WaitGroup
			wait.Go(func() { _, _ = conn.Access(ctx, testToken, chain.Rule{Verb: "get", Resource: "pods"}) })
			<-asked
			conn.Close()
			lost.wait(t)
			cancel()
			wait.Wait()
			s.Close()
			goleak.VerifyNone(t, before)
		})
	}
}

func TestCloseAfterADeadline(t *testing.T) {
	const rounds, questions = 20, 10
	lost, asked := make(ended, rounds), make(chan struct{}, questions)
	s := serve(t, ready(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	})), lost.watch)
	before := goleak.IgnoreCurrent()
	for range rounds {
		conn := connect(t, s)
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		for range questions {
			wait.Go(func() { _, _ = conn.Access(ctx, testToken, chain.Rule{Verb: "get", Resource: "pods"}) })
		}
		for range questions {
			<-asked
		}
		cancel() // as a deadline does: the calls return before their streams are forgotten
		wait.Wait()
		conn.Close()
		lost.wait(t)
	}
	goleak.VerifyNone(t, before)
}

// The transport may still dial for a question that gave up.
func TestADialThatComesLateIsClosed(t *testing.T) {
	lost := make(chan struct{})
	address := wiretest.Listen(t, func(conn net.Conn) { wiretest.Hang(conn); close(lost) })
	late := &connections{dialer: &net.Dialer{}, open: map[*connection]bool{}}
	late.close()
	if conn, err := late.dial(within(t, ample), "tcp", address); conn != nil || !errors.Is(err, net.ErrClosed) {
		t.Fatalf("got %v, error %v", conn, err)
	}
	select {
	case <-lost:
	case <-within(t, ample/4).Done():
		t.Error("the connection stays open")
	}
}
