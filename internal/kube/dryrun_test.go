// Tests of the dry-run writes: what exactly is sent, what is never sent, and manifests.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func parseRule(t *testing.T, text string) chain.Rule {
	t.Helper()
	rule, err := chain.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

const query = "?dryRun=All&fieldManager=eks-slo-exporter"

func TestDryRunRequests(t *testing.T) {
	custom := map[string]scripted{
		"/apis/karpenter.sh":    {200, `{"kind":"APIGroup","name":"karpenter.sh","preferredVersion":{"groupVersion":"karpenter.sh/v1","version":"v1"}}`},
		"/apis/karpenter.sh/v1": {200, `{"kind":"APIResourceList","groupVersion":"karpenter.sh/v1","resources":[{"name":"nodepools/status","kind":"NodePool"},{"name":"nodepools","kind":"NodePool"}]}`},
	}
	deletion := `{"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]}`
	for rule, c := range map[string]struct {
		asked []string
		body  string
	}{
		"create configmaps in shop":       {[]string{"POST /api/v1/namespaces/shop/configmaps" + query}, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"eks-slo-probe-","namespace":"shop"}}`},
		"create configmaps web in shop":   {[]string{"POST /api/v1/namespaces/shop/configmaps" + query}, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop"}}`},
		"create apps/deployments in shop": {[]string{"POST /apis/apps/v1/namespaces/shop/deployments" + query}, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generateName":"eks-slo-probe-","namespace":"shop"}}`},
		"create networking.k8s.io/networkpolicies in shop": {[]string{"POST /apis/networking.k8s.io/v1/namespaces/shop/networkpolicies" + query},
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"generateName":"eks-slo-probe-","namespace":"shop"}}`},
		"create rbac.authorization.k8s.io/rolebindings in shop": {[]string{"POST /apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings" + query},
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"generateName":"eks-slo-probe-","namespace":"shop"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"eks-slo-probe"}}`},
		"create bindings in shop": {[]string{"POST /api/v1/namespaces/shop/bindings" + query},
			`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"eks-slo-probe","namespace":"shop"},"target":{"kind":"Node","name":"eks-slo-probe"}}`},
		"create namespaces":               {[]string{"POST /api/v1/namespaces" + query}, `{"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"eks-slo-probe-","namespace":""}}`},
		"create pods/eviction in shop":    {[]string{"POST /api/v1/namespaces/shop/pods/eks-slo-probe/eviction" + query}, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"eks-slo-probe","namespace":"shop"}}`},
		"update apps/deployments in shop": {[]string{"PUT /apis/apps/v1/namespaces/shop/deployments/eks-slo-probe" + query}, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"eks-slo-probe","namespace":"shop"}}`},
		"patch services web in shop":      {[]string{"PATCH /api/v1/namespaces/shop/services/web" + query}, `{}`},
		"delete secrets in shop":          {[]string{"DELETE /api/v1/namespaces/shop/secrets/eks-slo-probe" + query}, deletion},
		"deletecollection pods in shop":   {[]string{"DELETE /api/v1/namespaces/shop/pods?dryRun=All&labelSelector=eks-slo-probe%3Dnone"}, deletion},
		"create karpenter.sh/nodepools": {[]string{"GET /apis/karpenter.sh", "GET /apis/karpenter.sh/v1", "POST /apis/karpenter.sh/v1/nodepools" + query},
			`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"generateName":"eks-slo-probe-","namespace":""}}`},
	} {
		t.Run(rule, func(t *testing.T) {
			world := &script{answers: map[string]scripted{}}
			maps.Copy(world.answers, custom)
			last := strings.Fields(c.asked[len(c.asked)-1])[1]
			path, _, _ := strings.Cut(last, "?")
			world.answers[path] = scripted{201, `{"kind":"Whatever"}`}
			conn := connect(t, serve(t, ready(world)))
			if err := conn.DryRun(within(t, ample), testToken, chain.DryRun{Rule: parseRule(t, rule)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.asked, world.asked); diff != "" || len(world.bad) > 0 {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			var got, want any
			if err := json.Unmarshal([]byte(world.body[len(world.body)-1]), &got); err != nil {
				t.Fatal(err)
			}
			json.Unmarshal([]byte(c.body), &want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsSentForWhatCannotBeDryRun(t *testing.T) {
	for rule, want := range map[string]struct {
		reason chain.Reason
		detail string
	}{
		"get secrets in shop":                             {chain.ReasonNotMeasurable, "get is no write"},
		"escalate rbac.authorization.k8s.io/clusterroles": {chain.ReasonNotMeasurable, "escalate is no write"},
		"create * in shop":                                {chain.ReasonNotMeasurable, "it names no one resource"},
		"create */deployments in shop":                    {chain.ReasonNotMeasurable, "it names no one resource"},
		"create pods/exec web in shop":                    {chain.ReasonNotMeasurable, "exec would act for real"},
		"create services/proxy web in shop":               {chain.ReasonNotMeasurable, "proxy would act for real"},
		"create serviceaccounts/token in a":               {chain.ReasonNotMeasurable, "token would act for real"},
		"create apps/gadgets in shop":                     {chain.ReasonNotMeasurable, `Kubernetes has no resource "gadgets" in the group "apps"`},
		"delete pods ../../../nodes in shop":              {chain.ReasonReadFailed, "making the request: invalid resource name"},
	} {
		t.Run(rule, func(t *testing.T) {
			world := &script{}
			conn := connect(t, serve(t, ready(world)))
			e := wantFailure(t, conn.DryRun(within(t, ample), testToken, chain.DryRun{Rule: parseRule(t, rule)}), chain.StepNone, want.reason)
			has(t, e, want.detail)
			if len(world.asked) != 0 {
				t.Errorf("asked %v", world.asked)
			}
		})
	}
}

func TestCustomResourcesThatAreNotServed(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]scripted
		step    chain.Step
		reason  chain.Reason
	}{
		"no group":        {nil, chain.StepNone, chain.ReasonNotMeasurable},
		"forbidden":       {map[string]scripted{"/apis/karpenter.sh": {403, statusBody(403, "Forbidden", "no")}}, chain.StepNone, chain.ReasonNotMeasurable},
		"a gateway's 403": {map[string]scripted{"/apis/karpenter.sh": {403, "<html>Forbidden</html>"}}, chain.StepEndpoint, chain.ReasonProxyDenied},
		"a gateway's 404": {map[string]scripted{"/apis/karpenter.sh": {404, "<html>Not Found</html>"}}, chain.StepEndpoint, chain.ReasonAPIServerError},
		"unavailable":     {map[string]scripted{"/apis/karpenter.sh": {503, "service unavailable"}}, chain.StepEndpoint, chain.ReasonAPIServerError},
		"no resource": {map[string]scripted{
			"/apis/karpenter.sh":    {200, `{"kind":"APIGroup","preferredVersion":{"version":"v1"}}`},
			"/apis/karpenter.sh/v1": {200, `{"kind":"APIResourceList"}`},
		}, chain.StepNone, chain.ReasonNotMeasurable},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, serve(t, ready(&script{answers: c.answers})))
			wantFailure(t, conn.DryRun(within(t, ample), testToken, chain.DryRun{Rule: parseRule(t, "create karpenter.sh/nodepools")}), c.step, c.reason)
		})
	}
}

func TestManifests(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		path string
		want string // an error's words; "" none
	}{
		"namespaced":          {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 2}\n", "/apis/apps/v1/namespaces/shop/deployments", ""},
		"in default":          {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n", "/api/v1/namespaces/default/configmaps", ""},
		"of the cluster":      {"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {generateName: x-}\n", "/apis/rbac.authorization.k8s.io/v1/clusterroles", ""},
		"irregular plural":    {"---\n# a comment\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\n", "/apis/networking.k8s.io/v1/namespaces/shop/ingresses", ""},
		"custom, no scope":    {"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web}\n", "/apis/karpenter.sh/v1/nodepools", ""},
		"JSON":                {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"shop"}}`, "/api/v1/namespaces/shop/secrets", ""},
		"two objects":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n", "", "more than one object"},
		"nothing":             {"\n---\n", "", "no object with apiVersion and kind"},
		"no kind":             {"apiVersion: v1\nmetadata: {name: a}\n", "", "no object with apiVersion and kind"},
		"no name":             {"apiVersion: v1\nkind: ConfigMap\n", "", "no metadata.name"},
		"a list":              {"apiVersion: v1\nkind: List\nitems: []\n", "", "a List is no one object"},
		"a sequence":          {"- a\n", "", "cannot unmarshal"},
		"broken YAML":         {"a: b: c\n", "", "mapping values are not allowed"},
		"a bad apiVersion":    {"apiVersion: a/b/c\nkind: X\n", "", "unexpected GroupVersion string"},
		"larger than 1 MiB":   {"# " + strings.Repeat("x", maxManifest), "", "larger than 1048576 bytes"},
		"a traversing parent": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ../x}\n", "", "invalid namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "canary.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			world := &script{answers: map[string]scripted{c.path: {201, "{}"}}}
			err := connect(t, serve(t, ready(world))).DryRun(within(t, ample), testToken, chain.DryRun{ManifestFile: file})
			if c.want != "" {
				has(t, wantFailure(t, err, chain.StepNone, chain.ReasonReadFailed), c.want)
				return
			}
			if err != nil || !slices.Equal(world.asked, []string{"POST " + c.path + query}) {
				t.Fatalf("error %v, asked %v", err, world.asked)
			}
		})
	}
}

func TestManifestIsSentAsItIs(t *testing.T) {
	w, err := parseManifest([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {big: \"12345678901234567890\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "shop"}, "data": map[string]any{"big": "12345678901234567890"}}
	if diff := cmp.Diff(want, w.body); diff != "" || w.madeUp {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestManifestThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "gone.yaml"): "no such file or directory", pipe: "not a regular file", "/dev/zero": "not a regular file", dir: "not a regular file"} {
		err := connect(t, serve(t, ready(&script{}))).DryRun(within(t, ample), testToken, chain.DryRun{ManifestFile: path})
		if e := wantFailure(t, err, chain.StepNone, chain.ReasonReadFailed); e.Detail != "reading the manifest "+path+": "+want {
			t.Errorf("detail %q, want %q", e.Detail, want)
		}
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	f.Add([]byte("---\n---\n- a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if w, err := parseManifest(text); err == nil && (w.resource.Resource == "" || w.body == nil || w.verb != "create") {
			t.Fatalf("no error and no write: %+v", w)
		}
	})
}
