// Proxies: those that tunnel, refuse, hang or are not there. What is a proxy's own doing is not blamed on the load balancer, and no password of a proxy is shown.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

// through are options with a proxy at an address, with a password in its URL.
func through(scheme, address string) Options {
	options := trusting(nil)
	options.Proxy = func(*url.URL) (*url.URL, error) {
		return wiretest.ProxyURL(scheme, address), nil
	}
	return options
}

func TestARequestThroughAProxy(t *testing.T) {
	s := serve(t, hello)
	ca := newCA(t)
	plain, secure := wiretest.Listen(t, wiretest.Proxy), wiretest.Listen(t, secured(t, ca, wiretest.Proxy))
	forwarding := serve(t, hello)
	for name, c := range map[string]struct {
		scheme, address string
		roots           []byte
	}{
		"http":  {"http", plain, nil},
		"https": {"https", secure, ca.PEM()},
	} {
		t.Run(name, func(t *testing.T) {
			options := through(c.scheme, c.address)
			options.Roots = ca.Pool()
			response, facts, _ := check(t, options, chain.Request{URL: s.URL, CAFile: caFile(t, s.ca.PEM()), SNI: shop, Timeout: ample}, verdict{})
			if response.Status != 200 || facts[chain.FactProxy] != c.scheme+"://"+c.address || facts[chain.FactAddress] != c.address || facts[chain.FactTLSSubject] != "CN=127.0.0.1" {
				t.Errorf("response %+v, facts %v", response, facts)
			}
			wantPhases(t, facts, chain.FactTCPTime, chain.FactTLSTime, chain.FactHTTPTime)
		})
	}
	t.Run("without TLS", func(t *testing.T) {
		address := wiretest.Listen(t, talk("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", closes))
		response, facts, _ := check(t, through("http", plain), chain.Request{URL: "http://" + address, Timeout: ample}, verdict{})
		if string(response.Body) != "ok" || facts[chain.FactProxy] != "http://"+plain {
			t.Errorf("response %+v, facts %v", response, facts)
		}
	})
	t.Run("without the password", func(t *testing.T) {
		options := through("http", plain)
		options.Proxy = func(*url.URL) (*url.URL, error) { return &url.URL{Scheme: "http", Host: plain}, nil }
		for scheme, address := range map[string]string{"https": s.URL[len("https://"):], "http": forwarding.URL[len("https://"):]} {
			response, _, _ := check(t, options, chain.Request{URL: scheme + "://" + address, Timeout: ample}, verdict{chain.ReasonReadFailed, "refused to go to " + address + ": it answered 407 Proxy Authentication Required"})
			if response.Status != 0 {
				t.Errorf("the proxy's answer passes for the load balancer's: %+v", response)
			}
		}
	})
}

