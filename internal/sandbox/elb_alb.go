// The listeners of an application load balancer on loopback: real HTTPS and HTTP, behind which targets answer in-process. No target's address is ever dialled.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// ALB serves the HTTPS and HTTP listeners of one load balancer of the state (HTTP/1.1 and HTTP/2). It is safe for concurrent use.
type ALB struct {
	state  *State
	arn    string
	ca     *CA
	shown  atomic.Pointer[tls.Certificate]
	manner atomic.Uint32
	turn   map[string]int // by group, whose target is next; under the state's lock

	https, http net.Listener
	server      *http.Server
	stop        context.CancelFunc
	running     connections
	handling    sync.RWMutex // held for reading by every request
}

// NewALB serves the load balancer on free ports of 127.0.0.1, with a certificate of the authority's for the hosts of its rules.
func NewALB(state *State, ca *CA, balancer string) (*ALB, error) {
	a := &ALB{state: state, arn: balancer, ca: ca, turn: map[string]int{}}
	if err := a.ServeCertificate(CertificateGood); err != nil {
		return nil, err
	}
	var err error
	if a.https, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listening for %s on loopback: %w", balancer, err)
	}
	if a.http, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(fmt.Errorf("listening for %s on loopback: %w", balancer, err), a.https.Close())
	}
	a.start()
	return a, nil
}

func (a *ALB) start() {
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	a.server = a.running.server(ctx, a, a.certificate)
	a.running.Go(func() { _ = a.server.ServeTLS(a.https, "", "") }) // always ErrServerClosed or the listener's end
	a.running.Go(func() { _ = a.server.Serve(a.http) })
}

// URL is where a host of a rule is served over TLS, such as https://shop.example.test:40123. The host is known to the sandbox's DNS.
func (a *ALB) URL(host string) string { return "https://" + withPort(host, a.https) }

// PlainURL is where a host of a rule is served without TLS.
func (a *ALB) PlainURL(host string) string { return "http://" + withPort(host, a.http) }

func withPort(host string, listener net.Listener) string {
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // a listener's address has one
	return net.JoinHostPort(host, port)
}

// ServeHTTP implements http.Handler.
func (a *ALB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.handling.RLock()
	defer a.handling.RUnlock()
	if ALBManner(a.manner.Load()) == ALBSilent {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	e, status := a.receive(r)
	if status == 0 {
		status = a.forward(w, r, e)
	}
	if status != 0 {
		ownAnswer(w, status)
	}
}

// exchange is a request with the target that has it.
type exchange struct {
	target *RegisteredTarget
	reply  Reply         // as it was when the request came
	idle   time.Duration // for how long the load balancer waits
}

// receive finds the target of a request, or the status of the load balancer's own answer.
func (a *ALB) receive(r *http.Request) (e exchange, status int) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	protocol := "HTTP"
	if r.TLS != nil {
		protocol = "HTTPS"
	}
	a.state.Change(func(s *State) {
		if e.target, status = s.route(a.arn, protocol, host, a.turn); status == 0 {
			e.reply, e.idle = e.target.Reply, s.ELB.balancers[a.arn].idle()
		}
	})
	return e, status
}

// forward hands a request to its target and its answer to the client, and returns 0. When no answer comes, it returns the status of the load balancer's own.
// A target whose process ends meanwhile breaks the request off when it would have answered.
func (a *ALB) forward(w http.ResponseWriter, r *http.Request, e exchange) (status int) {
	wait := time.NewTimer(min(e.reply.Delay, e.idle))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	if e.reply.Delay > e.idle {
		return http.StatusGatewayTimeout
	}
	var gone bool
	a.state.Change(func(*State) { gone = e.target.Reply.Gone })
	if gone {
		return http.StatusBadGateway
	}
	e.reply.write(w, e.target.ID)
	return 0
}

// Close ends the listeners and every connection, and waits for their goroutines. Closing twice is harmless.
func (a *ALB) Close() error {
	a.stop()
	err := a.server.Close()
	a.running.Wait()
	a.handling.Lock() // HTTP/2 runs requests beside their connection
	defer a.handling.Unlock()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
