// What grants and access policies allow, and in whose words.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// ask turns a rule expression into a request.
func ask(t *testing.T, expression string) attributes {
	t.Helper()
	r, err := chain.ParseRule(expression)
	must(t, err)
	return attributes{verb: r.Verb, group: r.Group, resource: r.Resource, subresource: r.Subresource, name: r.Name, namespace: r.Namespace}
}

// member is an authenticated caller of the groups, who signed in as the role team/ci.
func member(groups ...string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "ci", Groups: append(groups, groupAuthenticate), Extra: map[string]authenticationv1.ExtraValue{
		"canonicalArn": {"arn:aws:iam::111122223333:role/ci"}, "principalId": {"AROACI"},
	}}
}

func TestAuthorizeRBAC(t *testing.T) {
	grants := []Grant{
		{Subject: "deployers", Verbs: []string{"create"}, Groups: []string{"apps"}, Resources: []string{"deployments", "*/scale"}, Namespace: "shop"},
		{Subject: "readers", Verbs: []string{"*"}, Groups: []string{""}, Resources: []string{"pods", "pods/log"}},
		{Subject: "ci", Verbs: []string{"get"}, Groups: []string{"*"}, Resources: []string{"configmaps"}, Names: []string{"release"}},
		{Subject: "broken", Missing: "gone"},
		{Subject: "broken", Missing: "lost", Namespace: "shop"},
		{Subject: "everything", Verbs: []string{"*"}, Groups: []string{"*"}, Resources: []string{"*"}},
	}
	const inShop = `RBAC: allowed by RoleBinding "deployers/shop" of Role "deployers" to Group "deployers"`
	const reader = `RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "readers" to Group "readers"`
	tests := map[string]struct {
		groups []string
		want   decision
	}{
		"create apps/deployments in shop":        {[]string{"deployers"}, decision{true, inShop}},
		"create apps/deployments/scale in shop":  {[]string{"deployers"}, decision{true, inShop}},
		"create apps/deployments/status in shop": {[]string{"deployers"}, decision{}},
		"create apps/deployments in stage":       {[]string{"deployers"}, decision{}},
		"create apps/deployments":                {[]string{"deployers"}, decision{}},
		"create extensions/deployments in shop":  {[]string{"deployers"}, decision{}},
		"delete apps/deployments in shop":        {[]string{"deployers"}, decision{}},
		"list pods":                              {[]string{"readers"}, decision{true, reader}},
		"get pods/log web in shop":               {[]string{"readers"}, decision{true, reader}},
		"create pods/exec in shop":               {[]string{"readers"}, decision{}},
		"get configmaps release in shop":         {nil, decision{true, `RBAC: allowed by ClusterRoleBinding "ci" of ClusterRole "ci" to User "ci"`}},
		"get configmaps other in shop":           {nil, decision{}},
		"list configmaps":                        {nil, decision{}},
		"list namespaces":                        {[]string{"broken"}, decision{reason: `rbac: RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found`}},
		"list secrets in shop": {[]string{"broken"}, decision{
			reason: `rbac: RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]`}},
		"list nodes":           {[]string{"broken", "everything"}, decision{true, `RBAC: allowed by ClusterRoleBinding "everything" of ClusterRole "everything" to Group "everything"`}},
		"* nodes":              {[]string{"everything"}, decision{true, `RBAC: allowed by ClusterRoleBinding "everything" of ClusterRole "everything" to Group "everything"`}},
		"get secrets in shop":  {[]string{"system:masters"}, decision{allowed: true}},
		"get secrets in other": {[]string{"masters"}, decision{}},
		"create authentication.k8s.io/selfsubjectreviews": {nil, decision{true,
			`RBAC: allowed by ClusterRoleBinding "system:basic-user" of ClusterRole "system:basic-user" to Group "system:authenticated"`}},
		"create authorization.k8s.io/subjectaccessreviews": {nil, decision{}},
	}
	for expression, test := range tests {
		t.Run(expression, func(t *testing.T) {
			c := &Cluster{AuthMode: chain.AuthModeAPI, Grants: grants}
			wantDecision(t, c.authorize(member(test.groups...), ask(t, expression)), test.want)
		})
	}
	t.Run("an anonymous caller is nobody", func(t *testing.T) {
		anonymous := authenticationv1.UserInfo{Username: userAnonymous, Groups: []string{groupAnonymous}}
		wantDecision(t, (&Cluster{}).authorize(anonymous, ask(t, "create authentication.k8s.io/selfsubjectreviews")), decision{})
		wantDecision(t, (&Cluster{}).authorize(anonymous, attributes{verb: "get", path: "/readyz"}), decision{true,
			`RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:authenticated"`})
	})
}

