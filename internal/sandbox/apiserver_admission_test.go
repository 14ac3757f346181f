// What stands before a dry-run create: its namespace, admission, and RBAC's check of what a binding hands out. The texts are those of kube-apiserver 1.37.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings"
	roles    = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles"
)

// newAdmissionCluster lets the deployers write anything in shop by the policy admin of their entry, and read pods there by RBAC.
func newAdmissionCluster(t *testing.T) *kubeCluster {
	t.Helper()
	k := newKubeCluster(t)
	k.change(func(c *Cluster) {
		c.Entries[deployARN].Policies = []AssociatedPolicy{{ARN: policyPrefix + "AmazonEKSAdminPolicy"}}
		c.Grants = append(c.Grants, Grant{Subject: "pod-readers", Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"pods"}, Namespace: "shop"},
			Grant{Subject: "deployers", Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"pods", "pods/log"}, Namespace: "shop"})
	})
	return k
}

func binding(kind, role string) string {
	return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"` + kind + `","name":"` + role + `"}}`
}

func roleOf(rules string) string {
	return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r"},"rules":[` + rules + `]}`
}

func TestAdmission(t *testing.T) {
	const (
		configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}`
		escalates = `rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "ci:probe" (groups=["deployers" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n"
		inShop    = "/api/v1/namespaces/shop/configmaps"
	)
	mayBind := func(c *Cluster) {
		c.Grants = append(c.Grants, Grant{Subject: "deployers", Verbs: []string{"bind"}, Groups: []string{rbacGroup}, Resources: []string{"clusterroles"}, Names: []string{"edit"}, Namespace: "shop"})
	}
	tests := map[string]struct {
		change     func(c *Cluster)
		path, body string
		status     int
		message    string // its beginning
		reason     metav1.StatusReason
	}{
		"a ConfigMap": {path: inShop, body: configMap, status: 201},
		"no such namespace": {path: "/api/v1/namespaces/shoq/configmaps", body: configMap,
			status: 404, message: `namespaces "shoq" not found`, reason: metav1.StatusReasonNotFound},
		"a namespace of every cluster": {path: "/api/v1/namespaces/kube-system/configmaps", body: configMap, status: 201},
		"a policy denies": {change: func(c *Cluster) { c.Fault.Admission = AdmissionPolicyDenies }, path: inShop, body: configMap,
			status: 422, message: `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'owned' with binding 'owned' denied request: every object names its owner`, reason: metav1.StatusReasonInvalid},
		"a webhook denies": {change: func(c *Cluster) { c.Fault.Admission = AdmissionWebhookDenies }, path: inShop, body: configMap,
			status: 403, message: `admission webhook "validate.policy.example.com" denied the request: `, reason: metav1.StatusReasonForbidden},
		"C59 a webhook is not reached": {change: func(c *Cluster) { c.Fault.Admission = AdmissionWebhookDown }, path: inShop, body: configMap,
			status: 500, message: `Internal error occurred: failed calling webhook "mpod.elbv2.k8s.aws": failed to call webhook: Post "https://`, reason: metav1.StatusReasonInternalError},
		"validation comes before a policy": {change: func(c *Cluster) { c.Fault.Admission = AdmissionPolicyDenies }, path: inShop, body: `{"apiVersion":"v1","kind":"ConfigMap"}`,
			status: 422, message: `ConfigMap "" is invalid: `, reason: metav1.StatusReasonInvalid},
		"a role that is held": {path: bindings, body: binding("Role", "pod-readers"), status: 201},
		"a role of another place": {path: bindings, body: binding("Role", "view"),
			status: 404, message: `roles.rbac.authorization.k8s.io "view" not found`, reason: metav1.StatusReasonNotFound},
		"a role that does not exist": {path: bindings, body: binding("ClusterRole", "gone"),
			status: 404, message: `clusterroles.rbac.authorization.k8s.io "gone" not found`, reason: metav1.StatusReasonNotFound},
		"C46 a role that a policy gives, not RBAC": {path: bindings, body: binding("ClusterRole", "cluster-admin"),
			status: 403, message: escalates + `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`, reason: metav1.StatusReasonForbidden},
		"a role that may be bound": {change: mayBind, path: bindings, body: binding("ClusterRole", "edit"), status: 201},
		"another than may be":      {change: mayBind, path: bindings, body: binding("ClusterRole", "view"), status: 403, message: escalates, reason: metav1.StatusReasonForbidden},
		"a master": {change: func(c *Cluster) { c.Entries[deployARN].Groups = []string{"system:masters"} },
			path: bindings, body: binding("ClusterRole", "cluster-admin"), status: 201},
		"rules that are held": {path: roles, body: roleOf(`{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"],"resourceNames":["web"]}`), status: 201},
		"rules that are not": {path: roles, body: roleOf(`{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}`),
			status: 403, message: `roles.rbac.authorization.k8s.io "r" is forbidden: user "ci:probe" (groups=["deployers" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n" + `{APIGroups:[""], Resources:["pods"], Verbs:["list"]}`, reason: metav1.StatusReasonForbidden},
		"rules, by who may escalate": {change: func(c *Cluster) {
			c.Grants = append(c.Grants, Grant{Subject: "deployers", Verbs: []string{"escalate"}, Groups: []string{rbacGroup}, Resources: []string{"roles"}, Namespace: "shop"})
		}, path: roles, body: roleOf(`{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}`), status: 201},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newAdmissionCluster(t)
			if test.change != nil {
				k.change(test.change)
			}
			got := k.do(t, "POST "+test.path+"?dryRun=All", k.deployToken(t), test.body, "Content-Type", "application/json")
			var status metav1.Status
			must(t, json.Unmarshal([]byte(got.body), &status))
			if got.status != test.status || test.status != http.StatusCreated && (!strings.HasPrefix(status.Message, test.message) || status.Reason != test.reason) {
				t.Errorf("got %d %s %s", got.status, status.Reason, status.Message)
			}
		})
	}
}
