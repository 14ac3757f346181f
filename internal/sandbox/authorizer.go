// What a user may do in a cluster: RBAC grants, then the access policies of the user's entry; neither can say no, only not say yes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// attributes say what a request wants: a verb on a resource, or on a path when resource is empty.
type attributes struct {
	verb, group, version  string
	resource, subresource string
	name, namespace       string
	path                  string
}

// decision is the authorizers' common answer. reason is the words of the one that allowed, or what kept the others from it.
type decision struct {
	allowed bool
	reason  string
}

// rule is what a role allows; "*" in a list matches anything.
type rule struct {
	verbs, groups, resources, names []string
}

// basicUserRules are open to everyone who is somebody (ClusterRole system:basic-user).
var basicUserRules = []rule{
	{verbs: []string{"create"}, groups: []string{"authorization.k8s.io"}, resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
	{verbs: []string{"create"}, groups: []string{"authentication.k8s.io"}, resources: []string{"selfsubjectreviews"}},
}

// authorize asks RBAC, then the access policies. The caller holds the state's lock.
func (c *Cluster) authorize(user authenticationv1.UserInfo, want attributes) decision {
	if slices.Contains(user.Groups, "system:masters") {
		return decision{allowed: true}
	}
	if want.resource == "" {
		return c.authorizePath(user, want)
	}
	byRBAC := c.authorizeRBAC(user, want)
	if byRBAC.allowed {
		return byRBAC
	}
	if byPolicy := c.authorizePolicies(user, want); byPolicy.allowed {
		return byPolicy
	}
	if byRBAC.reason != "" {
		byRBAC.reason = "rbac: " + byRBAC.reason // which of the authorizers said so (k8s.io/apiserver v0.37 pkg/authorization/union)
	}
	return byRBAC
}

// authorizePath opens the public paths to all, and everything to a cluster-wide AmazonEKSClusterAdminPolicy.
func (c *Cluster) authorizePath(user authenticationv1.UserInfo, want attributes) decision {
	if _, public := publicPaths[want.path]; public && want.verb == "get" {
		return decision{true, `RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:authenticated"`}
	}
	if entry := c.entryOfUser(user); entry != nil {
		for _, policy := range entry.Policies {
			if policyName(policy.ARN) == "AmazonEKSClusterAdminPolicy" && len(policy.Namespaces) == 0 {
				return policy.allows(entry, "")
			}
		}
	}
	return decision{}
}

// authorizeRBAC walks the grants as bindings: cluster-wide ones count everywhere, others in their namespace. A binding to a missing role grants nothing and is named
// in the reason, which is where kube-apiserver puts it (plugin/pkg/auth/authorizer/rbac); its evaluationError stays empty.
func (c *Cluster) authorizeRBAC(user authenticationv1.UserInfo, want attributes) decision {
	if slices.Contains(user.Groups, groupAuthenticate) && slices.ContainsFunc(basicUserRules, func(r rule) bool { return r.allows(want) }) {
		return decision{true, `RBAC: allowed by ClusterRoleBinding "system:basic-user" of ClusterRole "system:basic-user" to Group "system:authenticated"`}
	}
	var missing []string
	for _, grant := range c.Grants {
		kind, applies := grant.appliesTo(user)
		switch {
		case !applies || grant.Namespace != "" && grant.Namespace != want.namespace:
		case grant.Missing != "":
			missing = append(missing, grant.notFound())
		case rule{grant.Verbs, grant.Groups, grant.Resources, grant.Names}.allows(want):
			return decision{true, grant.describe(kind)}
		}
	}
	switch len(missing) {
	case 0:
		return decision{}
	case 1:
		return decision{reason: "RBAC: " + missing[0]}
	}
	return decision{reason: "RBAC: [" + strings.Join(missing, ", ") + "]"}
}

// appliesTo tells whether a grant's subject is the user or one of the groups.
func (g Grant) appliesTo(user authenticationv1.UserInfo) (kind string, applies bool) {
	if slices.Contains(user.Groups, g.Subject) {
		return "Group", true
	}
	return "User", g.Subject == user.Username
}

func (g Grant) notFound() string {
	if g.Namespace != "" {
		return fmt.Sprintf("role.rbac.authorization.k8s.io %q not found", g.Missing)
	}
	return fmt.Sprintf("clusterrole.rbac.authorization.k8s.io %q not found", g.Missing)
}

// describe names the binding as RBAC does; the sandbox's bindings and roles bear their subject's name.
func (g Grant) describe(kind string) string {
	if g.Namespace != "" {
		return fmt.Sprintf("RBAC: allowed by RoleBinding %q of Role %q to %s %q", g.Subject+"/"+g.Namespace, g.Subject, kind, g.Subject)
	}
	return fmt.Sprintf("RBAC: allowed by ClusterRoleBinding %q of ClusterRole %q to %s %q", g.Subject, g.Subject, kind, g.Subject)
}

// allows matches as RBAC does: a subresource must be named with its resource, as "pods/log", "*/scale" or "*".
func (r rule) allows(want attributes) bool {
	resource := want.resource
	if want.subresource != "" {
		resource += "/" + want.subresource
	}
	listed := matches(r.resources, resource) || want.subresource != "" && slices.Contains(r.resources, "*/"+want.subresource)
	return listed && matches(r.verbs, want.verb) && matches(r.groups, want.group) && (len(r.names) == 0 || matches(r.names, want.name))
}

func matches(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

// entryOfUser is the access entry behind an authenticated user, by what the authenticator left in its extra fields; nil when the mode knows no entries or there is none.
func (c *Cluster) entryOfUser(user authenticationv1.UserInfo) *Entry {
	canonical, principal := user.Extra["canonicalArn"], user.Extra["principalId"]
	if c.AuthMode == chain.AuthModeConfigMap || len(canonical) != 1 || len(principal) != 1 {
		return nil
	}
	return c.entryOf(canonical[0], principal[0])
}
