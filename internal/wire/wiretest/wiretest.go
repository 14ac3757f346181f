// What listens on loopback for the tests of those that speak over the wire: raw TCP listeners, and a proxy.
//
// SPDX-License-Identifier: Apache-2.0

// Package wiretest is the other side of the wire below TLS, for tests alone.
package wiretest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// Listen starts a raw TCP listener and returns its address. Each connection is handled in a goroutine that the test waits for, and closed at the end of the test.
func Listen(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		conns []net.Conn
	)
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			wait.Go(func() { handle(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		wait.Wait()
	})
	return listener.Addr().String()
}

// Hang reads until the connection is closed, and never answers.
func Hang(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) } // the end is all that it waits for

// ProxyURL is a Proxy at an address, with the password that it wants.
func ProxyURL(scheme, address string) *url.URL {
	return &url.URL{Scheme: scheme, Host: address, User: url.UserPassword("probe", "hunter2")}
}

// Proxy handles a connection as a proxy that wants the password: it tunnels, and forwards what is no CONNECT by asking for it itself.
func Proxy(conn net.Conn) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if request.Header.Get("Proxy-Authorization") != "Basic cHJvYmU6aHVudGVyMg==" {
		answer(conn, "407 Proxy Authentication Required")
		return
	}
	upstream, err := (&net.Dialer{}).DialContext(request.Context(), "tcp", request.Host)
	if err != nil {
		answer(conn, "502 Bad Gateway")
		return
	}
	if request.Method == http.MethodConnect {
		answer(conn, "200 Connection established")
	} else {
		_ = request.Write(upstream) // what is lost here shows in what does not come back
	}
	join(conn, upstream)
}

func answer(conn net.Conn, status string) {
	_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\n\r\n") // a client that left is not the proxy's to report
}

// join copies both ways until either side ends.
func join(conn, upstream net.Conn) {
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = io.Copy(upstream, conn)
		upstream.Close()
	})
	_, _ = io.Copy(conn, upstream)
	conn.Close()
	wait.Wait()
}
