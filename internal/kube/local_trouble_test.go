// Trouble of this machine is an unknown in every phase: it says nothing about DNS, a proxy or an apiserver.
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
	for _, phase := range []phase{phaseNone, phaseDNS, phaseTCP, phaseProxy, phaseTLS, phaseHTTP} {
		for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.EADDRNOTAVAIL, syscall.EPERM} {
			for _, through := range []*url.URL{nil, proxy} {
				conn := &Conn{target: &url.URL{Scheme: "https", Host: "a.test:443"}, proxy: through, dialer: newTestDialer(t, directOptions())}
				cause := &url.Error{Op: "Get", URL: "https://a.test:443/readyz", Err: &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", errno)}}
				t.Run(fmt.Sprint(phase, errno, through != nil), func(t *testing.T) {
					e := wantFailure(t, conn.connectionError(context.Background(), &trace{phase: phase}, cause), chain.StepNone, chain.ReasonReadFailed)
					has(t, e, errno.Error())
				})
			}
		}
	}
}
