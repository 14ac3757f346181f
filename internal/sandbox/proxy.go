// An HTTP CONNECT proxy on loopback, as companies put before the internet: it tunnels to the sandbox's servers, and denies or hangs on demand.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"
)

// ProxyMode is how the proxy treats a CONNECT.
type ProxyMode uint32

// The modes of a proxy.
const (
	ProxyOpen  ProxyMode = iota // tunnels to what its routes allow, denies the rest
	ProxyDeny                   // denies everything: 403 with an HTML page, as Squid's ERR_ACCESS_DENIED
	ProxyHangs                  // accepts and never answers
)

// ProxyRoute lets a CONNECT through.
type ProxyRoute struct {
	Host    string // host:port, where * stands for any text, as in *.eks.amazonaws.com:*
	Address string // host:port to dial; "" is 127.0.0.1 at the port that was asked for
}

const proxyDialTimeout = 5 * time.Second

// Proxy is a running proxy. It is safe for concurrent use.
type Proxy struct {
	routes   []ProxyRoute
	mode     atomic.Uint32
	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc
	running  connections // and every tunnel: a hijacked connection leaves its place to it, which holds another by then
}

// NewProxy serves on a free port of 127.0.0.1. The first route that matches wins.
func NewProxy(routes ...ProxyRoute) (*Proxy, error) {
	for _, route := range routes {
		if _, err := path.Match(route.Host, ""); err != nil {
			return nil, fmt.Errorf("reading the proxy route %q: %w", route.Host, err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the proxy on loopback: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Proxy{routes: routes, listener: listener, stop: stop}
	p.http = &http.Server{
		Handler:           p,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute,
		ErrorLog:  log.New(io.Discard, "", 0),
		ConnState: p.running.count,
	}
	p.running.Go(func() { _ = p.http.Serve(listener) }) // always ErrServerClosed or the listener's end
	return p, nil
}

// SetMode changes how the CONNECTs to come are treated.
func (p *Proxy) SetMode(mode ProxyMode) { p.mode.Store(uint32(mode)) }

// URL is the proxy's, for HTTPS_PROXY.
func (p *Proxy) URL() string { return "http://" + p.listener.Addr().String() }

// Close ends the listener and every tunnel, and waits for their goroutines. Closing twice is harmless.
func (p *Proxy) Close() error {
	p.stop()
	err := p.http.Close()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.running.Add(1)
	defer p.running.Done()
	switch ProxyMode(p.mode.Load()) {
	case ProxyHangs:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case ProxyDeny:
		deny(w, r)
		return
	case ProxyOpen:
	}
	address, allowed := p.route(r)
	if !allowed {
		deny(w, r)
		return
	}
	dialer := &net.Dialer{Timeout: proxyDialTimeout}
	upstream, err := dialer.DialContext(r.Context(), "tcp", address)
	if err != nil {
		http.Error(w, "connecting to the origin: "+err.Error(), http.StatusServiceUnavailable) // as Squid's ERR_CONNECT_FAIL
		return
	}
	p.tunnel(w, r, upstream)
}

// route returns the address behind a CONNECT's host:port.
func (p *Proxy) route(r *http.Request) (address string, allowed bool) {
	if r.Method != http.MethodConnect {
		return "", false
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "", false
	}
	for _, route := range p.routes {
		if matched, err := path.Match(route.Host, r.Host); err != nil || !matched {
			continue
		}
		if route.Address != "" {
			return route.Address, true
		}
		return net.JoinHostPort("127.0.0.1", port), true
	}
	return "", false
}

// deny answers as Squid does when an access list says no.
func deny(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "squid/6.13")
	w.Header().Set("X-Squid-Error", "ERR_ACCESS_DENIED 0")
	w.Header().Set("Content-Type", "text/html;charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprintf(w, "<!DOCTYPE html>\n<html><head><title>ERROR: The requested URL could not be retrieved</title></head>\n"+
		"<body id=ERR_ACCESS_DENIED>\n<p>The following error was encountered while trying to retrieve the URL: <a>%s</a></p>\n<blockquote><p><b>Access Denied.</b></p></blockquote>\n</body></html>\n",
		html.EscapeString(r.Host)) // a client that went away is no news
}

// tunnel joins both connections until one side ends or the proxy closes.
func (*Proxy) tunnel(w http.ResponseWriter, r *http.Request, upstream net.Conn) {
	defer upstream.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "taking over the connection: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer client.Close()
	_ = client.SetDeadline(time.Time{})             // the server's limits end here
	stop := context.AfterFunc(r.Context(), func() { // the proxy closes
		_ = client.Close()
		_ = upstream.Close()
	})
	defer stop()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(upstream, buffered) // either side may end first
		if half, ok := upstream.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
	_, _ = io.Copy(client, upstream)
	_ = client.Close()
	copying.Wait()
}
