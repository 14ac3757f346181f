// The reader against servers that answer oddly, late or not at all: always an unknown, in one attempt, within bounds.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const podsAction = "list pods in shop"

// pods asks a scripted server for the pods, which is a list of typed objects.
func (s *scriptedReader) pods(ctx context.Context) error {
	_, err := s.Pods(ctx, s.reads, "shop", app)
	return err
}

func podList(items, rest string) http.Handler {
	return says(http.StatusOK, "application/json", `{"kind":"PodList","apiVersion":"v1","metadata":{`+rest+`},"items":[`+items+`]}`)
}

func TestReadAnswers(t *testing.T) {
	status := func(code int, reason, message string) http.Handler {
		return says(code, "application/json", statusBody(code, reason, message))
	}
	forbiddenPods := `pods is forbidden: User "%s" cannot list resource "pods" in API group "" in the namespace "shop"`
	for name, test := range map[string]struct {
		handler http.Handler
		reason  chain.Reason
		detail  string
	}{
		"401 in Kubernetes' words": {status(401, "Unauthorized", "Unauthorized"), chain.ReasonObserverDenied, "refused the observer's token, and a new one as well"},
		"401 of somebody else":     {says(401, "text/html", "<h1>log in</h1>"), chain.ReasonObserverUnavailable, "not as an apiserver does"},
		"403 of RBAC":              {status(403, "Forbidden", fmt.Sprintf(forbiddenPods, "exporter")), chain.ReasonObserverDenied, "the observer may not list pods in shop: pods is forbidden"},
		"403 for nobody":           {status(403, "Forbidden", fmt.Sprintf(forbiddenPods, "system:anonymous")), chain.ReasonObserverUnavailable, "saw no token"},
		"403 of a proxy":           {says(403, "text/html", "<h1>no</h1>"), chain.ReasonObserverUnavailable, "something in front of the apiserver"},
		"404 of a kind":            {status(404, "NotFound", "the server could not find the requested resource"), chain.ReasonObserverUnavailable, "does not serve this kind"},
		"404 of a group":           {says(404, "text/plain", "404 page not found\n"), chain.ReasonObserverUnavailable, "does not serve this kind"},
		"404 of a proxy":           {says(404, "text/html", "<h1>gone</h1>"), chain.ReasonObserverUnavailable, "not as an apiserver does"},
		"409":                      {status(409, "Conflict", "no"), chain.ReasonObserverUnavailable, "answered 409"},
		"410 of an old page":       {status(410, "Expired", "The provided continue parameter is too old"), chain.ReasonObserverUnavailable, "too old"},
		"429":                      {status(429, "TooManyRequests", "slow down"), chain.ReasonObserverUnavailable, "sheds load"},
		"500":                      {status(500, "InternalError", "etcd"), chain.ReasonObserverUnavailable, "etcd"},
		"503 of a load balancer":   {says(503, "text/html", "<h1>later</h1>"), chain.ReasonObserverUnavailable, "answered 503"},
		"a redirect": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }),
			chain.ReasonObserverUnavailable, "answered 302"},
		"an empty answer":     {says(200, "application/json", ""), chain.ReasonObserverUnavailable, "no PodList"},
		"half an answer":      {says(200, "application/json", `{"kind":"PodList","items":[`), chain.ReasonObserverUnavailable, "no PodList"},
		"another list":        {says(200, "application/json", `{"kind":"ServiceList","apiVersion":"v1","items":[]}`), chain.ReasonObserverUnavailable, `a "ServiceList", not a PodList`},
		"a success Status":    {says(200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`), chain.ReasonObserverUnavailable, `a "Status", not a PodList`},
		"no JSON":             {says(200, "application/yaml", "kind: PodList"), chain.ReasonObserverUnavailable, "no PodList"},
		"another API version": {says(200, "application/json", `{"kind":"PodList","apiVersion":"v9","items":[]}`), chain.ReasonObserverUnavailable, "not as an apiserver does"},
		"wrong types":         {podList(`{"metadata":{"name":7}}`, ""), chain.ReasonObserverUnavailable, "not as an apiserver does"},
		"small and many":      {podList(strings.Repeat("{},", maxBrackets)+"{}", ""), chain.ReasonObserverUnavailable, "objects and arrays"},
		"too large":           {podList("", `"continue":"`+strings.Repeat("x", maxPage)+`"`), chain.ReasonObserverUnavailable, "larger than 16 MiB"},
		"deep":                {podList(strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000), ""), chain.ReasonObserverUnavailable, "max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScriptedReader(t, test.handler)
			e := wantFailure(t, s.pods(within(t, ample)), chain.StepNone, test.reason)
			if !strings.Contains(e.Detail, test.detail) {
				t.Errorf("detail %q does not say %q", e.Detail, test.detail)
			}
			if !strings.Contains(e.Detail, podsAction) && test.reason != chain.ReasonObserverDenied {
				t.Errorf("detail %q does not say what was read", e.Detail)
			}
			if len(e.Detail) > 2_000 {
				t.Errorf("the detail has %d bytes", len(e.Detail))
			}
		})
	}
}

// The API server lets through a port that is no port (the CRD asks for a number or text, and bounds neither). Whoever may write a binding must not hide those of the others.
func TestReadBindingsWithOddPorts(t *testing.T) {
	items, want := []string{}, []string{"99999999999", "-1", "http", "0", "80"}
	for i, port := range []string{`{"port":99999999999}`, `{"port":-1}`, `{"port":"http"}`, `{}`, `{"port":80}`} {
		items = append(items, fmt.Sprintf(`{"kind":"TargetGroupBinding","apiVersion":"elbv2.k8s.aws/v1beta1","metadata":{"namespace":"shop","name":"b%d"},"spec":{"serviceRef":%s}}`, i, port))
	}
	s := newScriptedReader(t, says(200, "application/json", `{"kind":"TargetGroupBindingList","apiVersion":"elbv2.k8s.aws/v1beta1","metadata":{},"items":[`+strings.Join(items, ",")+`]}`))
	all, err := s.List(t.Context(), s.reads)
	if err != nil || len(all) != len(want) {
		t.Fatalf("got %v, %v", all, err)
	}
	for i, b := range all {
		if b.Port != want[i] {
			t.Errorf("port %q, want %q", b.Port, want[i])
		}
	}
}

// An object that is not the one that was asked for is none.
func TestReadAnotherObject(t *testing.T) {
	s := newScriptedReader(t, says(200, "application/json", `{"kind":"TargetGroupBinding","apiVersion":"elbv2.k8s.aws/v1beta1","metadata":{"namespace":"shop","name":"other"}}`))
	_, _, err := s.Binding(t.Context(), s.reads, shopRef)
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverUnavailable)
	s = newScriptedReader(t, says(200, "application/json", `{"kind":"TargetGroupBinding","apiVersion":"elbv2.k8s.aws/v1beta1","metadata":{"namespace":"shop","name":"shop"},"spec":{"serviceRef":7}}`))
	_, _, err = s.Binding(t.Context(), s.reads, shopRef)
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverUnavailable)
}

// Only a 404 that names the service says that there is none.
func TestReadNoService(t *testing.T) {
	missing := func(name string) http.Handler {
		return says(404, "application/json", strings.Replace(statusBody(404, "NotFound", "not found"), `"name":"x"`, `"name":"`+name+`"`, 1))
	}
	s := newScriptedReader(t, missing("shop"))
	got, err := s.Backends(t.Context(), s.reads, ofShop)
	must(t, err)
	wantSame(t, got, chain.Backends{})
	s = newScriptedReader(t, missing("services"))
	_, err = s.Backends(t.Context(), s.reads, ofShop)
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverUnavailable)
}

// A name that would leave its place in the path is not sent.
func TestReadOddNames(t *testing.T) {
	s := newScriptedReader(t, says(200, "application/json", "{}"))
	_, _, err := s.Binding(t.Context(), s.reads, chain.BindingRef{Namespace: "shop", Name: "../../secrets"})
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverUnavailable)
	wantSame(t, s.requests(), []string(nil))
}

// A server that never comes to an end of its pages is left after so many.
func TestReadEndlessPages(t *testing.T) {
	s := newScriptedReader(t, podList("", `"continue":"more"`))
	e := wantFailure(t, s.pods(within(t, ample)), chain.StepNone, chain.ReasonObserverUnavailable)
	wantSame(t, e.Detail, podsAction+": the list has more than 80 pages of 250, and was read no further")
	asked := s.requests()
	wantSame(t, len(asked), maxPages)
	wantSame(t, asked[0], "GET /api/v1/namespaces/shop/pods?labelSelector=app%3Dshop&limit=250")
	wantSame(t, asked[1], "GET /api/v1/namespaces/shop/pods?continue=more&labelSelector=app%3Dshop&limit=250")
}

func TestReadLargePages(t *testing.T) {
	s := newScriptedReader(t, podList(`{"metadata":{"name":"`+strings.Repeat("x", 1<<20)+`"}}`, `"continue":"more"`))
	read, err := s.session(s.reads)
	must(t, err)
	read.listLimit = 4 << 20
	e := wantFailure(t, s.pods(within(t, ample)), chain.StepNone, chain.ReasonObserverUnavailable)
	wantSame(t, e.Detail, podsAction+": the list is larger than 4 MiB, and was read no further")
	wantSame(t, len(s.requests()), 4)
}

// client-go would try again ten times.
func TestReadTriesOnce(t *testing.T) {
	for name, handler := range map[string]http.Handler{
		"told to retry": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}),
		"cut off": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "{")
			panic(http.ErrAbortHandler)
		}),
		"hung up": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScriptedReader(t, handler, func(s *httptest.Server) { s.EnableHTTP2 = false }) // whose broken connections client-go knows
			wantFailure(t, s.pods(within(t, ample)), chain.StepNone, chain.ReasonObserverUnavailable)
			wantSame(t, len(s.requests()), 1)
		})
	}
}

// Many reads of several runs share the connection that the first one made.
func TestReadConnection(t *testing.T) {
	s := newScriptedReader(t, podList("", ""))
	must(t, s.pods(t.Context()))
	for range 3 {
		var runs sync.WaitGroup
		for range 20 {
			runs.Go(func() {
				if err := s.pods(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		runs.Wait()
	}
	dialled, _ := s.server.count()
	wantSame(t, dialled, 1)
	wantSame(t, len(s.requests()), 61)
	wantSame(t, s.minted.Load(), 1)
}

// A connection that the server ended is made anew, without a word.
func TestReadReconnects(t *testing.T) {
	s := newScriptedReader(t, podList("", ""))
	must(t, s.pods(t.Context()))
	s.server.CloseClientConnections()
	var err error
	for range 10 { // the transport may notice while it sends
		if err = s.pods(t.Context()); err == nil {
			break
		}
	}
	must(t, err)
	dialled, _ := s.server.count()
	wantSame(t, dialled, 2)
}

func TestReadCancelled(t *testing.T) {
	entered := make(chan struct{}, 1)
	s := newScriptedReader(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if err := s.pods(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's own error", err)
	}
	e := wantFailure(t, s.pods(within(t, brief)), chain.StepNone, chain.ReasonObserverUnavailable)
	if !strings.Contains(e.Detail, "no whole answer in time") {
		t.Errorf("detail %q does not tell of the time", e.Detail)
	}
}

func TestReadNobodyThere(t *testing.T) {
	s := newScriptedReader(t, podList("", ""))
	s.server.Close()
	wantFailure(t, s.pods(within(t, ample)), chain.StepNone, chain.ReasonObserverUnavailable)
	for name, endpoint := range map[string]Endpoint{
		"no URL":     {ClusterName: "prod", CA: s.server.ca.pem},
		"no CA":      {ClusterName: "prod", URL: s.server.URL},
		"another CA": {ClusterName: "prod", URL: newNamedServer(t, "localhost").URL, CA: s.server.ca.pem},
	} {
		t.Run(name, func(t *testing.T) {
			s.reads.Endpoint = endpoint
			wantFailure(t, s.pods(within(t, ample)), chain.StepNone, chain.ReasonObserverUnavailable)
		})
	}
}
