// The cluster under load, under change and under nonsense: nothing races, panics or leaks, and client-go understands every error.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// TestUnderChange reviews tokens while the cluster's entries, clock and certificates change: an answer is the user or 401, and nothing else.
func TestUnderChange(t *testing.T) {
	k := newKubeCluster(t)
	credentials := k.assume(t, deployARN, denyAll)
	client := k.client(t, k.mint(t, credentials, "prod"), authenticationv1.SchemeGroupVersion)
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 20 {
				var review authenticationv1.SelfSubjectReview
				err := client.Post().Resource("selfsubjectreviews").Body(&review).Do(t.Context()).Into(&review)
				if err != nil && !apierrors.IsUnauthorized(err) || err == nil && review.Status.UserInfo.Username != "ci:probe" {
					t.Errorf("got %q, %v", review.Status.UserInfo.Username, err)
				}
			}
		})
	}
	for range 20 {
		entry := Entry{AccessEntry: chain.AccessEntry{PrincipalARN: deployARN, Username: "ci:{{SessionName}}"}, RoleID: "AROADEPLOY"}
		k.change(func(c *Cluster) { delete(c.Entries, deployARN) })
		k.state.ShiftClock(tokenCacheLife)
		must(t, k.api.ServeCertificate(CertificateGood))
		k.change(func(c *Cluster) { c.Entries[deployARN] = &entry })
		k.state.ShiftClock(0)
	}
	working.Wait()
	wantSame(t, k.state.Count("SelfSubjectReview"), 160)
}

// TestClientGoUnderstandsErrors: the reasons, and the delays that it is asked for.
func TestClientGoUnderstandsErrors(t *testing.T) {
	tests := map[string]struct {
		fault ClusterFault
		is    func(error) bool
		delay int
	}{
		"storage is warming up": {ClusterFault{HTTPStatus: 429, StatusMessage: "storage is (re)initializing"}, apierrors.IsTooManyRequests, 1},
		"flow control":          {ClusterFault{HTTPStatus: 429}, apierrors.IsTooManyRequests, 1},
		"internal":              {ClusterFault{HTTPStatus: 500, StatusMessage: "etcdserver: no leader"}, apierrors.IsInternalError, 0},
		"unavailable":           {ClusterFault{HTTPStatus: 503}, apierrors.IsServiceUnavailable, 0},
		"gateway timeout":       {ClusterFault{HTTPStatus: 504}, apierrors.IsTimeout, 0},
		"forbidden":             {ClusterFault{HTTPStatus: 403, StatusMessage: "no"}, apierrors.IsForbidden, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			k.change(func(c *Cluster) { c.Fault = test.fault })
			err := k.client(t, "token", corev1.SchemeGroupVersion).Get().Resource("nodes").MaxRetries(0).Do(t.Context()).Error()
			if !test.is(err) {
				t.Errorf("client-go takes it for %s: %v", apierrors.ReasonForError(err), err)
			}
			delay, _ := apierrors.SuggestsClientDelay(err)
			wantSame(t, delay, test.delay)
			wantSame(t, k.state.Count("TokenReview"), 0) // a broken apiserver does not get as far
		})
	}
}

func FuzzRequestAttributes(f *testing.F) {
	for _, seed := range []string{"/", "/api", "/api/v1", "/api/v1/nodes", "/apis/apps/v1/namespaces/shop/deployments/web/scale", "/api/v1/namespaces//pods", "//api//v1//", "/apis///"} {
		f.Add("GET", seed)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		want := requestAttributes(&http.Request{Method: method, URL: &url.URL{Path: path}})
		if want.path != path || want.resource != "" && strings.Contains(want.resource, "/") {
			t.Errorf("%q is read as %+v", path, want)
		}
		if operation := operationOf(&http.Request{Method: method, URL: &url.URL{Path: path}}, want); operation == "" {
			t.Errorf("%q has no operation", path)
		}
	})
}

// FuzzParseAWSAuth: a ConfigMap is written by hand; whatever it holds, nobody is mapped by half a line, and nothing panics.
func FuzzParseAWSAuth(f *testing.F) {
	for _, seed := range []string{"- rolearn: a\n  username: b\n", "- {rolearn: a, groups: [x, 1, null]}", "a: &a [*a]", "- !!binary x", "? [", "- 0o17\n- 1e3\n", "---\n- rolearn: a\n---\n- rolearn: b\n"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, section string, exactKeys bool) {
		auth := parseAWSAuth(map[string]string{"mapRoles": section, "mapUsers": section, "mapAccounts": section}, exactKeys)
		for arn := range auth.roles {
			if m, found := auth.find(arn); arn == "" || !found || m.username != auth.roles[arn].username {
				t.Errorf("%q maps %q", section, arn)
			}
		}
	})
}

func FuzzDNSReply(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x07example\x03com\x00\x00\x01\x00\x01"))
	d := &DNS{answers: map[string]DNSAnswer{"gone.example.com": DNSNXDomain}}
	f.Fuzz(func(t *testing.T, message []byte) {
		if reply := d.reply(message); reply != nil && (len(reply) < 12 || reply[0] != message[0] || reply[1] != message[1] || reply[2]&0x80 == 0) {
			t.Errorf("%x is answered by %x", message, reply)
		}
	})
}
