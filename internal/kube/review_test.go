// Tests of the reviews: versions, refusals, anonymity, and hostile answers, over a real TLS connection.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// script answers each path with a status and body, and keeps what was asked; other paths get kube-apiserver's 404.
type script struct {
	answers map[string]scripted

	mu    sync.Mutex
	asked []string
	body  []string
	bad   []string
}

type scripted struct {
	status int
	body   string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.RequestURI)
	s.body = append(s.body, string(body))
	if r.Header.Get("Authorization") != "Bearer "+testToken.Value.Reveal() {
		s.bad = append(s.bad, r.RequestURI)
	}
	s.mu.Unlock()
	got, ok := s.answers[r.URL.Path]
	if !ok {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(got.status)
	io.WriteString(w, got.body)
}

const (
	pathV1      = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	pathV1beta1 = "/apis/authentication.k8s.io/v1beta1/selfsubjectreviews"
	pathV1alpha = "/apis/authentication.k8s.io/v1alpha1/selfsubjectreviews"
)

const reviewBody = `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":"ci:run","uid":"aws-iam-authenticator:1:AROA",` +
	`"groups":["deployers","system:authenticated"],"extra":{"arn":["arn:aws:sts::111122223333:assumed-role/ci/run"]}}}}`

var reviewed = chain.Review{
	Username: "ci:run", Groups: []string{"deployers", "system:authenticated"},
}

func TestReview(t *testing.T) {
	forbids := func(user string) scripted {
		return scripted{403, statusBody(403, "Forbidden", fmt.Sprintf(`selfsubjectreviews.authentication.k8s.io is forbidden: User %q cannot create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`, user))}
	}
	for name, c := range map[string]struct {
		answers map[string]scripted
		want    chain.Review
		asked   []string
	}{
		"v1":       {map[string]scripted{pathV1: {201, reviewBody}}, reviewed, []string{pathV1}},
		"v1beta1":  {map[string]scripted{pathV1beta1: {201, reviewBody}}, reviewed, []string{pathV1, pathV1beta1}},
		"v1alpha1": {map[string]scripted{pathV1alpha: {201, reviewBody}}, reviewed, []string{pathV1, pathV1beta1, pathV1alpha}},
		"a line of aws-auth without a username": {map[string]scripted{pathV1: {201, `{"kind":"SelfSubjectReview","status":{"userInfo":{"groups":["deployers","system:authenticated"]}}}`}},
			chain.Review{Groups: []string{"deployers", "system:authenticated"}}, []string{pathV1}},
		"no review at all":  {map[string]scripted{accessReviewPath: {201, `{"kind":"SelfSubjectAccessReview"}`}}, chain.Review{Silent: true}, []string{pathV1, pathV1beta1, pathV1alpha, accessReviewPath}},
		"a named user":      {map[string]scripted{pathV1: forbids("ci:run")}, chain.Review{Silent: true}, []string{pathV1}},
		"C29 nobody":        {map[string]scripted{pathV1: forbids("system:anonymous")}, chain.Review{Username: "system:anonymous"}, []string{pathV1}},
		"C29 in a fallback": {map[string]scripted{accessReviewPath: forbids("system:anonymous")}, chain.Review{Username: "system:anonymous"}, []string{pathV1, pathV1beta1, pathV1alpha, accessReviewPath}},
	} {
		t.Run(name, func(t *testing.T) {
			world := &script{answers: c.answers}
			s := serve(t, ready(world))
			got, err := connect(t, s).Review(within(t, ample), testToken)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("review (-want +got):\n%s", diff)
			}
			var asked []string
			for _, path := range c.asked {
				asked = append(asked, "POST "+path)
			}
			if diff := cmp.Diff(asked, world.asked); diff != "" || len(world.bad) > 0 {
				t.Errorf("asked (-want +got):\n%s\nwithout the token: %v", diff, world.bad)
			}
			if connections, _ := s.count(); connections != 1 {
				t.Errorf("%d connections, want the one that was dialled", connections)
			}
		})
	}
}

func TestUnauthorized(t *testing.T) {
	s := serve(t, ready(&script{answers: map[string]scripted{pathV1: {401, statusBody(401, "Unauthorized", "Unauthorized")}}}))
	conn := connect(t, s)
	_, err := conn.Review(within(t, ample), testToken)
	var refused *UnauthorizedError
	if !errors.As(err, &refused) || !errors.Is(err, ErrUnauthorized) || errors.As(err, new(*chain.Error)) {
		t.Fatalf("error %v (%T)", err, err)
	}
	if refused.Message != "Unauthorized" || time.Since(refused.Date).Abs() > time.Minute {
		t.Errorf("got %+v", refused)
	}
	if !conn.ServedBy(s.ca.pem) {
		t.Error("after a 401 the server's CA is still known")
	}
}

