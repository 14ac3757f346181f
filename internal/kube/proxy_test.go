// Proxies: those that tunnel, refuse, hang or are not there. None of it is blamed on the apiserver, and no password of a proxy is shown.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"errors"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

// through makes options with a proxy at an address, with a password in its URL.
func through(scheme, address string) Options {
	options := directOptions()
	options.Proxy = func(*url.URL) (*url.URL, error) {
		return wiretest.ProxyURL(scheme, address), nil
	}
	return options
}

func TestDialThroughAProxy(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	address := wiretest.Listen(t, wiretest.Proxy)
	conn, facts, err := newTestDialer(t, through("http", address)).Dial(within(t, ample), s.endpoint())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if facts[chain.FactProxy] != "http://"+address || facts[chain.FactAddress] != address || facts[chain.FactTLSSubject] != "CN=kube-apiserver" {
		t.Errorf("facts %v", facts)
	}
	for _, phase := range []chain.Fact{chain.FactTCPTime, chain.FactTLSTime, chain.FactHTTPTime} {
		if facts[phase] == "" {
			t.Errorf("no %s", phase)
		}
	}
}

func TestC55ProxyRefusals(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	answers := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			http.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, text)
			conn.Close()
		}
	}
	for name, c := range map[string]struct {
		scheme string
		handle func(net.Conn)
		within time.Duration
		reason chain.Reason
		detail string
	}{
		"denies":                     {"http", answers("HTTP/1.1 403 Forbidden\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n\r\n"), ample, chain.ReasonProxyDenied, "with 403 Forbidden; the apiserver was not reached"},
		"wants another password":     {"http", answers("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), ample, chain.ReasonProxyDenied, "with 407 Proxy Authentication Required"},
		"cannot reach the apiserver": {"http", answers("HTTP/1.1 504 Gateway Timeout\r\n\r\n"), ample, chain.ReasonProxyDenied, "with 504 Gateway Timeout"},
		"answers 204":                {"http", answers("HTTP/1.1 204 No Content\r\n\r\n"), ample, chain.ReasonProxyDenied, "with 204 No Content"},
		"closes":                     {"http", answers(""), ample, chain.ReasonProxyDenied, "opened no tunnel to"},
		"talks nonsense":             {"http", answers("hello\r\n\r\n"), ample, chain.ReasonProxyDenied, "opened no tunnel to"},
		"hangs":                      {"http", wiretest.Hang, brief, chain.ReasonTCPTimeout, "did not answer in time"},
		"is no SOCKS proxy":          {"socks5", noSOCKS, ample, chain.ReasonProxyDenied, "opened no tunnel to"},
		"is no TLS proxy":            {"https", answers("hello\r\n\r\n"), ample, chain.ReasonProxyDenied, "opened no tunnel to"},
		"hangs in its TLS handshake": {"https", wiretest.Hang, brief, chain.ReasonTCPTimeout, "did not answer in time"},
		"hangs after the tunnel":     {"http", answersThenHangs, brief, chain.ReasonTLSFailure, "did not finish the TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			address := wiretest.Listen(t, c.handle)
			e := dialFails(t, through(c.scheme, address), s.endpoint(), c.within, c.reason)
			has(t, e, c.detail)
			if text := fmt.Sprint(e, e.Facts, errors.Unwrap(e)); strings.Contains(text, "hunter2") || strings.Contains(text, "cHJvYmU6") || e.Facts[chain.FactProxy] != c.scheme+"://"+address {
				t.Errorf("the proxy's password shows, or its address does not: %s", text)
			}
		})
	}
	if connections, _ := s.count(); connections != 0 {
		t.Errorf("the apiserver saw %d connections", connections)
	}
}

func noSOCKS(conn net.Conn) {
	conn.Read(make([]byte, 16))
	io.WriteString(conn, "hello")
	conn.Close()
}

func answersThenHangs(conn net.Conn) {
	http.ReadRequest(bufio.NewReader(conn))
	io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	wiretest.Hang(conn)
}

func TestUnreachableProxyIsNotTheApiserver(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := listener.Addr().String()
	listener.Close()
	for name, address := range map[string]string{"refused": gone, "dropped": fullQueue(t)} {
		t.Run(name, func(t *testing.T) {
			e := dialFails(t, through("http", address), s.endpoint(), 2*brief, chain.ReasonProxyDenied)
			has(t, e, "the proxy http://"+address+" itself could not be reached, so nothing is known of the apiserver")
		})
	}
}

func TestUnreadableProxySetting(t *testing.T) {
	options := directOptions()
	options.Proxy = func(*url.URL) (*url.URL, error) { return nil, errors.New(`parse "http://probe:hunter2@": invalid`) }
	e := dialFails(t, options, serve(t, ready(http.NotFoundHandler())).endpoint(), ample, chain.ReasonProxyDenied)
	if strings.Contains(e.Error(), "hunter2") {
		t.Errorf("the proxy's password shows: %v", e)
	}
}
