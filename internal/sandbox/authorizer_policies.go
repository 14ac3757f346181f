// The EKS access policies that the sandbox knows, as Kubernetes rules, and their scopes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

var (
	anything   = []string{"*"}
	readVerbs  = []string{"get", "list", "watch"}
	writeVerbs = []string{"create", "delete", "deletecollection", "patch", "update"}
)

// The rules follow Kubernetes' user-facing roles, as the policies do (EKS user guide, "Review access policy permissions"; kubernetes bootstrappolicy).
var (
	viewRules = []rule{
		{verbs: readVerbs, groups: []string{""}, resources: []string{
			"bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/status", "persistentvolumeclaims", "persistentvolumeclaims/status",
			"pods", "pods/log", "pods/status", "replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status",
			"resourcequotas", "resourcequotas/status", "serviceaccounts", "services", "services/status",
		}},
		{verbs: readVerbs, groups: []string{"apps"}, resources: []string{
			"controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale", "deployments/status",
			"replicasets", "replicasets/scale", "replicasets/status", "statefulsets", "statefulsets/scale", "statefulsets/status",
		}},
		{verbs: readVerbs, groups: []string{"autoscaling"}, resources: []string{"horizontalpodautoscalers", "horizontalpodautoscalers/status"}},
		{verbs: readVerbs, groups: []string{"batch"}, resources: []string{"cronjobs", "cronjobs/status", "jobs", "jobs/status"}},
		{verbs: readVerbs, groups: []string{"discovery.k8s.io"}, resources: []string{"endpointslices"}},
		{verbs: readVerbs, groups: []string{"networking.k8s.io"}, resources: []string{"ingresses", "ingresses/status", "networkpolicies"}},
		{verbs: readVerbs, groups: []string{"policy"}, resources: []string{"poddisruptionbudgets", "poddisruptionbudgets/status"}},
	}
	editRules = slices.Concat(viewRules, []rule{
		{verbs: readVerbs, groups: []string{""}, resources: []string{"pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"}},
		{verbs: []string{"impersonate"}, groups: []string{""}, resources: []string{"serviceaccounts"}},
		{verbs: []string{"create"}, groups: []string{""}, resources: []string{"pods/eviction", "serviceaccounts/token"}},
		{verbs: writeVerbs, groups: []string{""}, resources: []string{
			"configmaps", "events", "persistentvolumeclaims", "pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy",
			"replicationcontrollers", "replicationcontrollers/scale", "secrets", "serviceaccounts", "services", "services/proxy",
		}},
		{verbs: writeVerbs, groups: []string{"apps"}, resources: []string{
			"daemonsets", "deployments", "deployments/rollback", "deployments/scale", "replicasets", "replicasets/scale", "statefulsets", "statefulsets/scale",
		}},
		{verbs: writeVerbs, groups: []string{"autoscaling"}, resources: []string{"horizontalpodautoscalers"}},
		{verbs: writeVerbs, groups: []string{"batch"}, resources: []string{"cronjobs", "jobs"}},
		{verbs: writeVerbs, groups: []string{"networking.k8s.io"}, resources: []string{"ingresses", "networkpolicies"}},
		{verbs: writeVerbs, groups: []string{"policy"}, resources: []string{"poddisruptionbudgets"}},
	})
	adminRules = slices.Concat(editRules, []rule{
		{verbs: []string{"create"}, groups: []string{"authorization.k8s.io"}, resources: []string{"localsubjectaccessreviews"}},
		{verbs: slices.Concat(readVerbs, writeVerbs), groups: []string{"rbac.authorization.k8s.io"}, resources: []string{"rolebindings", "roles"}},
	})
)

// policyRules are the access policies by name. Any other policy grants nothing here.
var policyRules = map[string][]rule{
	"AmazonEKSClusterAdminPolicy": {{verbs: anything, groups: anything, resources: anything}},
	"AmazonEKSAdminPolicy":        adminRules,
	"AmazonEKSEditPolicy":         editRules,
	"AmazonEKSViewPolicy":         viewRules,
	"AmazonEKSAdminViewPolicy":    {{verbs: readVerbs, groups: anything, resources: anything}},
}

// authorizePolicies asks the access policies of the user's entry. The caller holds the state's lock.
func (c *Cluster) authorizePolicies(user authenticationv1.UserInfo, want attributes) decision {
	entry := c.entryOfUser(user)
	if entry == nil {
		return decision{}
	}
	for _, policy := range entry.Policies {
		if policy.covers(want.namespace) && slices.ContainsFunc(policyRules[policyName(policy.ARN)], func(r rule) bool { return r.allows(want) }) {
			return policy.allows(entry, want.namespace)
		}
	}
	return decision{}
}

// policyName is the last part of arn:aws:eks::aws:cluster-access-policy/NAME.
func policyName(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// covers tells whether a namespace is in the policy's scope. A trailing * matches any rest; a question about all namespaces is only in the cluster's scope.
func (p AssociatedPolicy) covers(namespace string) bool {
	return len(p.Namespaces) == 0 || namespace != "" && slices.ContainsFunc(p.Namespaces, func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return pattern == namespace || wild && strings.HasPrefix(namespace, prefix)
	})
}

// allows is the decision in the words of EKS' authorizer, as clusters' audit logs show them.
func (p AssociatedPolicy) allows(entry *Entry, namespace string) decision {
	binding, kind := entry.PrincipalARN+"+"+p.ARN, "ClusterRoleBinding"
	if len(p.Namespaces) > 0 {
		binding, kind = binding+"/"+namespace, "RoleBinding"
	}
	return decision{true, fmt.Sprintf("EKS Access Policy: allowed by %s %q of ClusterRole %q to User %q", kind, binding, p.ARN, entry.RoleID)}
}
