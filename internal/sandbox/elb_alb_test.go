// The loopback load balancer over real sockets: whom it sends to, its own answers, and what can be wrong with it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"
)

// albWorld is a load balancer with a client that finds every host at loopback.
type albWorld struct {
	state *State
	ca    *CA
	alb   *ALB
	http  *http.Client
}

func newALBWorld(t *testing.T) *albWorld {
	t.Helper()
	ca, err := NewCA()
	must(t, err)
	w := &albWorld{state: NewState(), ca: ca}
	w.state.ELB = testBalancing(time.Now().Add(-time.Hour))
	l := w.state.ELB.LoadBalancer(shopALB)
	l.IdleTimeout = time.Minute
	l.Listeners = append(l.Listeners, &Listener{Protocol: "HTTP", Port: 80, Rules: []ListenerRule{{"", shopGroup}}})
	w.alb, err = NewALB(w.state, ca, shopALB)
	must(t, err)
	w.http = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			must(t, err)
			return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}}
	t.Cleanup(func() {
		w.http.CloseIdleConnections()
		must(t, w.alb.Close())
		must(t, w.alb.Close())
	})
	return w
}

// get asks for a page and reads it to its end.
func (w *albWorld) get(ctx context.Context, url string) (response *http.Response, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	if response, err = w.http.Do(request); err != nil {
		return nil, "", err
	}
	content, err := io.ReadAll(response.Body)
	return response, string(content), errors.Join(err, response.Body.Close())
}

func page(title string) string {
	return "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n</body>\r\n</html>\r\n"
}

// TestALB asks four times, and sorts what came.
func TestALB(t *testing.T) {
	const a, b = "10.0.1.11", "10.0.1.12"
	own := func(status, title string) []string { return slices.Repeat([]string{status + " " + page(title)}, 4) }
	long := 10 * time.Minute // ago
	answering := func(kind CheckKind, ids ...string) func(*State) {
		return func(s *State) {
			for _, target := range s.TargetGroup(shopGroup).chosen(ids) {
				target.Answers = []CheckAnswer{{s.now().Add(-long), kind, 500}}
			}
		}
	}
	both := []string{"200 " + a + "\n", "200 " + a + "\n", "200 " + b + "\n", "200 " + b + "\n"}
	alone := func(id string) []string { return slices.Repeat([]string{"200 " + id + "\n"}, 4) }
	for name, c := range map[string]struct {
		change func(*State)
		host   string // shop.example.test when ""
		want   []string
	}{
		"in turn":                {want: both},
		"a host in capitals":     {host: "SHOP.example.test", want: both},
		"healthy ones alone":     {change: answering(CheckRefusal, a), want: alone(b)},
		"C61 fail open":          {change: answering(CheckStatus), want: both},
		"initial ones fail open": {change: func(s *State) { s.TargetGroup(shopGroup).Move(a, zoneB); s.TargetGroup(shopGroup).Move(b, zoneB) }, want: both},
		"too few are healthy, by count": {change: func(s *State) {
			answering(CheckRefusal, a)(s)
			s.TargetGroup(shopGroup).Attributes = map[string]string{minHealthyCount: "2"}
		}, want: both},
		"too few are healthy, by percentage": {change: func(s *State) {
			answering(CheckRefusal, a)(s)
			s.TargetGroup(shopGroup).Attributes = map[string]string{minHealthyPercent: "51"}
		}, want: both},
		"just enough are healthy": {change: func(s *State) {
			answering(CheckRefusal, a)(s)
			s.TargetGroup(shopGroup).Attributes = map[string]string{minHealthyPercent: "50"}
		}, want: alone(b)},
		"health checks are off": {change: func(s *State) { s.TargetGroup(shopGroup).Check.Enabled = false }, want: both},
		"a zone is shifted away": {change: func(s *State) {
			s.TargetGroup(shopGroup).chosen([]string{a})[0].Zone = zoneB
			s.ELB.LoadBalancer(shopALB).Shifted = zoneB
		}, want: alone(b)},
		"a zone is not enabled": {change: func(s *State) { s.TargetGroup(shopGroup).Move(a, SceneOtherZone) }, want: alone(b)},
		"no target":             {change: func(s *State) { s.TargetGroup(shopGroup).Targets = nil }, want: own("503", "503 Service Temporarily Unavailable")},
		"no target in use": {change: func(s *State) {
			s.TargetGroup(shopGroup).Move(a, SceneOtherZone)
			s.TargetGroup(shopGroup).Move(b, SceneOtherZone)
		}, want: own("503", "503 Service Temporarily Unavailable")},
		"all drain":  {change: func(s *State) { s.TargetGroup(shopGroup).Deregister() }, want: own("503", "503 Service Temporarily Unavailable")},
		"one drains": {change: func(s *State) { s.TargetGroup(shopGroup).Deregister(a) }, want: alone(b)},
		"C74 not all nodes know that one drains": {change: func(s *State) {
			s.ELB.LoadBalancer(shopALB).Lag = time.Hour
			s.TargetGroup(shopGroup).Deregister(a)
			s.TargetGroup(shopGroup).Stop(a)
		}, want: []string{"200 " + b + "\n", "200 " + b + "\n", "502 " + page("502 Bad Gateway"), "502 " + page("502 Bad Gateway")}},
		"a process is gone, and no check has noticed": {change: func(s *State) { s.TargetGroup(shopGroup).Stop() }, want: own("502", "502 Bad Gateway")},
		"too slow": {change: func(s *State) {
			s.ELB.LoadBalancer(shopALB).IdleTimeout = time.Millisecond
			s.TargetGroup(shopGroup).Reply(Reply{Delay: time.Minute})
		}, want: own("504", "504 Gateway Time-out")},
		"slow, and not too slow": {change: func(s *State) { s.TargetGroup(shopGroup).Reply(Reply{Delay: time.Millisecond}) }, want: both},
		"another status and body": {
			change: func(s *State) { s.TargetGroup(shopGroup).Reply(Reply{Status: 418, Body: "short and stout"}, a, b) }, want: slices.Repeat([]string{"418 short and stout"}, 4),
		},
		"no rule":               {change: func(s *State) { s.DetachGroup(shopGroup) }, want: slices.Repeat([]string{"404 "}, 4)},
		"no load balancer":      {change: func(s *State) { delete(s.ELB.balancers, shopALB) }, want: slices.Repeat([]string{"404 "}, 4)},
		"no group at the rule":  {change: func(s *State) { delete(s.ELB.groups, shopGroup) }, want: slices.Repeat([]string{"404 "}, 4)},
		"no listener of a kind": {change: func(s *State) { s.ELB.LoadBalancer(shopALB).Listeners = nil }, want: slices.Repeat([]string{"404 "}, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newALBWorld(t)
			if c.change != nil {
				w.state.Change(c.change)
			}
			host := c.host
			if host == "" {
				host = "shop.example.test"
			}
			var got []string
			for range 4 {
				response, body, err := w.get(t.Context(), w.alb.URL(host))
				must(t, err)
				got = append(got, fmt.Sprint(response.StatusCode, " ", body))
			}
			slices.Sort(got)
			wantSame(t, got, c.want)
		})
	}
}