func TestProxyRefusals(t *testing.T) {
	s := serve(t, hello)
	answers := func(text string) func(net.Conn) { return talk(text, closes) }
	tunnelled := "HTTP/1.1 200 OK\r\n\r\n"
	for name, c := range map[string]struct {
		scheme  string
		handle  func(net.Conn)
		timeout time.Duration
		want    verdict
	}{
		"denies":                             {"http", answers("HTTP/1.1 403 Forbidden\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n\r\n"), ample, verdict{chain.ReasonReadFailed, "it answered 403 Forbidden; nothing is known of the load balancer"}},
		"wants another password":             {"http", answers("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), ample, verdict{chain.ReasonReadFailed, "it answered 407 Proxy Authentication Required"}},
		"answers 204":                        {"http", answers("HTTP/1.1 204 No Content\r\n\r\n"), ample, verdict{chain.ReasonReadFailed, "it answered 204 No Content"}},
		"has too much to do":                 {"http", answers("HTTP/1.1 429 Too Many Requests\r\n\r\n"), ample, verdict{chain.ReasonReadFailed, "it answered 429"}},
		"is refused":                         {"http", answers("HTTP/1.1 502 Bad Gateway\r\n\r\n"), ample, verdict{chain.ReasonTCPFailure, "could not connect to " + s.Listener.Addr().String() + ": it answered 502 Bad Gateway"}},
		"cannot reach it":                    {"http", answers("HTTP/1.1 503 Service Unavailable\r\n\r\n"), ample, verdict{chain.ReasonTCPFailure, "it answered 503"}},
		"gets no answer from it":             {"http", answers("HTTP/1.1 504 Gateway Timeout\r\n\r\n"), ample, verdict{chain.ReasonTCPFailure, "it answered 504"}},
		"closes":                             {"http", answers(""), ample, verdict{chain.ReasonReadFailed, "opened no tunnel to"}},
		"talks nonsense":                     {"http", answers("hello\r\n\r\n"), ample, verdict{chain.ReasonReadFailed, "opened no tunnel to"}},
		"hangs":                              {"http", wiretest.Hang, brief, verdict{chain.ReasonTCPFailure, "did not answer in time: one of the two is silent"}},
		"is no SOCKS proxy":                  {"socks5", answers("hello"), ample, verdict{chain.ReasonReadFailed, "opened no tunnel to"}},
		"is no TLS proxy":                    {"https", answers("hello\r\n\r\n"), ample, verdict{chain.ReasonReadFailed, "opened no tunnel to"}},
		"hangs after the tunnel":             {"http", talk(tunnelled, wiretest.Hang), brief, verdict{chain.ReasonTLSFailure, "(through the proxy http://"}},
		"tunnels to what speaks no TLS":      {"http", talk(tunnelled, talk("HTTP/1.1 400 Bad Request\r\n\r\n", closes)), ample, verdict{chain.ReasonTLSFailure, "answered the handshake with plain HTTP"}},
		"breaks the tunnel in the handshake": {"http", talk(tunnelled, talk("", closes)), ample, verdict{chain.ReasonTCPFailure, "(through the proxy http://"}},
	} {
		t.Run(name, func(t *testing.T) {
			address := wiretest.Listen(t, c.handle)
			_, facts, e := check(t, through(c.scheme, address), chain.Request{URL: s.URL, Timeout: c.timeout}, c.want)
			if text := fmt.Sprint(e, e.Facts, e.Err); strings.Contains(text, "hunter2") || strings.Contains(text, "cHJvYmU6") || facts[chain.FactProxy] != c.scheme+"://"+address {
				t.Errorf("the proxy's password shows, or its address does not: %s", text)
			}
		})
	}
	if s.dialled != 0 {
		t.Errorf("the load balancer saw %d connections", s.dialled)
	}
}

func TestTheSandboxsProxy(t *testing.T) {
	s := serve(t, hello)
	proxy, err := sandbox.NewProxy(sandbox.ProxyRoute{Host: shop + ":*", Address: s.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Close() })
	options := trusting(s.ca)
	options.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse(proxy.URL()) }
	request := chain.Request{URL: "https://" + shop + "/", Timeout: ample}
	check(t, options, request, verdict{})
	proxy.SetMode(sandbox.ProxyDeny)
	check(t, options, request, verdict{chain.ReasonReadFailed, "the proxy " + proxy.URL() + " refused to go to " + shop + ":443: it answered 403 Forbidden"})
	proxy.SetMode(sandbox.ProxyHangs)
	request.Timeout = brief
	check(t, options, request, verdict{chain.ReasonTCPFailure, "the proxy " + proxy.URL() + " took the request for a tunnel"})
}

func TestAForwardingProxyThatBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		handle  func(net.Conn)
		timeout time.Duration
		want    verdict
	}{
		"closes": {talk("", closes), ample, verdict{chain.ReasonReadFailed, "gave no whole answer for shop.example.test:80, so nothing is known"}},
		"hangs":  {wiretest.Hang, brief, verdict{chain.ReasonTimeout, "shop.example.test:80 (through the proxy http://"}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, through("http", wiretest.Listen(t, c.handle)), chain.Request{URL: "http://" + shop, Timeout: c.timeout}, c.want)
		})
	}
}

func TestAnUnreachableProxyIsNotTheLoadBalancer(t *testing.T) {
	for name, address := range map[string]string{"refused": closedPort(t), "dropped": blackhole(t)} {
		t.Run(name, func(t *testing.T) {
			check(t, through("http", address), chain.Request{URL: "https://" + shop, Timeout: 2 * brief},
				verdict{chain.ReasonReadFailed, "the proxy http://" + address + " itself could not be reached, so nothing is known of the load balancer"})
		})
	}
	server, options := dns(t, through("http", "gateway.test:3128"))
	server.Answer("gateway.test", sandbox.DNSNXDomain)
	check(t, options, chain.Request{URL: "https://" + shop, Timeout: ample}, verdict{chain.ReasonReadFailed, "itself could not be reached"})
}