func wantDecision(t *testing.T, got, want decision) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(decision{})); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestAuthorizePolicies(t *testing.T) {
	const cluster = ""
	tests := map[string]struct {
		policy, namespace string // the scope; "" is the cluster
		allowed, refused  []string
	}{
		"view": {"AmazonEKSViewPolicy", cluster,
			[]string{"list pods", "get pods/log web in shop", "watch apps/deployments in shop", "list namespaces", "list batch/jobs"},
			[]string{"get secrets in shop", "list nodes", "create pods in shop", "create pods/exec web in shop", "list rbac.authorization.k8s.io/roles in shop", "* pods"}},
		"edit": {"AmazonEKSEditPolicy", cluster,
			[]string{"create apps/deployments in shop", "get secrets in shop", "create pods/exec web in shop", "list pods", "delete batch/jobs in shop"},
			[]string{"create rbac.authorization.k8s.io/rolebindings in shop", "list nodes", "create namespaces", "update resourcequotas in shop"}},
		"admin": {"AmazonEKSAdminPolicy", cluster,
			[]string{"create rbac.authorization.k8s.io/rolebindings in shop", "create apps/deployments in shop", "delete secrets in shop"},
			[]string{"create rbac.authorization.k8s.io/clusterroles", "list nodes", "create namespaces"}},
		"admin view": {"AmazonEKSAdminViewPolicy", cluster,
			[]string{"get secrets in shop", "list nodes", "list rbac.authorization.k8s.io/clusterroles"},
			[]string{"create pods in shop", "delete nodes n1", "impersonate serviceaccounts in shop"}},
		"cluster admin": {"AmazonEKSClusterAdminPolicy", cluster,
			[]string{"* *", "delete nodes n1", "escalate rbac.authorization.k8s.io/clusterroles"}, nil},
		"one namespace": {"AmazonEKSViewPolicy", "shop",
			[]string{"list pods in shop"}, []string{"list pods", "list pods in shop-2", "list pods in stage"}},
		"namespaces by prefix": {"AmazonEKSViewPolicy", "dev-*",
			[]string{"list pods in dev-1"}, []string{"list pods in dev", "list pods in prod", "list pods"}},
		"every namespace is not the cluster": {"AmazonEKSClusterAdminPolicy", "*",
			[]string{"get secrets in kube-system"}, []string{"list nodes", "list pods"}},
		"a policy of a service": {"AmazonEKSAutoNodePolicy", cluster, nil, []string{"get nodes n1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, entry := clusterWithPolicy(test.policy, test.namespace)
			for _, expression := range test.allowed {
				want := ask(t, expression)
				wantDecision(t, c.authorize(member(), want), entry.Policies[0].allows(entry, want.namespace))
			}
			for _, expression := range test.refused {
				if d := c.authorize(member(), ask(t, expression)); d.allowed {
					t.Errorf("%s is allowed: %s", expression, d.reason)
				}
			}
		})
	}
}

// clusterWithPolicy is a cluster whose one entry has one policy.
func clusterWithPolicy(policy, namespace string) (*Cluster, *Entry) {
	entry := entryFor("ci", "STANDARD", "AROACI")
	entry.Policies = []AssociatedPolicy{{ARN: policyPrefix + policy}}
	if namespace != "" {
		entry.Policies[0].Namespaces = []string{"other", namespace}
	}
	return &Cluster{AuthMode: chain.AuthModeAPIAndConfigMap, Entries: map[string]*Entry{entry.PrincipalARN: entry}}, entry
}

func TestPoliciesBelongToTheEntrysPrincipal(t *testing.T) {
	tests := map[string]struct {
		change func(c *Cluster, e *Entry)
		user   authenticationv1.UserInfo
		want   decision
	}{
		"its own": {func(*Cluster, *Entry) {}, member(), decision{true,
			`EKS Access Policy: allowed by ClusterRoleBinding "arn:aws:iam::111122223333:role/team/ci+arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy" of ClusterRole "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy" to User "AROACI"`}},
		"in a namespace": {func(_ *Cluster, e *Entry) { e.Policies[0].Namespaces = []string{"sh*"} }, member(), decision{true,
			`EKS Access Policy: allowed by RoleBinding "arn:aws:iam::111122223333:role/team/ci+arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy/shop" of ClusterRole "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy" to User "AROACI"`}},
		"a recreated role's":  {func(_ *Cluster, e *Entry) { e.RoleID = "AROAOLD" }, member(), decision{}},
		"under CONFIG_MAP":    {func(c *Cluster, _ *Entry) { c.AuthMode = chain.AuthModeConfigMap }, member(), decision{}},
		"of somebody unknown": {func(*Cluster, *Entry) {}, authenticationv1.UserInfo{Username: "ci", Groups: []string{groupAuthenticate}}, decision{}},
		"the reason of RBAC":  {func(c *Cluster, e *Entry) { c.Grants, e.Policies = []Grant{{Subject: "ci", Missing: "gone"}}, nil }, member(), decision{reason: `rbac: RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found`}},
		"a grant comes before": {func(c *Cluster, _ *Entry) {
			c.Grants = []Grant{{Subject: "ci", Verbs: anything, Groups: anything, Resources: anything}}
		}, member(), decision{true, `RBAC: allowed by ClusterRoleBinding "ci" of ClusterRole "ci" to User "ci"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, entry := clusterWithPolicy("AmazonEKSViewPolicy", "")
			test.change(c, entry)
			wantDecision(t, c.authorize(test.user, ask(t, "list pods in shop")), test.want)
		})
	}
}

func TestAuthorizePaths(t *testing.T) {
	metrics := attributes{verb: "get", path: "/metrics"}
	c, _ := clusterWithPolicy("AmazonEKSClusterAdminPolicy", "")
	if !c.authorize(member(), metrics).allowed {
		t.Error("cluster admin may not read /metrics")
	}
	for name, policy := range map[string][2]string{"scoped admin": {"AmazonEKSClusterAdminPolicy", "shop"}, "viewer": {"AmazonEKSAdminViewPolicy", ""}} {
		if c, _ := clusterWithPolicy(policy[0], policy[1]); c.authorize(member(), metrics).allowed {
			t.Errorf("the %s may read /metrics", name)
		}
	}
	if c.authorize(member(), attributes{verb: "post", path: "/readyz"}).allowed != true {
		t.Error("cluster admin may not post to /readyz")
	}
	if (&Cluster{}).authorize(member(), attributes{verb: "post", path: "/readyz"}).allowed {
		t.Error("anybody may post to /readyz")
	}
}
