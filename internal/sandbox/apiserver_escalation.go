// RBAC's own check of what a binding or a role hands out: nobody gives away what RBAC does not give them (kubernetes pkg/registry/rbac).
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkEscalation lets pass whoever is of system:masters, may bind the role (or escalate roles), or holds by RBAC all that is handed out. What an access policy of EKS allows is not held by RBAC.
func (c *Cluster) checkEscalation(object *unstructured.Unstructured, user authenticationv1.UserInfo, want attributes) error {
	if want.group != rbacGroup || slices.Contains(user.Groups, "system:masters") {
		return nil
	}
	rules, permitted, err := c.handedOut(object, user, want)
	if err != nil || permitted {
		return err
	}
	var missing []string
	for _, r := range rules {
		for _, one := range r.single() {
			if !c.holds(user, want.namespace, one) {
				missing = append(missing, fmt.Sprintf("{APIGroups:%q, Resources:%q, Verbs:%q}", one.groups, one.resources, one.verbs))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return apierrors.NewForbidden(schema.GroupResource{Group: rbacGroup, Resource: want.resource}, object.GetName(),
		fmt.Errorf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", user.Username, user.Groups, strings.Join(slices.Compact(missing), "\n")))
}

// handedOut are the rules that the object gives away; permitted says that the user may give away anything.
func (c *Cluster) handedOut(object *unstructured.Unstructured, user authenticationv1.UserInfo, want attributes) (rules []rule, permitted bool, err error) {
	if want.resource == "roles" || want.resource == "clusterroles" {
		ask := want
		ask.verb = "escalate"
		return rulesOf(object), c.authorize(user, ask).allowed, nil
	}
	kind, _, _ := unstructured.NestedString(object.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
	if c.authorize(user, attributes{verb: "bind", group: rbacGroup, resource: strings.ToLower(kind) + "s", name: name, namespace: want.namespace}).allowed {
		return nil, true, nil
	}
	rules, found := c.roleRules(kind, name, want.namespace)
	if !found {
		return nil, false, roleNotFound(kind, name)
	}
	return rules, false, nil
}

// clusterRoles are the user-facing ones, which every cluster has.
var clusterRoles = map[string][]rule{
	"view": viewRules, "edit": editRules, "admin": adminRules, "cluster-admin": {{verbs: anything, groups: anything, resources: anything}},
}

// roleRules finds a role: one of Kubernetes' own, or that of a grant, which bears its subject's name.
func (c *Cluster) roleRules(kind, name, namespace string) (rules []rule, found bool) {
	if kind == "ClusterRole" {
		if rules, found = clusterRoles[name]; found {
			return rules, true
		}
		namespace = ""
	}
	for _, grant := range c.Grants {
		if grant.Subject == name && grant.Namespace == namespace && grant.Missing == "" {
			rules, found = append(rules, rule{grant.Verbs, grant.Groups, grant.Resources, grant.Names}), true
		}
	}
	return rules, found
}

// rulesOf reads the rules that a role object holds.
func rulesOf(object *unstructured.Unstructured) (rules []rule) {
	var role rbacv1.ClusterRole // a Role has the same rules
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
		return nil
	}
	for _, r := range role.Rules {
		rules = append(rules, rule{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames})
	}
	return rules
}

// single breaks a rule into rules of one verb, group and resource.
func (r rule) single() (all []rule) {
	for _, group := range r.groups {
		for _, resource := range r.resources {
			for _, verb := range r.verbs {
				all = append(all, rule{[]string{verb}, []string{group}, []string{resource}, r.names})
			}
		}
	}
	return all
}

// holds tells whether RBAC gives the user a single rule.
func (c *Cluster) holds(user authenticationv1.UserInfo, namespace string, one rule) bool {
	resource, subresource, _ := strings.Cut(one.resources[0], "/")
	want := attributes{verb: one.verbs[0], group: one.groups[0], resource: resource, subresource: subresource, namespace: namespace}
	if len(one.names) == 0 {
		return c.authorizeRBAC(user, want).allowed
	}
	for _, name := range one.names {
		if want.name = name; !c.authorizeRBAC(user, want).allowed {
			return false
		}
	}
	return true
}
