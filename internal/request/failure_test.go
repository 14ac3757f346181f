// Each way in which a request breaks, made for real on loopback, and the one reason that it must get.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

func rewrite(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDNSFailures(t *testing.T) {
	for name, c := range map[string]struct {
		answer  sandbox.DNSAnswer
		timeout time.Duration
		detail  string
	}{
		"NXDOMAIN":  {sandbox.DNSNXDomain, ample, "the resolver knows no address for the name shop.example.test"},
		"SERVFAIL":  {sandbox.DNSServFail, ample, "says server misbehaving"},
		"no answer": {sandbox.DNSSilent, brief, "no answer from the resolver for shop.example.test in time"},
	} {
		t.Run(name, func(t *testing.T) {
			server, options := dns(t, trusting(nil))
			server.Answer(shop, c.answer)
			response, facts, _ := check(t, options, chain.Request{URL: "https://" + shop, Timeout: c.timeout}, verdict{chain.ReasonDNSFailure, c.detail})
			wantPhases(t, facts, chain.FactDNSTime)
			if response.Status != 0 || facts[chain.FactHost] != shop || facts[chain.FactAddress] != "" {
				t.Errorf("response %+v, facts %v", response, facts)
			}
		})
	}
}

func TestTCPFailures(t *testing.T) {
	refusing, silent := closedPort(t), blackhole(t)
	for name, c := range map[string]struct {
		address string
		timeout time.Duration
		detail  string
		cause   error
	}{
		"refused": {refusing, ample, refusing + " refused the connection", syscall.ECONNREFUSED},
		"dropped": {silent, brief, "connecting to " + silent + ": no answer in time", context.DeadlineExceeded},
	} {
		for _, scheme := range []string{"https", "http"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				_, facts, e := check(t, trusting(nil), chain.Request{URL: scheme + "://" + c.address, Timeout: c.timeout}, verdict{chain.ReasonTCPFailure, c.detail})
				wantPhases(t, facts, chain.FactTCPTime)
				if facts[chain.FactAddress] != c.address || !errors.Is(e, c.cause) {
					t.Errorf("facts %v, cause %v", facts, e.Err)
				}
			})
		}
	}
}

// A call with a trace is enough to judge errors that loopback cannot make.
func testCall(open wire.Phase, tried ...wire.Attempt) *call {
	target := &url.URL{Scheme: "https", Host: "a.test"}
	return &call{options: trusting(nil), target: target, address: "a.test:443", request: chain.Request{Timeout: ample}, seen: wire.Seen{Open: open, Tried: tried}}
}

func dialError(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

func TestWhoIsToBlameForAnAddress(t *testing.T) {
	const here, nowhere = "127.0.0.1:443", "bad address" // the second has no route by any routing table
	for name, c := range map[string]struct {
		tried []wire.Attempt
		want  verdict
	}{
		"the network says unreachable":       {[]wire.Attempt{{Address: here, Err: dialError(syscall.EHOSTUNREACH)}}, verdict{chain.ReasonTCPFailure, "this came from the network"}},
		"this machine has no route":          {[]wire.Attempt{{Address: nowhere, Err: dialError(syscall.ENETUNREACH)}}, verdict{chain.ReasonReadFailed, "this machine could not connect to a.test:443"}},
		"no route to one, the other refuses": {[]wire.Attempt{{Address: nowhere, Err: dialError(syscall.ENETUNREACH)}, {Address: here, Err: dialError(syscall.ECONNREFUSED)}}, verdict{chain.ReasonTCPFailure, ""}},
		"no IPv6 here, the other refuses":    {[]wire.Attempt{{Address: "[::2]:443", Err: dialError(syscall.EADDRNOTAVAIL)}, {Address: here, Err: dialError(syscall.ECONNREFUSED)}}, verdict{chain.ReasonTCPFailure, ""}},
		"no port is left for any":            {[]wire.Attempt{{Address: here, Err: dialError(syscall.EADDRNOTAVAIL)}, {Address: "127.0.0.2:443", Err: dialError(syscall.EADDRNOTAVAIL)}}, verdict{chain.ReasonReadFailed, "cannot assign"}},
		"one hangs":                          {[]wire.Attempt{{Address: here, Err: dialError(syscall.EADDRNOTAVAIL)}, {Address: "127.0.0.2:443", Err: nil}}, verdict{chain.ReasonTCPFailure, ""}},
		"the kernel gave up":                 {[]wire.Attempt{{Address: here, Err: dialError(syscall.ETIMEDOUT)}}, verdict{chain.ReasonTCPFailure, "no answer in time"}},
		"something else":                     {[]wire.Attempt{{Address: here, Err: dialError(syscall.EINVAL)}}, verdict{chain.ReasonTCPFailure, "invalid argument"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, testCall(wire.PhaseTCP, c.tried...).failure(t.Context(), c.tried[0].Err, false), c.want)
		})
	}
}

