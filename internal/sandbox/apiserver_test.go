// The apiserver's authentication through client-go and plain HTTP: who a request is from, and what nobody gets to see.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authenticationv1beta1 "k8s.io/api/authentication/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// review asks SelfSubjectReview v1.
func (k *kubeCluster) review(t *testing.T, token string) (review authenticationv1.SelfSubjectReview, err error) {
	t.Helper()
	client := k.client(t, token, authenticationv1.SchemeGroupVersion)
	err = client.Post().Resource("selfsubjectreviews").Body(&authenticationv1.SelfSubjectReview{}).Do(t.Context()).Into(&review)
	return review, err
}

func TestSelfSubjectReview(t *testing.T) {
	k := newKubeCluster(t)
	review, err := k.review(t, k.deployToken(t))
	must(t, err)
	wantSame(t, review.Status.UserInfo.Username, "ci:probe")
	wantSame(t, review.Status.UserInfo.Groups, []string{"deployers", "system:authenticated"})
	wantSame(t, review.Status.UserInfo.UID, "aws-iam-authenticator:111122223333:AROADEPLOY")
	wantSame(t, review.Status.UserInfo.Extra["arn"], authenticationv1.ExtraValue{"arn:aws:sts::111122223333:assumed-role/ci-deploy/probe"})
	wantSame(t, k.calls(), []Call{{"authenticator", "TokenReview", ""}, {"apiserver", "SelfSubjectReview", ""}})
}

func TestSelfSubjectReviewRefused(t *testing.T) {
	k := newKubeCluster(t)
	_, err := k.review(t, "k8s-aws-v1.bm9uc2Vuc2U")
	wantSame(t, statusOf(t, err), metav1.Status{
		Status: "Failure", Message: "Unauthorized", Reason: metav1.StatusReasonUnauthorized, Code: 401,
	})
	wantSame(t, k.calls(), []Call{{"authenticator", "TokenReview", "invalid_token"}, {"apiserver", "SelfSubjectReview", "Unauthorized"}})
}