// TestALBListeners: the listeners have rules of their own, and the load balancer's own answers say who they are from.
func TestALBListeners(t *testing.T) {
	w := newALBWorld(t)
	response, _, err := w.get(t.Context(), w.alb.URL("shop.example.test"))
	must(t, err)
	wantSame(t, []any{response.StatusCode, response.ProtoMajor, response.Header.Get("Server")}, []any{200, 2, ""})
	response, _, err = w.get(t.Context(), w.alb.PlainURL("any.example.test"))
	must(t, err)
	wantSame(t, []any{response.StatusCode, response.ProtoMajor, response.Header.Get("Server")}, []any{200, 1, ""})
	w.state.Change(func(s *State) { s.DetachGroup(shopGroup) })
	response, body, err := w.get(t.Context(), w.alb.PlainURL("any.example.test"))
	must(t, err)
	wantSame(t, []any{response.StatusCode, response.Header.Get("Server"), body}, []any{404, "awselb/2.0", ""})
}

// TestALBInFlight has a request at a target when the target begins to drain, which lets it end, or when its process ends, which does not.
func TestALBInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*State)
		want      string
	}{
		"it drains":       {func(s *State) { s.TargetGroup(shopGroup).Deregister() }, "200 late"},
		"C74 and it ends": {func(s *State) { s.TargetGroup(shopGroup).Deregister(); s.TargetGroup(shopGroup).Stop() }, "502 " + page("502 Bad Gateway")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newALBWorld(t)
			w.state.Change(func(s *State) { s.TargetGroup(shopGroup).Reply(Reply{Body: "late", Delay: 500 * time.Millisecond}) })
			answer := make(chan string, 1)
			go func() {
				response, body, err := w.get(t.Context(), w.alb.URL("shop.example.test"))
				if err != nil {
					answer <- err.Error()
					return
				}
				answer <- fmt.Sprint(response.StatusCode, " ", body)
			}()
			w.waitForRequest(t)
			w.state.Change(c.meanwhile)
			wantSame(t, <-answer, c.want)
		})
	}
}