func TestTroubleOfThisMachineInEveryPhase(t *testing.T) {
	for _, open := range []wire.Phase{wire.PhaseNone, wire.PhaseDNS, wire.PhaseTCP, wire.PhaseProxy, wire.PhaseTLS, wire.PhaseHTTP} {
		for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.EADDRNOTAVAIL, syscall.EPERM} {
			t.Run(fmt.Sprint(open, errno), func(t *testing.T) {
				wantError(t, testCall(open).failure(t.Context(), dialError(errno), false), verdict{chain.ReasonReadFailed, errno.Error()})
			})
		}
	}
}

func TestNoFileForTheLookUp(t *testing.T) {
	options := trusting(nil)
	options.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "udp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}}
	check(t, options, chain.Request{URL: "https://" + shop, Timeout: ample}, verdict{chain.ReasonReadFailed, "too many open files"})
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	s := serve(t, hello)
	empty, broken := caFile(t, nil), caFile(t, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	unreadable := trusting(s.ca)
	unreadable.Proxy = func(*url.URL) (*url.URL, error) { return nil, errors.New(`parse "http://probe:hunter2@": invalid`) }
	gone := filepath.Join(t.TempDir(), "gone.pem")
	for name, c := range map[string]struct {
		options Options
		request chain.Request
		detail  string
	}{
		"a CA file that is not there":    {trusting(nil), chain.Request{URL: s.URL, CAFile: gone}, "reading the CA file " + gone + " of the request: no such file or directory"},
		"a CA file that is a directory":  {trusting(nil), chain.Request{URL: s.URL, CAFile: t.TempDir()}, "not a regular file"},
		"an empty CA file":               {trusting(nil), chain.Request{URL: s.URL, CAFile: empty}, "it holds no PEM certificate"},
		"a broken CA file":               {trusting(nil), chain.Request{URL: s.URL, CAFile: broken}, "certificate 1: x509: malformed"},
		"proxy settings that are no URL": {unreadable, chain.Request{URL: s.URL}, "the proxy settings of this process cannot be read as a URL"},
		"no URL":                         {trusting(nil), chain.Request{}, `"" is not a plain http or https URL`},
		"another scheme":                 {trusting(nil), chain.Request{URL: "ftp://a.test"}, "is not a plain http or https URL"},
		"no host":                        {trusting(nil), chain.Request{URL: "https:///a"}, "is not a plain http or https URL"},
		"a user":                         {trusting(nil), chain.Request{URL: "https://probe:hunter2@a.test/"}, "holds a user name"},
		"a malformed URL with a user":    {trusting(nil), chain.Request{URL: "https://probe:hunter2@a.test:port/"}, "cannot be parsed"},
		"a host that IDNA does not know": {trusting(nil), chain.Request{URL: "https://\u200dä.test/"}, "as DNS knows it"},
		"a port that is none":            {trusting(nil), chain.Request{URL: "https://127.0.0.1:99999/"}, "is not a plain http or https URL"},
		"a Host header that is none":     {trusting(s.ca), chain.Request{URL: s.URL, Host: "a b"}, `the request's host "a b" cannot be a Host header`},
	} {
		t.Run(name, func(t *testing.T) {
			c.request.Timeout = ample
			_, _, e := check(t, c.options, c.request, verdict{chain.ReasonReadFailed, c.detail})
			if strings.Contains(e.Error(), "hunter2") {
				t.Errorf("a password shows: %v", e)
			}
		})
	}
	if s.requests != 0 {
		t.Errorf("the server got %d requests", s.requests)
	}
}

// The step's share of the run may leave less time than the request's own timeout: then silence convicts nobody.
func TestTheCallersDeadlineComesFirst(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, c := range map[string]struct {
		url    string
		within time.Duration
		own    time.Duration
		want   verdict
	}{
		"in HTTP":              {s.URL, brief, ample, verdict{chain.ReasonReadFailed, "in the request's phase HTTP and before its own timeout of 20s"}},
		"in TLS":               {"https://" + wiretest.Listen(t, wiretest.Hang), brief, ample, verdict{chain.ReasonReadFailed, "phase TLS"}},
		"in TCP":               {"https://" + blackhole(t), brief, ample, verdict{chain.ReasonReadFailed, "phase TCP"}},
		"a verdict before it":  {"https://" + closedPort(t), ample, 2 * ample, verdict{chain.ReasonTCPFailure, "refused"}},
		"our own before it":    {s.URL, ample, brief, verdict{chain.ReasonTimeout, "within 300ms"}},
		"our own, no deadline": {s.URL, 0, brief, verdict{chain.ReasonTimeout, "within 300ms"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if c.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, c.within, errors.New("the step's share"))
				defer cancel()
			}
			_, _, err := newClient(t, trusting(s.ca)).Do(ctx, chain.Request{URL: c.url, Timeout: c.own})
			wantError(t, err, c.want)
		})
	}
}

func TestTheDeadlineIsFoundBehindItsCause(t *testing.T) {
	_, _, e := check(t, trusting(nil), chain.Request{URL: "https://" + wiretest.Listen(t, wiretest.Hang), Timeout: brief}, verdict{chain.ReasonTLSFailure, "did not finish the TLS handshake in time"})
	if !errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Err.Error(), "the request's timeout of 300ms") {
		t.Errorf("cause %v, want the deadline and its cause in it", e.Err)
	}
}
