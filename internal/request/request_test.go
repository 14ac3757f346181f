// Requests that are answered: what is sent, what comes back, and over how many connections.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestOptionsNameTheWrongField(t *testing.T) {
	for name, breakIt := range map[string]func(*Options){
		"Now":   func(o *Options) { o.Now = nil },
		"Proxy": func(o *Options) { o.Proxy = nil },
	} {
		options := DefaultOptions()
		breakIt(&options)
		if _, err := New(options); err == nil || err.Error() != "request: Options."+name+" is not set" {
			t.Errorf("without %s: error %v", name, err)
		}
	}
}

func TestDefaultProxyIsThatOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://gateway.test:3128")
	t.Setenv("NO_PROXY", ".internal.test")
	proxy := DefaultOptions().Proxy
	for host, want := range map[string]string{shop: "http://gateway.test:3128", "shop.internal.test": ""} {
		got, err := proxy(&url.URL{Scheme: "https", Host: host})
		if err != nil || (got == nil) != (want == "") || (got != nil && got.String() != want) {
			t.Errorf("proxy for %s: %v, %v; want %q", host, got, err, want)
		}
	}
}

func TestAnAnswerAndItsFacts(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Served-By", "shop-1")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "short and stout")
	})
	_, options := dns(t, trusting(s.ca))
	response, facts, _ := check(t, options, chain.Request{URL: s.named(shop) + "/pot?a=b", Timeout: ample}, verdict{})
	if response.Status != 418 || string(response.Body) != "short and stout" || response.Truncated || response.Header.Get("X-Served-By") != "shop-1" {
		t.Errorf("response %+v", response)
	}
	leaf := s.TLS.Certificates[0].Leaf
	for fact, want := range map[chain.Fact]string{
		chain.FactHost: shop, chain.FactAddress: s.Listener.Addr().String(), chain.FactHTTPStatus: "418", chain.FactProxy: "",
		chain.FactTLSIssuer: "CN=eks-slo sandbox", chain.FactTLSSubject: "CN=127.0.0.1", chain.FactTLSNotAfter: leaf.NotAfter.UTC().Format(time.RFC3339),
	} {
		if facts[fact] != want {
			t.Errorf("fact %s is %q, want %q", fact, facts[fact], want)
		}
	}
	wantPhases(t, facts, chain.FactDNSTime, chain.FactTCPTime, chain.FactTLSTime, chain.FactHTTPTime)
}

func TestWhatIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		url, host, sni string
		change         func(*server)
		wantHost       string
		wantSNI        string
		wantProto      string
	}{
		"as configured":    {url: shop, wantHost: shop, wantSNI: shop, wantProto: "HTTP/2.0"},
		"HTTP/1.1":         {url: shop, change: func(s *server) { s.EnableHTTP2 = false }, wantHost: shop, wantSNI: shop, wantProto: "HTTP/1.1"},
		"another Host":     {url: shop, host: "web.example.test", wantHost: "web.example.test", wantSNI: shop, wantProto: "HTTP/2.0"},
		"another SNI":      {url: "lb.test", sni: shop, wantHost: "lb.test", wantSNI: shop, wantProto: "HTTP/2.0"},
		"both":             {url: "lb.test", host: "web.example.test", sni: shop, wantHost: "web.example.test", wantSNI: shop, wantProto: "HTTP/2.0"},
		"an address":       {url: "127.0.0.1", wantHost: "127.0.0.1", wantSNI: "", wantProto: "HTTP/2.0"},
		"an international": {url: "LÄden.test", sni: shop, wantHost: "xn--lden-loa.test", wantSNI: shop, wantProto: "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			change := []func(*server){}
			if c.change != nil {
				change = append(change, c.change)
			}
			s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r }, change...)
			_, options := dns(t, trusting(s.ca))
			check(t, options, chain.Request{URL: s.named(c.url) + "/a%2Fb?q=1#part", Host: c.host, SNI: c.sni, Timeout: ample}, verdict{})
			_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
			if c.host == "" {
				c.wantHost = net.JoinHostPort(c.wantHost, port)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if got.Method != "GET" || got.RequestURI != "/a%2Fb?q=1" || got.Host != c.wantHost || got.Proto != c.wantProto || s.sni != c.wantSNI {
				t.Errorf("%s %s of %s over %s, SNI %q; want host %s, SNI %q, %s", got.Method, got.RequestURI, got.Host, got.Proto, s.sni, c.wantHost, c.wantSNI, c.wantProto)
			}
			if got.Close != (c.wantProto == "HTTP/1.1") {
				t.Errorf("over %s the request says that its connection ends: %v", got.Proto, got.Close)
			}
			for name, want := range map[string]string{"User-Agent": "eks-slo-exporter", "Authorization": "", "Cookie": "", "Accept-Encoding": "", "Referer": ""} {
				if got.Header.Get(name) != want {
					t.Errorf("header %s is %q, want %q", name, got.Header.Get(name), want)
				}
			}
		})
	}
}

func TestPlainHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(hello))
	t.Cleanup(s.Close)
	response, facts, _ := check(t, trusting(nil), chain.Request{URL: s.URL, Timeout: ample}, verdict{})
	if response.Status != 200 || string(response.Body) != "hello" {
		t.Errorf("response %+v", response)
	}
	wantPhases(t, facts, chain.FactTCPTime, chain.FactHTTPTime)
}

func TestBodiesAreReadToALimit(t *testing.T) {
	for name, c := range map[string]struct {
		size      int
		want      int
		truncated bool
	}{
		"none":     {0, 0, false},
		"small":    {100, 100, false},
		"64 KiB":   {64 << 10, 64 << 10, false},
		"one more": {64<<10 + 1, 64 << 10, true},
		"32 MiB":   {32 << 20, 64 << 10, true},
	} {
		for _, http2 := range []bool{true, false} {
			t.Run(fmt.Sprint(name, http2), func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("a", c.size)) }, func(s *server) { s.EnableHTTP2 = http2 })
				response, _, _ := check(t, trusting(s.ca), chain.Request{URL: s.URL, Timeout: ample}, verdict{})
				if string(response.Body) != strings.Repeat("a", c.want) || response.Truncated != c.truncated {
					t.Errorf("%d bytes, truncated %v; want %d, %v", len(response.Body), response.Truncated, c.want, c.truncated)
				}
			})
		}
	}
}

func TestTheTimeOfHTTPGoesToTheEndOfTheBody(t *testing.T) {
	const pause = 50 * time.Millisecond
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		http.NewResponseController(w).Flush()
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
		}
		io.WriteString(w, "late")
	})
	response, facts, _ := check(t, trusting(s.ca), chain.Request{URL: s.URL, Timeout: ample}, verdict{})
	if ms, err := strconv.ParseFloat(facts[chain.FactHTTPTime], 64); err != nil || ms < 50 || string(response.Body) != "late" {
		t.Errorf("took %q ms in HTTP; the body came after %v", facts[chain.FactHTTPTime], pause)
	}
}

func TestTheCAFileIsReadEachTimeAndAloneTrusted(t *testing.T) {
	s, other := serve(t, hello), newCA(t)
	path := caFile(t, s.ca.PEM())
	request := chain.Request{URL: s.URL, CAFile: path, Timeout: ample}
	client := newClient(t, trusting(other))
	if _, _, err := client.Do(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	rewrite(t, path, other.PEM())
	_, _, err := client.Do(t.Context(), request)
	wantError(t, err, verdict{chain.ReasonTLSFailure, "no authority of " + path + " vouches"})
	check(t, trusting(s.ca), request, verdict{chain.ReasonTLSFailure, "no authority of " + path + " vouches"})
}

func TestIPFamilies(t *testing.T) {
	type family struct {
		options Options
		url     string
		family  chain.IPFamily
		want    verdict
	}
	s := serve(t, hello)
	_, options := dns(t, trusting(s.ca)) // knows no IPv6 address of any name
	cases := map[string]family{
		"any, a name":           {options, s.named(shop), chain.IPFamilyAny, verdict{}},
		"IPv4, a name":          {options, s.named(shop), chain.IPFamily4, verdict{}},
		"IPv6, a name without":  {options, s.named(shop), chain.IPFamily6, verdict{chain.ReasonDNSFailure, "knows no address for ipv6, which ip_family asks for, of the name " + shop}},
		"IPv4, an IPv4 address": {options, s.URL, chain.IPFamily4, verdict{}},
		"IPv6, an IPv4 address": {options, s.URL, chain.IPFamily6, verdict{chain.ReasonDNSFailure, "127.0.0.1 has no address for ipv6"}},
		"IPv4, an IPv6 address": {options, "https://[::1]", chain.IPFamily4, verdict{chain.ReasonDNSFailure, "::1 has no address for ipv4"}},
	}
	if listener, err := net.Listen("tcp6", "[::1]:0"); err == nil { // a container may have no IPv6 at all
		six := serve(t, hello, func(s *server) {
			s.Listener.Close()
			s.Listener = listener
			s.TLS.Certificates = []tls.Certificate{issue(t, s.ca, time.Time{}, "::1")}
		})
		cases["any, an IPv6 address"] = family{trusting(six.ca), six.URL, chain.IPFamilyAny, verdict{}}
		cases["IPv6, an IPv6 address"] = family{trusting(six.ca), six.URL, chain.IPFamily6, verdict{}}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			check(t, c.options, chain.Request{URL: c.url, IPFamily: c.family, Timeout: ample}, c.want)
		})
	}
}

func TestTheFamilyIsTheProxysChoice(t *testing.T) {
	for _, family := range []chain.IPFamily{chain.IPFamily4, chain.IPFamily6} {
		_, facts, _ := check(t, through("http", "gateway.test:3128"), chain.Request{URL: "https://" + shop, IPFamily: family, Timeout: ample},
			verdict{chain.ReasonNotMeasurable, "the proxy http://gateway.test:3128 chooses the IP version"})
		if facts[chain.FactProxy] != "http://gateway.test:3128" || facts[chain.FactHost] != shop {
			t.Errorf("facts %v", facts)
		}
	}
}
