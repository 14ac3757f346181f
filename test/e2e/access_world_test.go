// The world of the access tests: one account, one real cluster in the mode CONFIG_MAP, its RBAC, and the exporter's prober as a user configures it.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/app"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/test/e2e/harness"
)

// The roles of the access tests. All of them but the first two are identities under test.
const (
	observerRole = "arn:aws:iam::" + account + ":role/observer" // mapped in aws-auth
	survivorRole = "arn:aws:iam::" + account + ":role/survivor" // an observer that is mapped outside aws-auth
	deployRole   = mappedRole
	danglingRole = "arn:aws:iam::" + account + ":role/dangling" // its group is bound to roles that do not exist
	pathedRole   = "arn:aws:iam::" + account + ":role/team/blue/pathed"
	canaryRole   = "arn:aws:iam::" + account + ":role/canary" // its username tells which aws-auth the authenticator has read
)

// observerLine and deployLine are the healthy lines of mapRoles.
const (
	observerLine = "- {rolearn: " + observerRole + ", username: exporter, groups: [aws-auth-readers]}\n"
	deployLine   = "- {rolearn: " + deployRole + `, username: "ci:{{SessionName}}", groups: [deployers, builders]}` + "\n"
	danglingLine = "- {rolearn: " + danglingRole + ", username: dangling, groups: [mislaid]}\n"
	healthyRoles = observerLine + deployLine + danglingLine
)

// world is what the access tests share. They run one after another.
type world struct {
	aws           *harness.AWS
	cluster       *harness.Cluster
	dir           string               // of the configuration and the files that it names
	configuration string               // without its section access; URL stands for the apiserver's
	edits         int                  // of aws-auth
	real          map[string]chain.Run // of what a fault of the sandbox tells too, by the fault's name
}

// startWorld starts it healthy, and gives the test the environment of the exporter in it.
func startWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		aws: startAccount(t, observerRole, survivorRole, deployRole, danglingRole, pathedRole, canaryRole, strangeRole),
		dir: t.TempDir(), configuration: configuration, real: map[string]chain.Run{},
	}
	w.aws.State.Change(func(s *sandbox.State) { s.Roles[observerRole].ReadsEKS, s.Roles[survivorRole].ReadsEKS = true, true })
	w.cluster = harness.StartCluster(t.Context(), t, harness.Options{
		ClusterID: "prod", AWS: w.aws, AWSAuth: true, Roles: []harness.RoleMapping{{RoleARN: survivorRole, Username: "survivor", Groups: []string{"aws-auth-readers"}}},
	})
	w.aws.State.Change(func(s *sandbox.State) {
		s.Clusters["prod"] = &sandbox.Cluster{
			Name: "prod", AccountID: account, Region: region, Status: chain.ClusterStatusActive, AuthMode: chain.AuthModeConfigMap, Endpoint: w.cluster.URL, CAPEM: w.cluster.CA,
		}
	})
	w.aws.Setenv(t, w.aws.State.Users[userKey.AccessKeyID])
	w.files(t)
	w.rbac(t)
	w.editAWSAuth(t, healthyRoles)
	return w
}

// files writes what the configurations name.
func (w *world) files(t *testing.T) {
	t.Helper()
	other, err := sandbox.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	binding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: e2e, namespace: shop}\n" +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}\nsubjects: [{kind: ServiceAccount, name: default, namespace: shop}]\n"
	for name, text := range map[string][]byte{
		"ca.pem": w.cluster.CA, "other-ca.pem": other.PEM(),
		"bind-secrets.yaml": fmt.Appendf(nil, binding, "secret-admin"), "bind-nodes.yaml": fmt.Appendf(nil, binding, "node-viewer"),
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// grants are the rules of the roles, by name; those with a namespace in front are Roles, the others ClusterRoles.
var grants = map[string][]rbac.PolicyRule{
	"kube-system/aws-auth-reader": {{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"aws-auth"}}},
	"shop/deployer": {
		{Verbs: []string{"get", "list", "create", "update"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods", "pods/log"}},
		{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"registry"}},
		{Verbs: []string{"create"}, APIGroups: []string{rbac.GroupName}, Resources: []string{"rolebindings"}},
	},
	"node-viewer":  {{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"nodes"}}},
	"secret-admin": {{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"secrets"}}},
}

// bindings give roles to groups. Those of mislaid name roles that do not exist.
var bindings = []struct{ namespace, kind, role, group string }{
	{"kube-system", "Role", "aws-auth-reader", "aws-auth-readers"},
	{"shop", "Role", "deployer", "deployers"},
	{"", "ClusterRole", "node-viewer", "builders"},
	{"shop", "Role", "renamed", "mislaid"},
	{"", "ClusterRole", "node-reader", "mislaid"},
}

