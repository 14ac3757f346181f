// Plain HTTP towards the cluster, as an administrator or with a token.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// requestTimeout covers kube-apiserver's retries of a throttled webhook, about 4 s.
const requestTimeout = 15 * time.Second

// Apply makes an object, or makes the one of its name like it, as the administrator. path is the object's, /apis/rbac.authorization.k8s.io/v1/clusterroles/NAME for one;
// object carries its own apiVersion and kind.
func (c *Cluster) Apply(ctx context.Context, t testing.TB, path string, object any) {
	t.Helper()
	body, status, err := c.send(ctx, http.MethodPatch, path+"?fieldManager=e2e&force=true", c.adminToken, object)
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusCreated && status != http.StatusOK {
		t.Fatalf("applying an object to %s: HTTP %d: %s", path, status, body)
	}
}

// Delete ends the object or the collection at path, at once, as the administrator. What is not there is gone already.
func (c *Cluster) Delete(ctx context.Context, t testing.TB, path string) {
	t.Helper()
	body, status, err := c.send(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", c.adminToken, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK && status != http.StatusAccepted && status != http.StatusNotFound {
		t.Fatalf("deleting %s: HTTP %d: %s", path, status, body)
	}
}

// Serves reports whether there is anything at path for the administrator.
func (c *Cluster) Serves(ctx context.Context, t testing.TB, path string) bool {
	t.Helper()
	_, status, err := c.send(ctx, http.MethodGet, path, c.adminToken, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status == http.StatusOK
}

// Allows asks kube-apiserver whether it would allow something to somebody.
func (c *Cluster) Allows(ctx context.Context, t testing.TB, spec authorization.SubjectAccessReviewSpec) bool {
	t.Helper()
	body, status, err := c.send(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", c.adminToken, authorization.SubjectAccessReview{
		TypeMeta: meta.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}, Spec: spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	var review authorization.SubjectAccessReview
	if err := json.Unmarshal(body, &review); err != nil || status != http.StatusCreated {
		t.Fatalf("reading a SubjectAccessReview: HTTP %d: %v in %s", status, err, body)
	}
	return review.Status.Allowed
}

// Review asks kube-apiserver who a token belongs to. The status is 201 when the token was accepted, else 401 and no user.
func (c *Cluster) Review(ctx context.Context, t testing.TB, token string) (user authentication.UserInfo, status int) {
	t.Helper()
	body, status, err := c.send(ctx, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", token, authentication.SelfSubjectReview{
		TypeMeta: meta.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "SelfSubjectReview"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusCreated {
		return user, status
	}
	var review authentication.SelfSubjectReview
	if err := json.Unmarshal(body, &review); err != nil {
		t.Fatalf("reading a SelfSubjectReview: %v in %s", err, body)
	}
	return review.Status.UserInfo, status
}

// AdminToken is a static token of the group system:masters, which the webhook never sees.
func (c *Cluster) AdminToken() string { return c.adminToken }

// send is a POST in JSON, a server-side apply, or a GET or DELETE without an object.
func (c *Cluster) send(ctx context.Context, method, path, token string, object any) (body []byte, status int, err error) {
	var text []byte
	if object != nil {
		if text, err = json.Marshal(object); err != nil {
			return nil, 0, fmt.Errorf("encoding an object for %s: %w", path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, 0, fmt.Errorf("asking for %s: %w", path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := c.client.Do(request)
	if err != nil {
		return nil, 0, fmt.Errorf("sending to %s: %w", path, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return body, response.StatusCode, nil
}

// trusting returns a client that trusts one authority and no proxy.
func trusting(ca *sandbox.CA) *http.Client {
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
	}
}

// answersOK is nil when a GET answers 200.
func answersOK(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("asking %s: HTTP %d", url, response.StatusCode)
	}
	return nil
}
