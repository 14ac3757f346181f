// Tests of every path and method, of the headers on every answer, and of what happens when something goes wrong.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"errors"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

func TestRoutes(t *testing.T) {
	const html, text = "text/html; charset=utf-8", "text/plain; charset=utf-8"
	cases := map[string]struct {
		method, path string
		status       int
		contentType  string
		body         string // all of it, or, of a page, a part
	}{
		"list":                {http.MethodGet, "/", 200, html, "<h1>Targets: 3 failure, 1 unknown, 1 without an event yet, 1 success</h1>"},
		"target":              {http.MethodGet, "/targets/ci-release@prod", 200, html, "<h1>ci-release@prod</h1>"},
		"target, escaped":     {http.MethodGet, "/targets/ci-release%40prod", 200, html, "<h1>ci-release@prod</h1>"},
		"no such target":      {http.MethodGet, "/targets/nobody@prod", 404, text, "no such target; / lists them\n"},
		"style":               {http.MethodGet, "/assets/style.css", 200, "text/css; charset=utf-8", "color-scheme"},
		"icon":                {http.MethodGet, "/assets/icon.svg", 200, "image/svg+xml", "<svg"},
		"templates stay here": {http.MethodGet, "/assets/index.html", 404, text, "404 page not found\n"},
		"no listing":          {http.MethodGet, "/assets/", 404, text, "404 page not found\n"},
		"api":                 {http.MethodGet, "/api/v1/targets", 200, "application/json", `{"targets":[`},
		"metrics":             {http.MethodGet, "/metrics", 200, text, "eks_access_up 1\n"},
		"healthy":             {http.MethodGet, "/-/healthy", 200, text, "healthy\n"},
		"ready":               {http.MethodGet, "/-/ready", 200, text, "ready\n"},
		"reload":              {http.MethodPost, "/-/reload", 200, text, "reloaded\n"},
		"elsewhere":           {http.MethodGet, "/nowhere", 404, text, "404 page not found\n"},
		"head has no body":    {http.MethodHead, "/", 200, html, ""},
	}
	s := serve(t, options(demoStore()))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response, body := site{t, s.Server}.do(c.method, c.path, nil)
			if response.StatusCode != c.status || response.Header.Get("Content-Type") != c.contentType {
				t.Errorf("got %d, %q", response.StatusCode, response.Header.Get("Content-Type"))
			}
			if whole := c.contentType == text; whole && body != c.body || !strings.Contains(body, c.body) {
				t.Errorf("got the body %q", body)
			}
			if c.method == http.MethodHead && body != "" {
				t.Errorf("HEAD has a body")
			}
			checkHeaders(t, response)
		})
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	reads := []string{"/", "/targets/ci-release@prod", "/assets/style.css", "/assets/icon.svg", "/metrics", "/api/v1/targets", "/-/healthy", "/-/ready"}
	allowed := map[string]string{"/-/reload": "POST"}
	for _, path := range reads {
		allowed[path] = "GET, HEAD"
	}
	o := options(demoStore())
	o.Reload = func() error { t.Error("reloaded"); return nil }
	s := serve(t, o)
	for path, allow := range allowed {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
			if strings.Contains(allow, method) {
				continue
			}
			response, body := s.do(method, path, nil)
			if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != allow || body != "Method Not Allowed\n" {
				t.Errorf("%s %s: got %d, Allow %q, %q", method, path, response.StatusCode, response.Header.Get("Allow"), body)
			}
			checkHeaders(t, response)
		}
	}
}

func checkHeaders(t *testing.T, response *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
	} {
		if got := response.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s %s: %s is %q", response.Request.Method, response.Request.URL.Path, name, got)
		}
	}
}

func TestReloadTellsEveryProblemAsText(t *testing.T) {
	o := options(demoStore())
	o.Reload = func() error {
		return errors.Join(errors.New(`eks-slo.yaml:3:5: unknown key "<script>alert(1)</script>"`), errors.New("eks-slo.yaml:9:1: cluster \"b&b\" is not defined"))
	}
	response, body := serve(t, o).do(http.MethodPost, "/-/reload", nil)
	const want = "the configuration was not reloaded, the last good one stays:\n" +
		"eks-slo.yaml:3:5: unknown key \"<script>alert(1)</script>\"\neks-slo.yaml:9:1: cluster \"b&b\" is not defined\n"
	if response.StatusCode != http.StatusInternalServerError || response.Header.Get("Content-Type") != "text/plain; charset=utf-8" || body != want {
		t.Errorf("got %d, %q, %q", response.StatusCode, response.Header.Get("Content-Type"), body)
	}
	checkHeaders(t, response)
}

