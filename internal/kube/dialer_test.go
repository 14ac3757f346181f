// Tests of a dial that succeeds, of its facts, and of what it refuses to dial.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

func TestOptionsNameTheWrongField(t *testing.T) {
	for name, breakIt := range map[string]func(*Options){
		"Now":         func(o *Options) { o.Now = nil },
		"ObserveSkew": func(o *Options) { o.ObserveSkew = nil },
		"Proxy":       func(o *Options) { o.Proxy = nil },
	} {
		options := DefaultOptions()
		breakIt(&options)
		if _, err := NewDialer(options); err == nil || err.Error() != "kube: Options."+name+" is not set" {
			t.Errorf("without %s: error %v", name, err)
		}
	}
}

func TestDefaultProxyIsThatOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://gateway.test:3128")
	t.Setenv("NO_PROXY", ".eks.amazonaws.com")
	proxy := DefaultOptions().Proxy
	for host, want := range map[string]string{"apiserver.test": "http://gateway.test:3128", "abc.gr7.eu-west-1.eks.amazonaws.com": ""} {
		got, err := proxy(&url.URL{Scheme: "https", Host: host})
		if err != nil || (got == nil) != (want == "") || (got != nil && got.String() != want) {
			t.Errorf("proxy for %s: %v, %v; want %q", host, got, err, want)
		}
	}
}

func TestDialFacts(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	named := newNamedServer(t, "apiserver.test")
	code := dnsmessage.RCodeSuccess
	options := directOptions()
	options.Resolver = resolver(t, &code)
	_, port, _ := net.SplitHostPort(named.Listener.Addr().String())
	endpoint := named.endpoint()
	endpoint.URL = "https://apiserver.test:" + port

	for name, c := range map[string]struct {
		endpoint Endpoint
		want     chain.Facts
		phases   []chain.Fact
	}{
		"by address": {s.endpoint(), chain.Facts{chain.FactHost: "127.0.0.1", chain.FactAddress: s.Listener.Addr().String()}, []chain.Fact{chain.FactTCPTime, chain.FactTLSTime, chain.FactHTTPTime}},
		"by name": {endpoint, chain.Facts{chain.FactHost: "apiserver.test", chain.FactAddress: named.Listener.Addr().String()},
			[]chain.Fact{chain.FactDNSTime, chain.FactTCPTime, chain.FactTLSTime, chain.FactHTTPTime}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, facts, err := newTestDialer(t, options).Dial(within(t, ample), c.endpoint)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			want := c.want.Merge(chain.Facts{
				chain.FactHTTPStatus: "200", chain.FactTLSSubject: "CN=kube-apiserver", chain.FactTLSIssuer: "CN=cluster CA", chain.FactClockSkew: facts[chain.FactClockSkew],
				chain.FactTLSNotAfter: conn.server[0].NotAfter.UTC().Format(time.RFC3339),
			})
			for _, phase := range c.phases {
				if !regexp.MustCompile(`^\d+\.\d$`).MatchString(facts[phase]) {
					t.Errorf("%s is %q, want milliseconds with one decimal", phase, facts[phase])
				}
				want[phase] = facts[phase]
			}
			if diff := cmp.Diff(want, facts); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if skew, err := time.ParseDuration(facts[chain.FactClockSkew]); err != nil || skew.Abs() > time.Second {
				t.Errorf("clock skew %q, %v; both clocks are the same", facts[chain.FactClockSkew], err)
			}
		})
	}
}

func TestDialNeverReusesAConnectionOrSession(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	dialer := newTestDialer(t, directOptions())
	for range 3 {
		conn, _, err := dialer.Dial(within(t, ample), s.endpoint())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if connections, resumed := s.count(); connections != 3 || resumed != 0 {
		t.Errorf("%d connections, %d of them resumed; want 3 and none", connections, resumed)
	}
}

func TestReadyzCarriesNoToken(t *testing.T) {
	var path, authorization, agent, proto string
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, authorization, agent, proto = r.Method+" "+r.RequestURI, r.Header.Get("Authorization"), r.UserAgent(), r.Proto
		w.Write([]byte("ok"))
	}))
	endpoint := s.endpoint()
	endpoint.URL += "/clusters/prod/"
	conn, _, err := newTestDialer(t, directOptions()).Dial(within(t, ample), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if path != "GET /clusters/prod/readyz" || authorization != "" || agent != "eks-slo-exporter" || proto != "HTTP/2.0" {
		t.Errorf("got %q, Authorization %q, User-Agent %q, %s", path, authorization, agent, proto)
	}
}

