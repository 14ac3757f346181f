// What the access policies allow that people are given, as far as AWS publishes it.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// permission allows verbs on resources of an API group. Lists are words; * stands for all.
type permission struct{ group, resources, verbs string }

// policyContent is what one access policy allows.
type policyContent []permission

const (
	reads  = "get list watch"
	writes = "create delete deletecollection patch update"
)

// The tables of the EKS user guide, "Review access policy permissions", without the API group extensions, which no cluster serves any more.
var (
	viewContent = policyContent{
		{"", "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status", reads},
		{"", "bindings events limitranges namespaces namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status", reads},
		{"apps", "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status", reads},
		{"apps", "statefulsets statefulsets/scale statefulsets/status", reads},
		{"autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", reads},
		{"batch", "cronjobs cronjobs/status jobs jobs/status", reads},
		{"discovery.k8s.io", "endpointslices", reads},
		{"networking.k8s.io", "ingresses ingresses/status networkpolicies", reads},
		{"policy", "poddisruptionbudgets poddisruptionbudgets/status", reads},
	}
	editContent = slices.Concat(viewContent, policyContent{
		{"", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", reads},
		{"", "pods pods/attach pods/exec pods/portforward pods/proxy", writes},
		{"", "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy", writes},
		{"", "serviceaccounts", "impersonate"},
		{"apps", "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale", writes},
		{"autoscaling", "horizontalpodautoscalers", writes},
		{"batch", "cronjobs jobs", writes},
		{"networking.k8s.io", "ingresses networkpolicies", writes},
		{"policy", "poddisruptionbudgets", writes},
	})
	adminContent = slices.Concat(editContent, policyContent{
		{"authorization.k8s.io", "localsubjectaccessreviews", "create"},
		{"rbac.authorization.k8s.io", "rolebindings roles", reads + " " + writes},
	})
)

// accessPolicies are by name. The policies of AWS' own services are not among them: their permissions are published in part only.
var accessPolicies = map[string]policyContent{
	"AmazonEKSViewPolicy":         viewContent,
	"AmazonEKSEditPolicy":         editContent,
	"AmazonEKSAdminPolicy":        adminContent,
	"AmazonEKSAdminViewPolicy":    {{"*", "*", reads}},
	"AmazonEKSClusterAdminPolicy": {{"*", "*", "*"}},
}

// allows reports whether the policy, where it applies, allows the whole of a rule.
func (c policyContent) allows(rule chain.Rule) bool {
	return slices.ContainsFunc(c, func(p permission) bool { return p.covers(rule) && has(p.verbs, rule.Verb) })
}

// mentions reports whether the policy allows anything on the rule's resource. Of a rule about every resource or group that cannot be said, so it counts as mentioned.
func (c policyContent) mentions(rule chain.Rule) bool {
	return rule.Resource == "*" || rule.Group == "*" || rule.Subresource == "*" || slices.ContainsFunc(c, func(p permission) bool { return p.covers(rule) })
}

func (p permission) covers(rule chain.Rule) bool {
	resource := rule.Resource
	if rule.Subresource != "" {
		resource += "/" + rule.Subresource
	}
	return has(p.group, rule.Group) && has(p.resources, resource)
}

// has reports whether a list of words has a word, or all.
func has(words, word string) bool {
	return words == word || words == "*" || slices.Contains(strings.Fields(words), word)
}
