// Faults of the step rbac: the cluster knows the caller, and lets it do less, or more, than declared.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var rbacFaults = []Fault{
	failing(chain.StepRBAC, chain.ReasonDenied, Fault{Name: "denied", Target: viewerTarget, Meaning: "the role binding is missing", apply: cluster("staging", func(c *Cluster) { c.Grants = c.Grants[1:] })}),
	failing(chain.StepRBAC, chain.ReasonRBACRoleNotFound, Fault{Name: "role-not-found", Target: deployTarget, Meaning: "the binding names a role that does not exist", apply: cluster("prod", func(c *Cluster) {
		c.Grants[0].Missing = "deploier"
	})}),
	failing(chain.StepRBAC, chain.ReasonExcessPermission, Fault{Name: "excess-permission", Target: deployTarget, Meaning: "somebody gave the deployers every secret", apply: cluster("prod", func(c *Cluster) {
		c.Grants = append(c.Grants, Grant{Subject: "deployers", Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"secrets"}})
	})}),
	failing(chain.StepRBAC, chain.ReasonAccessEntryWithoutPolicy, Fault{Name: "entry-without-policy", Target: runnerTarget, Meaning: "the entry was made with a misspelt policy block: it has neither policy nor group", apply: cluster("prod", func(c *Cluster) {
		c.givePolicies()
	})}),
	failing(chain.StepRBAC, chain.ReasonAccessPolicyScope, Fault{Name: "policy-scope", Target: runnerTarget, Meaning: "the access policy is scoped to other namespaces", apply: cluster("prod", func(c *Cluster) {
		c.givePolicies(AssociatedPolicy{ARN: policyARN("AmazonEKSViewPolicy"), Namespaces: []string{"dev-*", "shoq"}})
	})}),
	failing(chain.StepRBAC, chain.ReasonAccessPolicyExcludesResource, Fault{Name: "policy-excludes-resource", Target: runnerTarget, Meaning: "the access policy has no nodes", apply: func(s *Scene) error {
		s.Config = strings.Replace(s.Config, `rbac: {allow: ["list apps/deployments in shop"]}`, `rbac: {allow: ["list nodes"]}`, 1)
		return cluster("prod", func(c *Cluster) { c.givePolicies(AssociatedPolicy{ARN: policyARN("AmazonEKSEditPolicy")}) })(s)
	}}),
	failing(chain.StepRBAC, chain.ReasonRBACEscalationDenied, Fault{Name: "rbac-escalation", Target: deployTarget, Meaning: "the access policy allows role bindings, and RBAC holds what they would give away against its own rules", apply: func(s *Scene) error {
		const binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: shop-editors, namespace: shop}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: shop}]\n"
		path := filepath.Join(s.Dir, "binding.yaml")
		if err := os.WriteFile(path, []byte(binding), 0o600); err != nil {
			return err
		}
		s.dryRun(`{manifest_file: "` + filepath.ToSlash(path) + `"}`)
		return cluster("prod", func(c *Cluster) {
			c.Entries[sceneRole("ci-deploy")].Policies = []AssociatedPolicy{{ARN: policyARN("AmazonEKSAdminPolicy"), Namespaces: []string{"shop"}}}
		})(s)
	}}),
	unsure(chain.StepRBAC, chain.ReasonNotMeasurable, Fault{Name: "dry-run-unmeasurable", Target: deployTarget, Marks: "✔✔✔✔✔?", Meaning: "the target declares a dry run of what would act in spite of dryRun", apply: func(s *Scene) error {
		s.dryRun(`"create pods/exec in shop"`)
		return nil
	}}),
	failing(chain.StepRBAC, chain.ReasonAdmissionDenied, Fault{Name: "admission-denied", Target: deployTarget, Meaning: "an admission policy refuses what RBAC allows", apply: writes(AdmissionPolicyDenies)}),
	failing(chain.StepRBAC, chain.ReasonAdmissionDenied, Fault{Name: "admission-webhook-denied", Target: deployTarget, Meaning: "a webhook of a policy engine refuses what RBAC allows", apply: writes(AdmissionWebhookDenies)}),
	failing(chain.StepRBAC, chain.ReasonAdmissionWebhookUnavailable, Fault{Name: "admission-webhook-down", Target: deployTarget, Meaning: "the node security group does not admit the control plane to a webhook", apply: writes(AdmissionWebhookDown)}),
}

func policyARN(name string) string { return "arn:aws:eks::aws:cluster-access-policy/" + name }

// givePolicies leaves the runner's entry with these access policies, and no group.
func (c *Cluster) givePolicies(policies ...AssociatedPolicy) {
	entry := c.Entries[mappedRunner]
	entry.Groups, entry.Policies = nil, policies
}

// dryRun adds a write to what ci-deploy@prod tries.
func (s *Scene) dryRun(write string) {
	const deny = `      deny: ["get secrets in kube-system"]` + "\n"
	s.Config = strings.Replace(s.Config, deny, deny+"      dry_run: ["+write+"]\n", 1)
}

// writes makes ci-deploy@prod create a ConfigMap, as RBAC allows it, in a cluster with a fault of admission.
func writes(fault AdmissionFault) func(*Scene) error {
	return func(s *Scene) error {
		s.dryRun(`"create configmaps in shop"`)
		return cluster("prod", func(c *Cluster) {
			c.Grants = append(c.Grants, Grant{Subject: "deployers", Verbs: []string{"create"}, Groups: []string{""}, Resources: []string{"configmaps"}, Namespace: "shop"})
			c.Fault.Admission = fault
		})(s)
	}
}