func TestSelfSubjectReviewVersions(t *testing.T) {
	for name, test := range map[string]struct {
		serve    []string
		v1, beta bool
	}{
		"Kubernetes 1.28": {[]string{"v1"}, true, false},
		"Kubernetes 1.27": {[]string{"v1beta1", "v1alpha1"}, false, true},
		"Kubernetes 1.25": {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			k.api.ServeReviewVersions(test.serve...)
			token := k.deployToken(t)
			_, err := k.review(t, token)
			wantServed(t, err, test.v1)
			var review authenticationv1beta1.SelfSubjectReview
			client := k.client(t, token, authenticationv1beta1.SchemeGroupVersion)
			err = client.Post().Resource("selfsubjectreviews").Body(&authenticationv1beta1.SelfSubjectReview{}).Do(t.Context()).Into(&review)
			wantServed(t, err, test.beta)
			if test.beta {
				wantSame(t, review.Status.UserInfo.Username, "ci:probe")
			}
		})
	}
	t.Run("an unknown version has no Status, an unknown resource has", func(t *testing.T) {
		k := newKubeCluster(t)
		k.change(func(c *Cluster) {
			c.Grants = []Grant{{Subject: "deployers", Verbs: anything, Groups: anything, Resources: anything}}
		})
		token := k.deployToken(t)
		got := k.do(t, "POST /apis/authentication.k8s.io/v1alpha1/selfsubjectreviews", token, "{}")
		wantSame(t, fmt.Sprint(got.status, " ", got.body), "404 404 page not found\n")
		got = k.do(t, "GET /apis/apps/v1/widgets", token, "")
		wantSame(t, got.body, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`+"\n")
	})
}

func wantServed(t *testing.T, err error, served bool) {
	t.Helper()
	if served != (err == nil) || !served && !apierrors.IsNotFound(err) {
		t.Errorf("served should be %t, got %v", served, err)
	}
}

// TestOneTokenReviewPerToken: success is remembered for ten seconds, whatever the number of requests; a denial never is.
func TestOneTokenReviewPerToken(t *testing.T) {
	k := newKubeCluster(t)
	token := k.deployToken(t)
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			if _, err := k.review(t, token); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	wantSame(t, k.state.Count("TokenReview"), 1)
	k.change(func(c *Cluster) { c.Fault.Authenticator = AuthenticatorDown })
	_, err := k.review(t, token)
	must(t, err)
	k.state.ShiftClock(tokenCacheLife)
	for range 2 {
		_, err = k.review(t, token)
		wantSame(t, apierrors.IsUnauthorized(err), true)
	}
	wantSame(t, k.state.Count("TokenReview"), 3)
	wantSame(t, k.state.Count("SelfSubjectReview"), 23)
}

func TestTokenCacheForgets(t *testing.T) {
	var cache tokenCache
	var now time.Time
	reviews := 0
	ask := func(token string) {
		_, err := cache.authenticate(t.Context(), token, func() time.Time { return now }, func(context.Context, string) (authenticationv1.UserInfo, error) {
			reviews++
			return authenticationv1.UserInfo{Username: token}, nil
		})
		must(t, err)
	}
	ask("a")
	now = now.Add(tokenCacheLife - 1)
	ask("a")
	wantSame(t, reviews, 1)
	now = now.Add(1)
	ask("b")
	wantSame(t, len(cache.entries), 1) // a went with it
	now = now.Add(-time.Hour)
	ask("b")
	wantSame(t, reviews, 3)
}

// TestASharedReviewOutlivesItsFirstAsker: the request that began it may go away while others wait.
func TestASharedReviewOutlivesItsFirstAsker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cache tokenCache
		reviews := 0
		slow := func(ctx context.Context, _ string) (authenticationv1.UserInfo, error) {
			reviews++
			select {
			case <-time.After(time.Second):
				return authenticationv1.UserInfo{Username: "ci"}, nil
			case <-ctx.Done():
				return authenticationv1.UserInfo{}, ctx.Err()
			}
		}
		first, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		for _, ctx := range []context.Context{first, t.Context()} {
			asking.Go(func() {
				user, err := cache.authenticate(ctx, "token", time.Now, slow)
				if err != nil || user.Username != "ci" || !slices.Equal(user.Groups, []string{groupAuthenticate}) {
					t.Errorf("got %+v, %v", user, err)
				}
			})
			synctest.Wait()
		}
		cancel()
		asking.Wait()
		wantSame(t, reviews, 1)
	})
}

func TestAuthenticatedGroupIsThereOnce(t *testing.T) {
	wantSame(t, withGroup([]string{"a", groupAuthenticate}, groupAuthenticate), []string{"a", groupAuthenticate})
	wantSame(t, withGroup(nil, groupAuthenticate), []string{groupAuthenticate})
}

func TestBearer(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "Bearer": "", "Bearer ": "", "bearer abc": "abc", "BEARER  abc ": "abc", "Basic abc": "", "abc": "",
	} {
		r := &http.Request{Header: http.Header{"Authorization": {header}}}
		if got := bearer(r); got != want {
			t.Errorf("%q gives %q, want %q", header, got, want)
		}
	}
}

func TestWithoutAToken(t *testing.T) {
	forbiddenBody := func(message, details string) string {
		return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"` + message + `","reason":"Forbidden","details":{` + details + `},"code":403}` + "\n"
	}
	const unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}` + "\n"
	tests := map[string]struct {
		anonymous    Anonymous
		method, path string
		status       int
		body         string
		call         Call
	}{
		"readyz":           {AnonymousHealth, "GET", "/readyz", 200, "ok", Call{"apiserver", "Readyz", ""}},
		"livez":            {AnonymousAnywhere, "GET", "/livez", 200, "ok", Call{"apiserver", "Livez", ""}},
		"healthz":          {AnonymousHealth, "GET", "/healthz", 200, "ok", Call{"apiserver", "Healthz", ""}},
		"off: readyz":      {AnonymousNowhere, "GET", "/readyz", 401, unauthorized, Call{"apiserver", "Readyz", "Unauthorized"}},
		"closed: version":  {AnonymousHealth, "GET", "/version", 401, unauthorized, Call{"apiserver", "Version", "Unauthorized"}},
		"closed: a read":   {AnonymousHealth, "GET", "/api/v1/pods", 401, unauthorized, Call{"apiserver", "list pods", "Unauthorized"}},
		"closed: a review": {AnonymousHealth, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", 401, unauthorized, Call{"apiserver", "SelfSubjectReview", "Unauthorized"}},
		"open: a read": {AnonymousAnywhere, "GET", "/api/v1/pods", 403,
			forbiddenBody(`pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" at the cluster scope`, `"kind":"pods"`),
			Call{"apiserver", "list pods", "Forbidden"}},
		"open: a named read": {AnonymousAnywhere, "GET", "/apis/apps/v1/namespaces/shop/deployments/web/scale", 403,
			forbiddenBody(`deployments.apps \"web\" is forbidden: User \"system:anonymous\" cannot get resource \"deployments/scale\" in API group \"apps\" in the namespace \"shop\"`,
				`"name":"web","group":"apps","kind":"deployments"`), Call{"apiserver", "get deployments", "Forbidden"}},
		"open: a review": {AnonymousAnywhere, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", 403,
			forbiddenBody(`selfsubjectreviews.authentication.k8s.io is forbidden: User \"system:anonymous\" cannot create resource \"selfsubjectreviews\" in API group \"authentication.k8s.io\" at the cluster scope`,
				`"group":"authentication.k8s.io","kind":"selfsubjectreviews"`), Call{"apiserver", "SelfSubjectReview", "Forbidden"}},
		"open: a path": {AnonymousAnywhere, "GET", "/metrics", 403,
			forbiddenBody(`forbidden: User \"system:anonymous\" cannot get path \"/metrics\"`, ""), Call{"apiserver", "get /metrics", "Forbidden"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			k.change(func(c *Cluster) { c.Anonymous = test.anonymous })
			got := k.do(t, test.method+" "+test.path, "", "")
			wantSame(t, got.status, test.status)
			wantSame(t, got.body, test.body)
			wantSame(t, k.calls(), []Call{test.call})
		})
	}
	t.Run("a refused token is refused everywhere", func(t *testing.T) {
		k := newKubeCluster(t)
		wantSame(t, k.do(t, "GET /readyz", "nonsense", "").body, unauthorized)
		wantSame(t, k.do(t, "GET /readyz", "", "", "Authorization", "Basic Y2k6Y2k=").body, "ok") // no bearer at all
	})
	t.Run("version", func(t *testing.T) {
		k := newKubeCluster(t)
		var info version.Info
		must(t, json.Unmarshal([]byte(k.do(t, "GET /version", "", "").body), &info))
		wantSame(t, info.Major+"."+info.Minor, "1.37")
	})
}