func (w *world) rbac(t *testing.T) {
	t.Helper()
	w.apply(t, "/api/v1/namespaces/shop", core.Namespace{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta.ObjectMeta{Name: "shop"}})
	for _, path := range slices.Sorted(maps.Keys(grants)) {
		namespace, name, found := strings.Cut(path, "/")
		if !found {
			w.apply(t, rbacPath("", "clusterroles", path), rbac.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: meta.ObjectMeta{Name: path}, Rules: grants[path]})
			continue
		}
		w.apply(t, rbacPath(namespace, "roles", name), rbac.Role{TypeMeta: rbacType("Role"), ObjectMeta: meta.ObjectMeta{Name: name}, Rules: grants[path]})
	}
	for _, b := range bindings {
		roleRef := rbac.RoleRef{APIGroup: rbac.GroupName, Kind: b.kind, Name: b.role}
		subjects := []rbac.Subject{{APIGroup: rbac.GroupName, Kind: "Group", Name: b.group}}
		name := b.group + "-" + b.role
		object := meta.ObjectMeta{Name: name}
		if b.namespace == "" {
			w.apply(t, rbacPath("", "clusterrolebindings", name), rbac.ClusterRoleBinding{TypeMeta: rbacType("ClusterRoleBinding"), ObjectMeta: object, RoleRef: roleRef, Subjects: subjects})
			continue
		}
		w.apply(t, rbacPath(b.namespace, "rolebindings", name), rbac.RoleBinding{TypeMeta: rbacType("RoleBinding"), ObjectMeta: object, RoleRef: roleRef, Subjects: subjects})
	}
}

func rbacPath(namespace, resource, name string) string {
	if namespace != "" {
		namespace = "/namespaces/" + namespace
	}
	return "/apis/rbac.authorization.k8s.io/v1" + namespace + "/" + resource + "/" + name
}

func rbacType(kind string) meta.TypeMeta {
	return meta.TypeMeta{APIVersion: rbac.SchemeGroupVersion.String(), Kind: kind}
}

func (w *world) apply(t *testing.T, path string, object any) {
	t.Helper()
	w.cluster.Apply(t.Context(), t, path, object)
}

// editAWSAuth writes the section mapRoles and returns when the authenticator has read it. The canary is a role under mapUsers: the authenticator looks an ARN up in both sections,
// and a section that does not parse leaves the other one alone.
func (w *world) editAWSAuth(t *testing.T, mapRoles string) {
	t.Helper()
	w.edits++
	username := fmt.Sprint("edit-", w.edits)
	w.apply(t, "/api/v1/namespaces/kube-system/configmaps/aws-auth", core.ConfigMap{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta.ObjectMeta{Name: "aws-auth"},
		Data: map[string]string{"mapRoles": mapRoles, "mapUsers": "- {userarn: " + canaryRole + ", username: " + username + ", groups: []}\n"},
	})
	await(t, func() bool {
		user, status := w.cluster.Review(t.Context(), t, mint(t, w.aws, canaryRole, "prod"))
		return status == http.StatusCreated && user.Username == username
	})
}

// configuration is the file without its section access. The cluster prod is configured five times: as it should be, with an observer that aws-auth cannot lock out,
// under a name that EKS does not know, with the authority of another cluster, and with an endpoint at which it was before it was made anew.
const configuration = `probe: {interval: 30s, timeout: 20s}
clusters:
  - {name: prod, region: eu-west-1, account_id: "111122223333", observer: observer}
  - {name: guarded, eks_name: prod, region: eu-west-1, observer: survivor}
  - {name: misnamed, eks_name: production, region: eu-west-1, observer: observer, endpoint: "URL", ca_file: ca.pem}
  - {name: distrusted, eks_name: prod, region: eu-west-1, observer: observer, ca_file: other-ca.pem}
  - {name: moved, eks_name: prod, region: eu-west-1, observer: observer, endpoint: "https://127.0.0.1:1", ca_file: ca.pem}
identities:
  - {name: observer, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/observer"}]}
  - {name: survivor, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/survivor"}]}
  - {name: deploy, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/ci-deploy"}]}
  - {name: dangling, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/dangling"}]}
  - {name: pathed, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/team/blue/pathed"}]}
  - {name: stranger, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/stranger"}]}
access:
  - `

// target writes the configuration with one target, a YAML mapping, and reads it as the exporter does.
func (w *world) target(t *testing.T, access string) chain.Target {
	t.Helper()
	path := filepath.Join(w.dir, "eks-slo.yaml")
	text := strings.ReplaceAll(w.configuration, "URL", w.cluster.URL) + access + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Access[0]
}

func newProber(t *testing.T) *app.Prober { return proberWith(t, app.ProberOptions{}) }

// proberWith makes a prober that ends with the test.
func proberWith(t *testing.T, options app.ProberOptions) *app.Prober {
	t.Helper()
	prober, err := app.NewProber(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(prober.Close)
	return prober
}

// probe runs one target once, in a prober that knows nothing yet.
func (w *world) probe(t *testing.T, access string) chain.Run {
	t.Helper()
	return runOnce(t, newProber(t), w.target(t, access))
}

func runOnce(t *testing.T, prober *app.Prober, target chain.Target) chain.Run {
	t.Helper()
	run, err := prober.Run(t.Context(), target, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return run
}
