// The literal texts of Kubernetes' refusals, as its source writes them, and the reason that each must get.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// refusals are answers to "create rolebindings in shop". A step of StepNone with a reason is an unknown; no reason means that the write is permitted.
var refusals = map[string]struct {
	code    int
	reason  string // of the Status
	message string
	step    chain.Step
	want    chain.Reason
}{
	"RBAC": {403, "Forbidden", `rolebindings.rbac.authorization.k8s.io is forbidden: User "ci:run" cannot create resource "rolebindings" in API group "rbac.authorization.k8s.io" in the namespace "shop"`, chain.StepRBAC, chain.ReasonDenied},
	"RBAC at the cluster scope": {403, "Forbidden", `rolebindings.rbac.authorization.k8s.io is forbidden: User "arn:aws:sts::111122223333:assumed-role/ci/run" cannot create resource "rolebindings" in API group "rbac.authorization.k8s.io" at the cluster scope`,
		chain.StepRBAC, chain.ReasonDenied},
	"a quote in the user name": {403, "Forbidden", `x is forbidden: User "a\"b" cannot create resource "x" in API group "" at the cluster scope`, chain.StepRBAC, chain.ReasonDenied},
	"C47 a binding of no role": {403, "Forbidden", `rolebindings.rbac.authorization.k8s.io is forbidden: User "ci:run" cannot create resource "rolebindings" in API group "rbac.authorization.k8s.io" in the namespace "shop": RBAC: role.rbac.authorization.k8s.io "deployer" not found`,
		chain.StepRBAC, chain.ReasonRBACRoleNotFound},
	"C47 in the words of 1.37": {403, "Forbidden", `nodes is forbidden: User "ci:run" cannot create resource "nodes" in API group "" at the cluster scope: rbac: RBAC: clusterrole.rbac.authorization.k8s.io "node-reader" not found`,
		chain.StepRBAC, chain.ReasonRBACRoleNotFound},
	"C47 several bindings": {403, "Forbidden", `x is forbidden: User "ci:run" cannot create resource "x" in API group "" in the namespace "shop": RBAC: [clusterrole.rbac.authorization.k8s.io "a" not found, role.rbac.authorization.k8s.io "b" not found]`,
		chain.StepRBAC, chain.ReasonRBACRoleNotFound},
	"C29 nobody": {403, "Forbidden", `rolebindings.rbac.authorization.k8s.io is forbidden: User "system:anonymous" cannot create resource "rolebindings" in API group "rbac.authorization.k8s.io" in the namespace "shop"`, chain.StepToken, chain.ReasonTokenNotSent},
	"C46 escalation": {403, "Forbidden", "rolebindings.rbac.authorization.k8s.io \"x\" is forbidden: user \"ci:run\" (groups=[\"deployers\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}",
		chain.StepRBAC, chain.ReasonRBACEscalationDenied},
	"another verb":         {403, "Forbidden", `x is forbidden: User "ci:run" cannot update resource "x" in API group "" in the namespace "shop"`, chain.StepNone, ""},
	"a webhook":            {403, "Forbidden", `admission webhook "validate.kyverno.svc-fail" denied the request: policy require-labels: validation error`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a webhook, silent":    {400, "", `admission webhook "a.b.c" denied the request without explanation`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a webhook with a 500": {500, "InternalError", `admission webhook "a.b.c" denied the request: out of luck`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a policy":             {422, "Invalid", `rolebindings.rbac.authorization.k8s.io "x" is forbidden: ValidatingAdmissionPolicy 'no-admins' with binding 'no-admins-binding' denied request: failed expression`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a policy, no binding": {403, "Forbidden", `x "y" is forbidden: ValidatingAdmissionPolicy 'p' denied request: no`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a mutating policy":    {422, "Invalid", `pods "x" is forbidden: MutatingAdmissionPolicy 'p' with binding 'b' denied request: no such key`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"pod security":         {403, "Forbidden", `pods "eks-slo-probe-" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a quota":              {403, "Forbidden", `configmaps "x" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: 3, limited: 3`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a dying namespace":    {403, "Forbidden", `configmaps "x" is forbidden: unable to create new content in namespace shop because it is being terminated`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"C59 webhook unreachable": {500, "InternalError", `Internal error occurred: failed calling webhook "mpod.elbv2.k8s.aws": failed to call webhook: Post "https://aws-load-balancer-webhook-service.kube-system.svc:443/mutate-v1-pod?timeout=10s": context deadline exceeded`,
		chain.StepRBAC, chain.ReasonAdmissionWebhookUnavailable},
	"a webhook with a 401":      {401, "Unauthorized", `admission webhook "v.example.com" denied the request: not logged in`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a webhook with a 429":      {429, "TooManyRequests", `admission webhook "r.example.com" denied the request: too many objects`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a webhook with a 404":      {404, "NotFound", `admission webhook "v.example.com" denied the request: no such team`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a webhook quoting another": {403, "Forbidden", `admission webhook "a" denied the request: failed calling webhook: context deadline exceeded`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"a quota quoting a webhook": {403, "Forbidden", `configmaps "x" is forbidden: note: failed to call webhook registry`, chain.StepRBAC, chain.ReasonAdmissionDenied},
	"C59 a useless answer": {500, "InternalError", `Internal error occurred: failed calling webhook "v.x": received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview`,
		chain.StepRBAC, chain.ReasonAdmissionWebhookUnavailable},
	"a disruption budget":      {429, "TooManyRequests", `Cannot evict pod as it would violate the pod's disruption budget.`, chain.StepNone, ""},
	"flow control":             {429, "TooManyRequests", `too many requests`, chain.StepEndpoint, chain.ReasonAPIServerFlowControl},
	"C59 in its older words":   {500, "InternalError", `Internal error occurred: failed calling webhook "mpod.elbv2.k8s.aws": Post https://x.svc:443/m?timeout=30s: no endpoints available for service "x"`, chain.StepRBAC, chain.ReasonAdmissionWebhookUnavailable},
	"invalid":                  {422, "Invalid", `RoleBinding.rbac.authorization.k8s.io "eks-slo-probe-abc" is invalid: roleRef.kind: Unsupported value: ""`, chain.StepNone, ""},
	"another kind in the body": {400, "BadRequest", `the object provided is unrecognized`, chain.StepNone, ""},
	"no dry run in a webhook":  {400, "BadRequest", `admission webhook "a.b.c" does not support dry run`, chain.StepNone, ""},
	"exists":                   {409, "AlreadyExists", `configmaps "x" already exists`, chain.StepNone, ""},
	"no such namespace":        {404, "NotFound", `namespaces "shop" not found`, chain.StepNone, chain.ReasonNotMeasurable},
	"no such method":           {405, "MethodNotAllowed", `the server does not allow this method on the requested resource`, chain.StepNone, chain.ReasonNotMeasurable},
	"storage is initializing":  {429, "TooManyRequests", `storage is (re)initializing`, chain.StepEndpoint, chain.ReasonAPIServerStorageInitializing},
	"etcd":                     {500, "InternalError", `etcdserver: request timed out`, chain.StepEndpoint, chain.ReasonAPIServerError},
}

func testConn() *Conn {
	return &Conn{target: &url.URL{Scheme: "https", Host: "a.test"}}
}

var bindings = write{verb: "create", resource: schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}, namespace: "shop", madeUp: true}

func TestWriteRefusals(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			err := testConn().writeRefusal(bindings, answer{status: c.code, body: []byte(statusBody(c.code, c.reason, c.message))})
			if c.want == "" {
				if err != nil {
					t.Fatalf("got %v, want the write permitted", err)
				}
				return
			}
			e := wantFailure(t, err, c.step, c.want)
			if e.Facts[chain.FactHTTPStatus] != fmt.Sprint(c.code) || e.Facts[chain.FactErrorMessage] != chain.Redact(c.message) {
				t.Errorf("facts %v", e.Facts)
			}
			if c.step == chain.StepRBAC && (e.Facts[chain.FactRule] != "create rbac.authorization.k8s.io/rolebindings in shop" || e.Facts[chain.FactWhy] == "") {
				t.Errorf("facts %v", e.Facts)
			}
			if hinted := strings.Contains(e.Detail, "made up by the probe"); hinted != (c.want == chain.ReasonAdmissionDenied) {
				t.Errorf("detail %q", e.Detail)
			}
		})
	}
}

// A 404 of the object itself comes after authorization; of anything else, the write could not be judged.
func TestWhoseNotFound(t *testing.T) {
	update, manifest := bindings, bindings
	update.verb, update.name = "update", "deployers"
	manifest.madeUp = false
	cases := map[string]struct {
		write   write
		missing string
		want    chain.Reason
	}{
		"our made-up role":       {bindings, "eks-slo-probe", ""},
		"the object to update":   {update, "deployers", ""},
		"the namespace":          {bindings, "shop", chain.ReasonNotMeasurable},
		"a role of the manifest": {manifest, "nope", chain.ReasonNotMeasurable},
		"a role of that name":    {manifest, "eks-slo-probe", chain.ReasonNotMeasurable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"x not found","reason":"NotFound","details":{"name":%q},"code":404}`, c.missing)
			err := testConn().writeRefusal(c.write, answer{status: 404, body: []byte(body)})
			if c.want == "" {
				if err != nil {
					t.Fatalf("got %v, want the write permitted", err)
				}
				return
			}
			wantFailure(t, err, chain.StepNone, c.want)
		})
	}
}

func TestWhatTheApiserverDoesNotServeIsUnknown(t *testing.T) {
	for _, body := range []string{"404 page not found\n", `{"kind":"Status","status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`} {
		wantFailure(t, testConn().writeRefusal(bindings, answer{status: 404, body: []byte(body)}), chain.StepNone, chain.ReasonNotMeasurable)
	}
}

// kube-apiserver writes no Status for a group that it does not serve, but always the same words; any other page was written by something in front of it.
func TestAPageOfSomethingInFrontIsNoAnswerAboutTheWrite(t *testing.T) {
	for _, c := range []struct {
		status int
		reason chain.Reason
	}{{404, chain.ReasonAPIServerError}, {405, chain.ReasonAPIServerError}, {403, chain.ReasonProxyDenied}, {502, chain.ReasonAPIServerError}} {
		for _, body := range []string{"<html><h1>nginx</h1></html>", "", `{"kind":"Status","status":"Success"}`} {
			wantFailure(t, testConn().writeRefusal(bindings, answer{status: c.status, body: []byte(body)}), chain.StepEndpoint, c.reason)
		}
	}
}

func TestSecretsInForeignTextAreRedacted(t *testing.T) {
	secret := "k8s-aws-v1.aHR0cHM6Ly9zdHM"
	for _, got := range []answer{
		{status: 500, body: []byte(statusBody(500, "InternalError", "bad token "+secret))},
		{status: 500, body: []byte("bad token " + secret)},
		{status: 401, body: []byte(statusBody(401, "Unauthorized", "bad token "+secret))},
		{status: 403, body: []byte(statusBody(403, "Forbidden", "bad token "+secret))},
	} {
		err := testConn().writeRefusal(bindings, got)
		text := fmt.Sprintf("%v %+v", err, err)
		if err == nil || strings.Contains(text, secret) || !strings.Contains(text, "[redacted]") {
			t.Errorf("error %s", text)
		}
	}
}

// An overloaded apiserver's 429 may be in any words, when a header tells that priority and fairness saw the request; a page of something in front has no such header.
func TestThePriorityLevelTellsFlowControl(t *testing.T) {
	for header, want := range map[string]chain.Reason{"X-Kubernetes-PF-PriorityLevel-UID": chain.ReasonAPIServerFlowControl, "X-Other": chain.ReasonAPIServerError} {
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, "f1a2")
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		dialFails(t, directOptions(), s.endpoint(), ample, want)
	}
}

func FuzzReadStatus(f *testing.F) {
	for _, c := range refusals {
		f.Add(c.code, []byte(statusBody(c.code, c.reason, c.message)))
	}
	f.Add(403, []byte(`{"kind":"Status","status":"Failure","details":null,"code":"403"}`))
	f.Add(403, []byte(strings.Repeat(`{"details":`, 11000)))
	f.Add(200, []byte("<html>\xff\xfe"))
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		got := answer{status: code, body: body}
		if status, ok := readStatus(body); ok && (status.Kind != "Status" || status.Status != "Failure") {
			t.Fatalf("took %q for a Status", body)
		}
		for _, err := range []error{testConn().writeRefusal(bindings, got), testConn().notReady(got), testConn().accessRefused(got)} {
			if err == nil {
				continue
			}
			if text := err.Error(); !utf8.ValidString(text) || len(text) > 4000 || strings.ContainsAny(text, "\x00\n\x1b") {
				t.Fatalf("text unfit for people: %q", text)
			}
			if e := chain.AsError(err); code < 400 && e.Reason == chain.ReasonProxyDenied {
				t.Fatalf("%d blamed on a proxy", code)
			}
		}
	})
}