func TestRequestVerbs(t *testing.T) {
	for request, want := range map[string]attributes{
		"GET /api/v1/nodes":                             {verb: "list", version: "v1", resource: "nodes"},
		"GET /api/v1/nodes?watch=true":                  {verb: "watch", version: "v1", resource: "nodes"},
		"GET /api/v1/namespaces/shop":                   {verb: "get", version: "v1", resource: "namespaces", name: "shop", namespace: "shop"},
		"PUT /api/v1/namespaces/shop/status":            {verb: "update", version: "v1", resource: "namespaces", name: "shop", namespace: "shop", subresource: "status"},
		"DELETE /api/v1/namespaces/shop/pods":           {verb: "deletecollection", version: "v1", resource: "pods", namespace: "shop"},
		"DELETE /api/v1/namespaces/shop/pods/web":       {verb: "delete", version: "v1", resource: "pods", namespace: "shop", name: "web"},
		"PATCH /apis/apps/v1/namespaces/shop/x/y":       {verb: "patch", group: "apps", version: "v1", resource: "x", namespace: "shop", name: "y"},
		"POST /api/v1/namespaces/shop/pods/web/binding": {verb: "create", version: "v1", resource: "pods", namespace: "shop", name: "web", subresource: "binding"},
		"GET /apis/apps/v1":                             {verb: "get"},
	} {
		method, url, _ := strings.Cut(request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		must(t, err)
		want.path = r.URL.Path
		if got := requestAttributes(r); got != want {
			t.Errorf("%s\ngot  %+v\nwant %+v", request, got, want)
		}
	}
}

func TestExactAWSAuthKeys(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) {
		c.AuthMode, c.AWSAuth = "CONFIG_MAP", map[string]string{"mapRoles": "- {roleARN: '" + deployARN + "', username: ci}"}
	})
	_, err := k.review(t, k.deployToken(t))
	must(t, err)
	k.api.RequireExactKeys(true)
	k.state.ShiftClock(tokenCacheLife)
	_, err = k.review(t, k.deployToken(t))
	wantSame(t, apierrors.IsUnauthorized(err), true)
}

func TestServingAnUnknownCluster(t *testing.T) {
	_, err := NewAPIServer(NewState(), nil, "prod", STSEndpoint{})
	wantSame(t, fmt.Sprint(err), `serving cluster "prod": the state has no such cluster`)
}

// TestCloseEndsEverything closes while a request hangs.
func TestCloseEndsEverything(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) { c.Fault.Hang = true })
	hanging := make(chan error)
	sent := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }})
	go func() { hanging <- k.get(ctx, t, "/readyz") }()
	<-sent
	soon(t, func() { must(t, errors.Join(k.api.Close(), k.api.Close())) })
	if err := <-hanging; err == nil {
		t.Error("the hanging request was answered")
	}
}
