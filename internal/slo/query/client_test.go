// Tests of what a server may answer instead of data: the kind of the error, its text, and how often it was asked.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/sigv4"
)

// v1.API is an API.
var _ API = v1.API(nil)

const page = "<!DOCTYPE html><title>Sign in</title>"

func answering(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestAnswers(t *testing.T) {
	refusing := func(code int, kind, text string) http.HandlerFunc {
		return answering(code, "application/json", fmt.Sprintf(`{"status":"error","errorType":%q,"error":%q}`, kind, text))
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		kind    Kind
		asked   int64
		text    string // after the server
	}{
		"401":            {answering(401, "text/plain", "no org id"), KindUnauthorized, 1, "it answers 401 Unauthorized; " + KindUnauthorized.hint()},
		"403, GET too":   {answering(403, "text/html", page), KindUnauthorized, 2, "it answers 403 Forbidden; " + KindUnauthorized.hint()},
		"404":            {answering(404, "text/plain", "404 page not found"), KindNotPrometheus, 1, "it answers 404 Not Found; " + KindNotPrometheus.hint()},
		"405, GET too":   {answering(405, "text/plain", ""), KindNotPrometheus, 2, "it answers 405 Method Not Allowed; " + KindNotPrometheus.hint()},
		"429":            {answering(429, "text/plain", "slow down"), KindTooMany, 2, "it answers 429 Too Many Requests; " + KindTooMany.hint()},
		"500":            {answering(500, "text/plain", "boom"), KindServerError, 2, "it answers 500 Internal Server Error; " + KindServerError.hint()},
		"502 page":       {answering(502, "text/html", page), KindServerError, 2, "it answers 502 Bad Gateway; " + KindServerError.hint()},
		"503 said":       {refusing(503, "unavailable", "TSDB not ready"), KindServerError, 2, "it answers 503 Service Unavailable: TSDB not ready; " + KindServerError.hint()},
		"503 timeout":    {refusing(503, "timeout", "query timed out"), KindTimeout, 2, "it answers 503 Service Unavailable: query timed out; " + KindTimeout.hint()},
		"400":            {refusing(400, "bad_data", "parse error\nand more"), KindBadQuery, 1, "it refuses the query: parse error"},
		"422":            {refusing(422, "execution", "too many samples"), KindBadQuery, 1, "it refuses the query: too many samples"},
		"400 for TLS":    {answering(400, "", "Client sent an HTTP request to an HTTPS server."), KindNotPrometheus, 1, "it answers 400 Bad Request; " + KindNotPrometheus.hint()},
		"a page":         {answering(200, "text/html", page), KindNotPrometheus, 1, "its answer is no JSON but text/html; " + KindNotPrometheus.hint()},
		"nothing":        {answering(204, "", ""), KindNotPrometheus, 1, "its answer is no JSON but something else; " + KindNotPrometheus.hint()},
		"other JSON":     {answering(200, "application/json", `{"hello":1}`), KindNotPrometheus, 1, "its answer is JSON, but not that of a Prometheus; " + KindNotPrometheus.hint()},
		"broken JSON":    {answering(200, "application/json", `{"status":"success","data":`), KindNotPrometheus, 1, "its answer is not that of a Prometheus; " + KindNotPrometheus.hint()},
		"200 with error": {refusing(200, "execution", "no"), KindBadQuery, 1, "it refuses the query: no"},
		"redirect":       {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, KindNotPrometheus, 1, "it answers 302 Found; " + KindNotPrometheus.hint()},
		"breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, KindUnreachable, 2,
			"it cannot be reached: the connection ends before the answer does; " + KindUnreachable.hint()},
		"breaks off later": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"status":`)
		}, KindUnreachable, 2, "it cannot be reached: the connection ends before the answer does; " + KindUnreachable.hint()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				test.handler(w, r)
			}))
			t.Cleanup(listener.Close)
			address := strings.TrimPrefix(listener.URL, "http://")
			api := newClient(t, Options{URL: "http://bob:hunter2@" + address + "/prom/?partial_response=false"})
			_, _, _, err := api.Query(t.Context(), "up", time.Time{})
			if got, want := fmt.Sprint(err), "asking Prometheus at http://"+address+"/prom/: "+test.text; got != want {
				t.Errorf("the error is\n%s\nwant\n%s", got, want)
			}
			if KindOf(err) != test.kind || asked.Load() != test.asked {
				t.Errorf("kind %s after %d requests, want %s after %d", KindOf(err), asked.Load(), test.kind, test.asked)
			}
		})
	}
}

func TestSecondAttempt(t *testing.T) {
	var asked atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if got := r.FormValue("query"); got != "time()" {
			t.Errorf("the second request asks for %q", got)
		}
		answering(200, "application/json", `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`)(w, r)
	}))
	t.Cleanup(listener.Close)
	value, _, _, err := newClient(t, Options{URL: listener.URL}).Query(t.Context(), "time()", time.Time{})
	if scalar, ok := value.(*model.Scalar); err != nil || !ok || scalar.Value != 1 || asked.Load() != 2 {
		t.Errorf("answer %v, error %v, %d requests", value, err, asked.Load())
	}
}

func TestNoConnection(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	secure := httptest.NewUnstartedServer(answering(200, "application/json", "{}"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(answering(200, "application/json", "{}"))
	t.Cleanup(plain.Close)
	for name, test := range map[string]struct {
		url, text string
		kind      Kind
	}{
		"nobody listens": {"http://" + free.Addr().String(), "it cannot be reached: dial tcp " + free.Addr().String() + ": connect: connection refused", KindUnreachable},
		"no such name":   {"http://nothing.invalid", "it cannot be reached: dial tcp: lookup nothing.invalid", KindUnreachable},
		"unknown CA":     {secure.URL, "the TLS connection cannot be trusted: tls: failed to verify certificate: x509: certificate signed by unknown authority", KindUnreachable},
		"plain HTTP":     {strings.Replace(plain.URL, "http:", "https:", 1), "it cannot be reached: it speaks no TLS, and the URL says https", KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(t, Options{URL: test.url}).Rules(t.Context(), nil)
			if KindOf(err) != test.kind || !strings.HasPrefix(err.Error(), "asking Prometheus at "+test.url+": "+test.text) {
				t.Errorf("%s: %v", KindOf(err), err)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	headers := &config.Headers{Headers: map[string]config.Header{"X-Scope-OrgID": {Values: []string{"payments"}}}}
	for name, test := range map[string]struct {
		options Options
		header  string
		want    string
	}{
		"basic":  {Options{HTTP: config.HTTPClientConfig{BasicAuth: &config.BasicAuth{Username: "bob", Password: "hunter2"}}}, "Authorization", "Basic Ym9iOmh1bnRlcjI="},
		"bearer": {Options{HTTP: config.HTTPClientConfig{Authorization: &config.Authorization{Type: "Bearer", CredentialsFile: file}}}, "Authorization", "Bearer hunter2"},
		"tenant": {Options{HTTP: config.HTTPClientConfig{HTTPHeaders: headers}}, "X-Scope-OrgID", "payments"},
		"SigV4": {Options{SigV4: &sigv4.SigV4Config{Region: "eu-west-1", AccessKey: "AKIDEXAMPLE", SecretKey: "hunter2"}}, "Authorization",
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get(test.header); !strings.HasPrefix(got, test.want) {
					t.Errorf("%s is %q", test.header, got)
				}
				w.WriteHeader(http.StatusUnauthorized)
			}))
			t.Cleanup(listener.Close)
			test.options.URL = listener.URL
			_, _, _, err := newClient(t, test.options).Query(t.Context(), "up", time.Time{})
			if KindOf(err) != KindUnauthorized || strings.Contains(err.Error(), "hunter2") {
				t.Error(err)
			}
		})
	}
}

func TestCredentialsThatCannotBeHad(t *testing.T) {
	var asked atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(listener.Close)
	api := newClient(t, Options{URL: listener.URL, HTTP: config.HTTPClientConfig{Authorization: &config.Authorization{Type: "Bearer", CredentialsFile: "/nowhere/token"}}})
	_, _, _, err := api.Query(t.Context(), "up", time.Time{})
	if KindOf(err) != KindUnauthorized || !strings.Contains(err.Error(), "its credentials cannot be had: ") || !strings.Contains(err.Error(), "/nowhere/token") || asked.Load() != 0 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestTimeout(t *testing.T) {
	var asked atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client has gone
		<-r.Context().Done()
	}))
	t.Cleanup(listener.Close)
	api := newClient(t, Options{URL: listener.URL, Timeout: 50 * time.Millisecond})
	_, _, _, err := api.Query(t.Context(), "up", time.Time{})
	want := "asking Prometheus at " + listener.URL + ": there is no answer within 50ms; " + KindTimeout.hint()
	if KindOf(err) != KindTimeout || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestPauseAndContext(t *testing.T) {
	for name, test := range map[string]struct {
		wait  time.Duration // until the caller gives up; 0: never
		kind  Kind
		asked int
	}{
		"pause":          {0, KindServerError, 2},
		"canceled in it": {50 * time.Millisecond, KindCanceled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				api := newClient(t, Options{URL: "http://embedded", Transport: HandlerTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					asked++
					w.WriteHeader(http.StatusInternalServerError)
				}))})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.wait > 0 {
					time.AfterFunc(test.wait, cancel)
				}
				begin := time.Now()
				_, _, _, err := api.Query(ctx, "up", time.Time{})
				if KindOf(err) != test.kind || asked != test.asked {
					t.Errorf("%v after %d requests", err, asked)
				}
				if passed := time.Since(begin); test.wait == 0 && (passed < 100*time.Millisecond || passed >= 300*time.Millisecond) || test.wait > 0 && passed != test.wait {
					t.Errorf("it took %s", passed)
				}
			})
		})
	}
}

func TestHandlerTransport(t *testing.T) {
	api := newClient(t, Options{URL: "http://embedded", Transport: HandlerTransport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/query" || r.FormValue("query") != "time()" || r.RequestURI != "/api/v1/query" {
			t.Errorf("it is asked for %s, %v", r.RequestURI, r.Form)
		}
		answering(200, "application/json", `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`)(w, r)
	}))})
	if value, _, _, err := api.Query(t.Context(), "time()", time.Time{}); err != nil || value.String() != "scalar: 1 @[1]" {
		t.Errorf("%v, %v", value, err)
	}
}

func TestBadOptions(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"no URL":        {Options{}, "reading the URL of Prometheus: it must begin with http:// or https:// and name a host"},
		"no scheme":     {Options{URL: "bob:hunter2@prometheus:9090"}, "reading the URL of Prometheus: it must begin with http:// or https:// and name a host"},
		"no URL at all": {Options{URL: "http://bob:hunter2#@prometheus"}, "reading the URL of Prometheus: it must begin with http:// or https:// and name a host"},
		"no CA": {Options{URL: "http://p", HTTP: config.HTTPClientConfig{TLSConfig: config.TLSConfig{CAFile: "/nowhere/ca.pem"}}},
			"preparing the HTTP client for Prometheus: unable to read CA cert: unable to read file /nowhere/ca.pem: open /nowhere/ca.pem: no such file or directory"},
		"half a key": {Options{URL: "http://p", SigV4: &sigv4.SigV4Config{SecretKey: "hunter2"}},
			"reading the SigV4 options for Prometheus: must provide a AWS SigV4 Access key and Secret Key if credentials are specified in the SigV4 config"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(test.options); err == nil || err.Error() != test.want {
				t.Errorf("the error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}
