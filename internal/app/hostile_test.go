// Hostile answers from every server: each must end as a failure or an unknown of the right step, within the timeout and in bounded memory.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// hostileAnswers are what a broken, captured or malicious server may send.
var hostileAnswers = map[string]http.HandlerFunc{
	"truncated": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"kind":"Status"`)
		panic(http.ErrAbortHandler)
	},
	"endless": func(w http.ResponseWriter, r *http.Request) {
		block := []byte(strings.Repeat("a", 1<<20))
		for sent := 0; sent < 1<<30 && r.Context().Err() == nil; sent += len(block) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	},
	"a byte now and then": func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	},
	"redirect loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	"wrong type":    answerWith(http.StatusOK, "application/json", `["a", 1, null]`),
	"HTML":          answerWith(http.StatusOK, "text/html", "<html><body>Please sign in</body></html>"),
	"HTML 503":      answerWith(http.StatusServiceUnavailable, "text/html", "<html><body>Come back later</body></html>"),
	"invalid UTF-8": answerWith(http.StatusOK, "application/json", "\"\xff\xfe\xfd\""),
	"deep JSON":     answerWith(http.StatusOK, "application/json", strings.Repeat(`{"a":`, 200_000)),
	"deep XML":      answerWith(http.StatusOK, "text/xml", strings.Repeat("<a>", 200_000)),
	"nothing":       answerWith(http.StatusOK, "application/json", ""),
	"odd status":    answerWith(http.StatusTeapot, "text/plain", "short and stout"),
}

func answerWith(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hostileServers put the answer in place of one server, or of one path of it; steps are those that may be blamed or may not tell.
var hostileServers = map[string]struct {
	steps  []chain.Step
	result []chain.Outcome
	place  func(*testing.T, *sandbox.Scene, http.HandlerFunc)
}{
	"sts": {[]chain.Step{chain.StepSTS}, []chain.Outcome{chain.OutcomeFailure, chain.OutcomeUnknown}, func(t *testing.T, s *sandbox.Scene, answer http.HandlerFunc) {
		s.Env["AWS_ENDPOINT_URL_STS"] = serveHostile(t, s, answer)
	}},
	"eks": {[]chain.Step{chain.StepToken}, []chain.Outcome{chain.OutcomeUnknown}, func(t *testing.T, s *sandbox.Scene, answer http.HandlerFunc) {
		s.Env["AWS_ENDPOINT_URL_EKS"] = serveHostile(t, s, answer)
	}},
	"readyz":          {[]chain.Step{chain.StepEndpoint}, []chain.Outcome{chain.OutcomeFailure}, inFrontOfProd("/readyz")},
	"review":          {[]chain.Step{chain.StepEndpoint, chain.StepAccessEntry}, []chain.Outcome{chain.OutcomeFailure, chain.OutcomeUnknown}, inFrontOfProd("selfsubjectreviews")},
	"access review":   {[]chain.Step{chain.StepEndpoint, chain.StepRBAC}, []chain.Outcome{chain.OutcomeFailure, chain.OutcomeUnknown}, inFrontOfProd("selfsubjectaccessreviews")},
	"whole apiserver": {[]chain.Step{chain.StepEndpoint}, []chain.Outcome{chain.OutcomeFailure}, inFrontOfProd("/")},
}

// serveHostile serves the answer with a certificate that the scene's clients trust.
func serveHostile(t *testing.T, s *sandbox.Scene, answer http.Handler) string {
	t.Helper()
	certificate, err := s.CA.Issue(sandbox.IssueOptions{Names: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// inFrontOfProd answers the paths that hold a text itself and hands all others to prod's apiserver.
func inFrontOfProd(path string) func(*testing.T, *sandbox.Scene, http.HandlerFunc) {
	return func(t *testing.T, s *sandbox.Scene, answer http.HandlerFunc) {
		prod, err := url.Parse(s.Prod.Endpoint())
		if err != nil {
			t.Fatal(err)
		}
		prod.Host = s.Prod.Addr()
		pem, err := os.ReadFile(filepath.Join(s.Dir, "prod-ca.pem"))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
		t.Cleanup(transport.CloseIdleConnections)
		pass := httputil.NewSingleHostReverseProxy(prod)
		pass.Transport = transport
		front := serveHostile(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, path) {
				answer(w, r)
				return
			}
			pass.ServeHTTP(w, r)
		}))
		keys := `{name: prod, endpoint: "` + front + `", ca_file: "` + filepath.ToSlash(filepath.Join(s.Dir, "ca.pem")) + `", `
		s.Config = strings.Replace(s.Config, "{name: prod, ", keys, 1)
	}
}

func TestHostileAnswers(t *testing.T) {
	const memory = 64 << 20
	for server, where := range hostileServers {
		for name, answer := range hostileAnswers {
			t.Run(server+"/"+name, func(t *testing.T) {
				scene := newScene(t)
				where.place(t, scene, answer)
				scene.Config = strings.Replace(scene.Config, "timeout: 3s", "timeout: 1s", 1)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				run := probeOnce(t, scene, deploy)
				runtime.ReadMemStats(&after)
				v := run.Verdict
				if !slices.Contains(where.result, v.Outcome) || !slices.Contains(where.steps, v.Step) {
					t.Errorf("got %s %s/%s: %s", v.Outcome, v.Step, v.Reason, v.Detail)
				}
				if run.Duration > 2*time.Second {
					t.Errorf("took %s, with a timeout of 1s", run.Duration)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > memory {
					t.Errorf("used %d MiB", used>>20)
				}
				if len(v.Detail) > 2000 {
					t.Errorf("the detail has %d bytes", len(v.Detail))
				}
			})
		}
	}
}