// waitForRequest returns when a request has its target.
func (w *albWorld) waitForRequest(t *testing.T) {
	t.Helper()
	for ticker := time.Tick(time.Millisecond); ; <-ticker {
		turns := 0
		w.state.Change(func(*State) { turns = w.alb.turn[shopGroup] })
		if turns > 0 {
			return
		}
	}
}

func TestALBCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		certificate Certificate
		host        string
		check       func(error) bool
	}{
		"good":            {CertificateGood, "shop.example.test", func(err error) bool { return err == nil }},
		"expired":         {CertificateExpired, "shop.example.test", isError[x509.CertificateInvalidError]},
		"for another":     {CertificateOtherName, "shop.example.test", isError[x509.HostnameError]},
		"of another":      {CertificateOtherCA, "shop.example.test", isError[x509.UnknownAuthorityError]},
		"no rule's host":  {CertificateGood, "web.example.test", isError[x509.HostnameError]},
		"not of loopback": {CertificateGood, "127.0.0.1", isError[x509.HostnameError]},
	} {
		t.Run(name, func(t *testing.T) {
			w := newALBWorld(t)
			_, _, err := w.get(t.Context(), w.alb.URL("shop.example.test")) // which leaves no session that would go on without a certificate
			must(t, err)
			w.http.CloseIdleConnections()
			must(t, w.alb.ServeCertificate(c.certificate))
			if _, _, err := w.get(t.Context(), w.alb.URL(c.host)); !c.check(err) {
				t.Errorf("%T: %v", err, err)
			}
		})
	}
}

func isError[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// TestALBNewHost: the certificate is for the hosts of the rules when it is made.
func TestALBNewHost(t *testing.T) {
	w := newALBWorld(t)
	w.state.Change(func(s *State) { s.AttachGroup(shopALB, freeGroup, "free.example.test") })
	if _, _, err := w.get(t.Context(), w.alb.URL("free.example.test")); !isError[x509.HostnameError](err) {
		t.Errorf("%v, want an error about the host's name", err)
	}
	must(t, w.alb.ServeCertificate(CertificateGood))
	response, _, err := w.get(t.Context(), w.alb.URL("free.example.test"))
	must(t, err)
	wantSame(t, response.StatusCode, 503)
	if err := w.alb.ServeCertificate(99); err == nil || err.Error() != "serving a certificate of "+shopALB+": issuing certificate 99: there is no such kind" {
		t.Errorf("%v, want a refusal", err)
	}
}

func TestALBRefuse(t *testing.T) {
	w := newALBWorld(t)
	must(t, w.alb.Refuse())
	must(t, w.alb.Refuse())
	for _, url := range []string{w.alb.URL("shop.example.test"), w.alb.PlainURL("shop.example.test")} {
		if _, _, err := w.get(t.Context(), url); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v, want a refused connection", url, err)
		}
	}
}

// TestALBSilence waits for as long as the client does, and leaves nothing behind.
func TestALBSilence(t *testing.T) {
	for name, manner := range map[string]ALBManner{"after the request": ALBSilent, "in the handshake": ALBSilentTLS} {
		t.Run(name, func(t *testing.T) {
			w := newALBWorld(t)
			w.alb.Behave(manner)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, _, err := w.get(ctx, w.alb.URL("shop.example.test")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want %v", err, context.DeadlineExceeded)
			}
			w.alb.Behave(ALBServes)
			response, _, err := w.get(t.Context(), w.alb.URL("shop.example.test"))
			must(t, err)
			wantSame(t, response.StatusCode, 200)
		})
	}
}

// TestALBCloses while a target thinks.
func TestALBCloses(t *testing.T) {
	w := newALBWorld(t)
	w.state.Change(func(s *State) { s.TargetGroup(shopGroup).Reply(Reply{Delay: time.Hour}) })
	done := make(chan error, 1)
	go func() {
		_, _, err := w.get(t.Context(), w.alb.PlainURL("shop.example.test"))
		done <- err
	}()
	w.waitForRequest(t)
	must(t, w.alb.Close())
	if err := <-done; err == nil {
		t.Error("the request was answered")
	}
}

func TestALBOfNothing(t *testing.T) {
	ca, err := NewCA()
	must(t, err)
	if _, err := NewALB(NewState(), ca, shopALB); err == nil || err.Error() != "serving a certificate of "+shopALB+": issuing a certificate: Names is empty" {
		t.Errorf("%v, want a refusal", err)
	}
}