// Another site's page may not make the browser of somebody who can reach the exporter reload it.
func TestReloadFromAnotherSiteIsRefused(t *testing.T) {
	reloads := 0
	o := options(demoStore())
	o.Reload = func() error { reloads++; return nil }
	s := serve(t, o)
	for name, header := range map[string]http.Header{"fetch metadata": {"Sec-Fetch-Site": {"cross-site"}}, "origin": {"Origin": {"https://elsewhere.example"}}} {
		if response, _ := s.do(http.MethodPost, "/-/reload", header); response.StatusCode != http.StatusForbidden || reloads != 0 {
			t.Errorf("%s: got %d, %d reloads", name, response.StatusCode, reloads)
		}
	}
	if response, _ := s.do(http.MethodPost, "/-/reload", http.Header{"Sec-Fetch-Site": {"same-origin"}}); response.StatusCode != http.StatusOK || reloads != 1 {
		t.Errorf("same origin: got %d, %d reloads", response.StatusCode, reloads)
	}
}

func TestHealthyIsNotReady(t *testing.T) {
	o := options(demoStore())
	o.Ready = func() bool { return false }
	s := serve(t, o)
	if response, body := s.do(http.MethodGet, "/-/ready", nil); response.StatusCode != http.StatusServiceUnavailable || body != "not ready\n" {
		t.Errorf("ready: got %d, %q", response.StatusCode, body)
	}
	if body := s.get("/-/healthy"); body != "healthy\n" {
		t.Errorf("healthy: got %q", body)
	}
}

// answer is a ResponseWriter that may break off.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	err    error
}

func (a *answer) Header() http.Header    { return a.header }
func (a *answer) WriteHeader(status int) { a.status = status }
func (a *answer) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	return a.body.Write(p)
}

func TestFaultLeavesNoHalfPage(t *testing.T) {
	var log bytes.Buffer
	o := options(demoStore())
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := &server{o, template.Must(template.New("index.html").Parse("<h1>half a page</h1>{{.Missing.Field}}"))}
	a := &answer{header: http.Header{}}
	s.index(a, nil)
	if a.status != http.StatusInternalServerError || a.header.Get("Content-Type") != "text/plain; charset=utf-8" || a.body.String() != "rendering index.html: see the log\n" {
		t.Errorf("got %d, %q, %q", a.status, a.header.Get("Content-Type"), a.body.String())
	}
	if !strings.Contains(log.String(), `msg="page not served" doing="rendering index.html" error=`) || !strings.Contains(log.String(), "Missing") {
		t.Errorf("the log says %q", log.String())
	}
}

func TestClientThatLeavesIsNobodysFault(t *testing.T) {
	var log bytes.Buffer
	o := options(demoStore())
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	newHandler(t, o).ServeHTTP(&answer{header: http.Header{}, err: io.ErrClosedPipe}, mustRequest(t))
	if log.Len() > 0 {
		t.Errorf("the log says %q", log.String())
	}
}

func mustRequest(t *testing.T) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// Pages are read while runs are recorded and targets come and go; the race detector looks on.
func TestPagesWhileEverythingChanges(t *testing.T) {
	store := demoStore()
	s := serve(t, options(store))
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	writers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			store.Retain([]chain.Target{release, deploy, newTarget("n"+strconv.Itoa(i%5), "prod")})
			store.Record(newRun(release, now.Add(time.Duration(i)*time.Second), []string{"✔✔✔✔✖·", "✔✔✔✔✔✔", "✔?····"}[i%3], notMapped))
		}
	})
	for _, path := range []string{"/", "/targets/ci-release@prod", "/api/v1/targets"} {
		readers.Go(func() {
			for range 25 {
				if body := s.get(path); !strings.Contains(body, "ci-release@prod") || !strings.HasSuffix(strings.TrimSpace(body), "</html>") && path != "/api/v1/targets" {
					t.Errorf("GET %s is broken: %q", path, body)
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
}

// What the server needs of the store is what the store is.
var _ Results = (*results.Store)(nil)

func TestOptionsValidate(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"Results": func(o *Options) { o.Results = nil }, "Queries": func(o *Options) { o.Queries = nil }, "Budgets": func(o *Options) { o.Budgets = nil }, "Metrics": func(o *Options) { o.Metrics = nil }, "Reload": func(o *Options) { o.Reload = nil },
		"Ready": func(o *Options) { o.Ready = nil }, "Now": func(o *Options) { o.Now = nil }, "Logger": func(o *Options) { o.Logger = nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(fleet())
			change(&o)
			if _, err := NewHandler(o); err == nil || err.Error() != "web: Options."+name+" is not set" {
				t.Errorf("got %v", err)
			}
		})
	}
}
