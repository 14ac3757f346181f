// Kubernetes RBAC: what the observer of each cluster must be allowed there, through one group.
//
// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"cmp"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Group is the Kubernetes group of observers: the access entry of each must have it.
const Group = "eks-slo-observers"

// roleName is the name of every Role, ClusterRole and binding.
const roleName = "eks-slo-observer"

// Cluster is what the observer of one cluster needs there.
type Cluster struct {
	Cluster  chain.Cluster
	Observer chain.Identity
	Objects  []any // of rbacv1, ready to be applied, each role before its binding
}

// RBAC returns what is needed on each cluster, sorted by its name. A cluster on which nothing is read is left out.
func RBAC(probes Probes) []Cluster {
	needs := map[string]*need{}
	of := func(target chain.Target) *need {
		n := needs[target.Cluster.Name]
		if n == nil {
			n = &need{cluster: target.Cluster, observer: target.Observer, bindings: map[string]set{}}
			needs[target.Cluster.Name] = n
		}
		return n
	}
	for _, target := range probes.access() {
		if target.Observer.Name != "" {
			of(target).awsAuth = true
		}
	}
	for _, target := range probes.groups() {
		switch ref := target.Group.Binding; {
		case target.Cluster.Name == "":
		case ref.IsZero():
			of(target).everyBinding = true
		default:
			of(target).bind(ref)
		}
	}
	clusters := make([]Cluster, 0, len(needs))
	for _, n := range needs {
		clusters = append(clusters, Cluster{n.cluster, n.observer, n.objects()})
	}
	slices.SortFunc(clusters, func(a, b Cluster) int { return cmp.Compare(a.Cluster.Name, b.Cluster.Name) })
	return clusters
}

// need is what is read on one cluster.
type need struct {
	cluster      chain.Cluster
	observer     chain.Identity
	awsAuth      bool           // whom the cluster maps a principal to
	bindings     map[string]set // named TargetGroupBindings, by namespace
	everyBinding bool           // also those that nobody named
}

func (n *need) bind(ref chain.BindingRef) {
	if n.bindings[ref.Namespace] == nil {
		n.bindings[ref.Namespace] = set{}
	}
	n.bindings[ref.Namespace].add(ref.Name)
}

// objects are the roles and their bindings: one for the whole cluster, where anything needs it, then one for each namespace.
func (n *need) objects() []any {
	var all []any
	var wide []rbacv1.PolicyRule
	inside := map[string][]rbacv1.PolicyRule{}
	if n.awsAuth {
		inside[metav1.NamespaceSystem] = []rbacv1.PolicyRule{may("get", "", "configmaps", "aws-auth")}
	}
	if n.everyBinding || len(n.bindings) > 0 {
		wide = []rbacv1.PolicyRule{may("list", "elbv2.k8s.aws", "targetgroupbindings"), may("list", "", "nodes")} // two bindings of one target group may be anywhere
	}
	if n.everyBinding {
		wide = append(wide, behindBinding()...)
	} else {
		for namespace, names := range n.bindings {
			inside[namespace] = append(inside[namespace], behindBinding(names.sorted()...)...)
		}
	}
	if wide != nil {
		all = append(all, clusterRole(wide)...)
	}
	for _, namespace := range slices.Sorted(maps.Keys(inside)) {
		all = append(all, role(namespace, inside[namespace])...)
	}
	return all
}

// behindBinding is the binding itself, by its name where that is known, and what is behind it. Events are those of the core group, where the controller's recorder writes them.
func behindBinding(names ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		may("get", "elbv2.k8s.aws", "targetgroupbindings", names...),
		may("get", "", "services"),
		may("list", "discovery.k8s.io", "endpointslices"),
		may("list", "", "pods"),
		may("list", "", "events"),
	}
}

func may(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

func subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: Group}}
}

func clusterRole(rules []rbacv1.PolicyRule) []any {
	meta := metav1.ObjectMeta{Name: roleName}
	return []any{
		&rbacv1.ClusterRole{TypeMeta: kind("ClusterRole"), ObjectMeta: meta, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: kind("ClusterRoleBinding"), ObjectMeta: meta, Subjects: subjects(),
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: roleName},
		},
	}
}

func role(namespace string, rules []rbacv1.PolicyRule) []any {
	meta := metav1.ObjectMeta{Name: roleName, Namespace: namespace}
	return []any{
		&rbacv1.Role{TypeMeta: kind("Role"), ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			TypeMeta: kind("RoleBinding"), ObjectMeta: meta, Subjects: subjects(), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: roleName},
		},
	}
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: name}
}
