// Errors that loopback cannot make: trouble of this machine, an unknown in every phase since it says nothing about DNS, a proxy or an apiserver; and what the network says.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// noSocket is a resolver whose machine has no file left for a socket.
func noSocket() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "udp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}}
}

func TestALookUpWithoutASocket(t *testing.T) {
	proxied := through("http", "gateway.test:3128")
	for name, options := range map[string]Options{"of the apiserver": directOptions(), "of the proxy": proxied} {
		t.Run(name, func(t *testing.T) {
			options.Resolver = noSocket()
			conn, facts, err := newTestDialer(t, options).Dial(within(t, ample), Endpoint{URL: "https://gone.test", CA: newCA(t, "ca", time.Now().Add(time.Hour)).pem})
			e := wantFailure(t, err, chain.StepNone, chain.ReasonReadFailed)
			has(t, e, "this machine could not connect to gone.test", "too many open files")
			if conn != nil || facts[chain.FactDNSTime] == "" || facts[chain.FactTCPTime] != "" {
				t.Errorf("facts %v", facts)
			}
		})
	}
}

func TestTroubleOfThisMachineInEveryPhase(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: "gateway.test:3128"}
	for _, phase := range []wire.Phase{wire.PhaseNone, wire.PhaseDNS, wire.PhaseTCP, wire.PhaseProxy, wire.PhaseTLS, wire.PhaseHTTP} {
		for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.EADDRNOTAVAIL, syscall.EPERM} {
			for _, through := range []*url.URL{nil, proxy} {
				conn := &Conn{target: &url.URL{Scheme: "https", Host: "a.test:443"}, proxy: through, dialer: newTestDialer(t, directOptions())}
				cause := &url.Error{Op: "Get", URL: "https://a.test:443/readyz", Err: &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", errno)}}
				t.Run(fmt.Sprint(phase, errno, through != nil), func(t *testing.T) {
					e := wantFailure(t, conn.connectionError(context.Background(), wire.Seen{Open: phase}, cause), chain.StepNone, chain.ReasonReadFailed)
					has(t, e, errno.Error())
				})
			}
		}
	}
}

func TestTCPErrorsOfTheNetwork(t *testing.T) {
	conn := &Conn{target: &url.URL{Scheme: "https", Host: "a.test:443"}, dialer: newTestDialer(t, directOptions())}
	for errno, want := range map[syscall.Errno]struct {
		reason chain.Reason
		detail string
	}{
		syscall.EHOSTUNREACH: {chain.ReasonTCPRefused, "not from the apiserver"},
		syscall.ENETUNREACH:  {chain.ReasonTCPRefused, "not from the apiserver"},
		syscall.ECONNRESET:   {chain.ReasonTCPRefused, "connection reset"},
		syscall.ETIMEDOUT:    {chain.ReasonTCPTimeout, "no answer in time"},
	} {
		cause := &url.Error{Op: "Get", URL: "https://a.test:443/readyz", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}}
		e := wantFailure(t, conn.connectionError(context.Background(), wire.Seen{Open: wire.PhaseTCP}, cause), chain.StepEndpoint, want.reason)
		has(t, e, want.detail, "a.test:443")
	}
}