func TestSkewIsObserved(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	options := directOptions()
	options.Now = func() time.Time { return time.Now().Add(7 * time.Minute) }
	var peer string
	var skew time.Duration
	options.ObserveSkew = func(p string, s time.Duration) { peer, skew = p, s }
	conn, facts, err := newTestDialer(t, options).Dial(within(t, ample), s.endpoint())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if off := (skew - 7*time.Minute).Abs(); peer != "prod" || off > time.Second {
		t.Errorf("observed %q %v, want prod and about 7m", peer, skew)
	}
	if !strings.HasPrefix(facts[chain.FactClockSkew], "7m") && !strings.HasPrefix(facts[chain.FactClockSkew], "6m59") {
		t.Errorf("fact %q", facts[chain.FactClockSkew])
	}
}

func TestEndpointNotConfigured(t *testing.T) {
	ca := newCA(t, "ca", time.Now().Add(time.Hour)).pem
	for name, c := range map[string]struct {
		endpoint Endpoint
		detail   string
	}{
		"no URL":      {Endpoint{CA: ca}, "the cluster has no endpoint URL"},
		"spaces":      {Endpoint{URL: "  ", CA: ca}, "the cluster has no endpoint URL"},
		"http":        {Endpoint{URL: "http://a.test", CA: ca}, `the endpoint "http://a.test" is not a plain https URL`},
		"no host":     {Endpoint{URL: "https://:443", CA: ca}, `the endpoint "https://:443" is not a plain https URL`},
		"bare host":   {Endpoint{URL: "a.test", CA: ca}, `the endpoint "a.test" is not a plain https URL`},
		"query":       {Endpoint{URL: "https://a.test?x=1", CA: ca}, `the endpoint "https://a.test?x=1" is not a plain https URL`},
		"malformed":   {Endpoint{URL: "https://a.test:port:1", CA: ca}, "the endpoint is not a plain https URL (it cannot be parsed, or holds a user name)"},
		"with a user": {Endpoint{URL: "https://u:hunter2@a.test", CA: ca}, "the endpoint is not a plain https URL (it cannot be parsed, or holds a user name)"},
		"no CA":       {Endpoint{URL: "https://a.test"}, "reading the cluster's certificate authority: it holds no PEM certificate"},
		"CA of rags":  {Endpoint{URL: "https://a.test", CA: []byte("LS0tLS1CRUdJTg==")}, "reading the cluster's certificate authority: it holds no PEM certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _, err := newTestDialer(t, directOptions()).Dial(within(t, ample), c.endpoint)
			e := wantFailure(t, err, chain.StepEndpoint, chain.ReasonEndpointNotConfigured)
			if e.Detail != c.detail || conn != nil {
				t.Errorf("detail %q, want %q", e.Detail, c.detail)
			}
		})
	}
}

func TestCancelledDialIsNobodysFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	address := wiretest.Listen(t, func(conn net.Conn) { cancel(); wiretest.Hang(conn) })
	ca := newCA(t, "ca", time.Now().Add(time.Hour))
	_, facts, err := newTestDialer(t, directOptions()).Dial(ctx, Endpoint{URL: "https://" + address, CA: ca.pem})
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
		t.Errorf("error %v, want the context's own", err)
	}
	if facts[chain.FactHost] != "127.0.0.1" {
		t.Errorf("facts %v, want them in every case", facts)
	}
}

func TestEndedContextBlamesNoPhase(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	s := serve(t, ready(http.NotFoundHandler()))
	_, _, err := newTestDialer(t, directOptions()).Dial(ctx, s.endpoint())
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*chain.Error)) {
		t.Errorf("error %v, want the context's own", err)
	}
}

func TestServedBy(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	conn := connect(t, s)
	other := newCA(t, "cluster CA", time.Now().Add(10*time.Hour))
	for name, c := range map[string]struct {
		pem  []byte
		want bool
	}{
		"the same CA":         {s.ca.pem, true},
		"one of two":          {append(other.pem, s.ca.pem...), true},
		"another of the name": {other.pem, false},
		"no PEM":              {[]byte("x"), false},
	} {
		if got := conn.ServedBy(c.pem); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