// failing are answers to a review that are no review, whoever asks.
var failing = map[string]struct {
	scripted
	reason chain.Reason
}{
	"C55 a proxy's 403":           {scripted{403, "<html>Forbidden</html>"}, chain.ReasonProxyDenied},
	"a 401 of a gateway":          {scripted{401, "<html>log in</html>"}, chain.ReasonAPIServerError},
	"C58 storage is initializing": {scripted{429, statusBody(429, "TooManyRequests", "storage is (re)initializing")}, chain.ReasonAPIServerStorageInitializing},
	"flow control, no retry":      {scripted{429, "Too many requests, please try again later."}, chain.ReasonAPIServerFlowControl},
	"500":                         {scripted{500, statusBody(500, "InternalError", "etcdserver: request timed out")}, chain.ReasonAPIServerError},
	"503, no retry":               {scripted{503, "no healthy upstream"}, chain.ReasonAPIServerError},
	"a page of 200":               {scripted{200, "<html>\xff</html>"}, chain.ReasonAPIServerError},
	"nothing":                     {scripted{201, ""}, chain.ReasonAPIServerError},
	"another kind":                {scripted{201, `{"kind":"ConfigMap","apiVersion":"v1"}`}, chain.ReasonAPIServerError},
	"cut JSON":                    {scripted{201, reviewBody[:60]}, chain.ReasonAPIServerError},
	"wrong types":                 {scripted{201, `{"kind":"SelfSubjectReview","status":{"userInfo":{"username":7,"groups":"x"}},"spec":7}`}, chain.ReasonAPIServerError},
	"deep JSON":                   {scripted{201, `{"kind":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}"}, chain.ReasonAPIServerError},
	"a huge answer":               {scripted{201, strings.Repeat(" ", 2*maxBody)}, chain.ReasonAPIServerError},
	"a redirect":                  {scripted{302, ""}, chain.ReasonAPIServerError},
}

func TestFailingAnswers(t *testing.T) {
	for name, c := range failing {
		t.Run(name, func(t *testing.T) {
			world := &script{answers: map[string]scripted{pathV1: c.scripted, accessReviewPath: c.scripted, "/api/v1/namespaces/shop/configmaps": c.scripted}}
			conn := connect(t, serve(t, ready(world)))
			ctx := within(t, ample)
			_, err := conn.Review(ctx, testToken)
			wantFailure(t, err, chain.StepEndpoint, c.reason)
			_, err = conn.Access(ctx, testToken, chain.Rule{Verb: "get", Resource: "pods"})
			wantFailure(t, err, chain.StepEndpoint, c.reason)
			if c.status >= 400 && c.status != 500 {
				wantFailure(t, conn.DryRun(ctx, testToken, chain.DryRun{Rule: chain.Rule{Verb: "create", Resource: "configmaps", Namespace: "shop"}}), chain.StepEndpoint, c.reason)
				if len(world.asked) != 3 {
					t.Errorf("asked %v, want one attempt each", world.asked)
				}
			}
		})
	}
}

func TestReviewOfNobody(t *testing.T) {
	conn := connect(t, serve(t, ready(&script{answers: map[string]scripted{pathV1: {201, `{"kind":"SelfSubjectReview"}`}}})))
	_, err := conn.Review(within(t, ample), testToken)
	wantFailure(t, err, chain.StepEndpoint, chain.ReasonAPIServerError)
}

func TestSilenceAndCancellationDuringReviews(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			s := serve(t, ready(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, `{"kind":`)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})), func(s *httptest.Server) { s.EnableHTTP2 = proto == "HTTP/2.0" })
			conn := connect(t, s)
			_, err := conn.Review(within(t, brief), testToken)
			e := wantFailure(t, err, chain.StepEndpoint, chain.ReasonHTTPTimeout)
			if !errors.Is(e, context.DeadlineExceeded) {
				t.Errorf("cause %v, want the deadline in it", e.Err)
			}
			cause := errors.New("the target was removed")
			ctx, cancel := context.WithCancelCause(within(t, ample))
			time.AfterFunc(brief/3, func() { cancel(cause) })
			_, err = conn.Access(ctx, testToken, chain.Rule{Verb: "get", Resource: "pods"})
			if !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
				t.Errorf("error %v, want the context's own", err)
			}
		})
	}
}

func TestAccess(t *testing.T) {
	world := &script{answers: map[string]scripted{accessReviewPath: {201, `{"kind":"SelfSubjectAccessReview","status":{"allowed":true,"denied":true,"reason":"EKS Access Policy: allowed\u0007","evaluationError":"role \"x\" not found"}}`}}}
	conn := connect(t, serve(t, ready(world)))
	got, err := conn.Access(within(t, ample), testToken, chain.Rule{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "scale", Name: "web", Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chain.Decision{Allowed: true, Reason: "EKS Access Policy: allowed", Error: `role "x" not found`}, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	var sent, want any
	if err := json.Unmarshal([]byte(world.body[0]), &sent); err != nil {
		t.Fatal(err)
	}
	json.Unmarshal([]byte(`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":
		{"verb":"update","group":"apps","resource":"deployments","subresource":"scale","name":"web","namespace":"shop"}}}`), &want)
	if diff := cmp.Diff(want, sent); diff != "" || !slices.Equal(world.asked, []string{"POST " + accessReviewPath}) {
		t.Errorf("asked %v (-want +got):\n%s", world.asked, diff)
	}
}

// The words are kube-apiserver's: 1.37 names the authorizer in front, and puts each authorizer's reason on a line of its own.
func TestAccessTellsTheMissingRole(t *testing.T) {
	for name, c := range map[string]struct{ reason, evaluation, want string }{
		"1.37":                 {`rbac: RBAC: clusterrole.rbac.authorization.k8s.io "node-reader" not found`, "", "clusterrole/node-reader"},
		"several authorizers":  {"eks: EKS Access Policy: no\nrbac: RBAC: role.rbac.authorization.k8s.io \"deployer\" not found", "", "role/deployer"},
		"before 1.37":          {`RBAC: clusterrole.rbac.authorization.k8s.io "system:node-reader" not found`, "", "clusterrole/system:node-reader"},
		"several bindings":     {`RBAC: [clusterrole.rbac.authorization.k8s.io "a" not found, role.rbac.authorization.k8s.io "b" not found]`, "", "clusterrole/a"},
		"an evaluation error":  {"no RBAC policy matched", `role.rbac.authorization.k8s.io "b" not found`, "role/b"},
		"another kind":         {"", `configmaps "a" not found`, ""},
		"no words":             {"", "", ""},
		"allowed, by the way":  {`RBAC: allowed by RoleBinding "a/b" of Role "b" to User "c"`, "", ""},
		"a secret in the name": {`RBAC: role.rbac.authorization.k8s.io "k8s-aws-v1.aHR0cHM6" not found`, "", "role/[redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(object{"kind": "SelfSubjectAccessReview", "status": object{"allowed": false, "reason": c.reason, "evaluationError": c.evaluation}})
			if err != nil {
				t.Fatal(err)
			}
			conn := connect(t, serve(t, ready(&script{answers: map[string]scripted{accessReviewPath: {201, string(body)}}})))
			got, err := conn.Access(within(t, ample), testToken, chain.Rule{Verb: "get", Resource: "nodes"})
			if err != nil || got.MissingRole != c.want {
				t.Errorf("missing role %q, error %v; want %q", got.MissingRole, err, c.want)
			}
		})
	}
}

func TestAccessReviewsRefused(t *testing.T) {
	for user, want := range map[string]struct {
		step   chain.Step
		reason chain.Reason
	}{
		"system:anonymous": {chain.StepToken, chain.ReasonTokenNotSent},
		"ci:run":           {chain.StepNone, chain.ReasonNotMeasurable},
	} {
		body := statusBody(403, "Forbidden", fmt.Sprintf(`selfsubjectaccessreviews.authorization.k8s.io is forbidden: User %q cannot create resource "selfsubjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope`, user))
		conn := connect(t, serve(t, ready(&script{answers: map[string]scripted{accessReviewPath: {403, body}}})))
		_, err := conn.Access(within(t, ample), testToken, chain.Rule{Verb: "get", Resource: "pods"})
		wantFailure(t, err, want.step, want.reason)
	}
}

func TestManyQuestionsShareTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		http2   bool
		streams int
		most    int // connections; 0: any, as long as all is answered
	}{
		"HTTP/1.1":                {false, 0, 1},
		"HTTP/2":                  {true, 0, 1},
		"HTTP/2 with few streams": {true, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, ready(&script{answers: map[string]scripted{accessReviewPath: {201, `{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`}}}), func(s *httptest.Server) {
				s.EnableHTTP2 = c.http2
				s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: c.streams}
			})
			conn := connect(t, s)
			ctx := within(t, ample)
			var wait sync.WaitGroup
			for range 150 {
				wait.Go(func() {
					if got, err := conn.Access(ctx, testToken, chain.Rule{Verb: "get", Resource: "pods"}); err != nil || !got.Allowed {
						t.Errorf("got %v, %v", got, err)
					}
				})
			}
			wait.Wait()
			if connections, _ := s.count(); c.most > 0 && connections > c.most {
				t.Errorf("%d connections, want at most %d", connections, c.most)
			}
		})
	}
}

func TestServerMayEndTheConnectionInOrder(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			s := serve(t, ready(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Connection", "close") // GOAWAY in HTTP/2, as kube-apiserver's --goaway-chance
				io.WriteString(w, `{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`)
			})), func(s *httptest.Server) { s.EnableHTTP2 = proto == "HTTP/2.0" })
			conn := connect(t, s)
			for range 3 {
				if _, err := conn.Access(within(t, 5*time.Second), testToken, chain.Rule{Verb: "get", Resource: "pods"}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestLostConnectionIsAReason(t *testing.T) {
	s := serve(t, ready(http.NotFoundHandler()))
	conn := connect(t, s)
	s.Close()
	_, err := conn.Review(within(t, ample), testToken)
	var e *chain.Error
	if !errors.As(err, &e) || e.Step != chain.StepEndpoint || (e.Reason != chain.ReasonTCPRefused && e.Reason != chain.ReasonAPIServerError) {
		t.Errorf("error %v", err)
	}
}
