// Tests of explaining a denial.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const policyPrefix = "arn:aws:eks::aws:cluster-access-policy/AmazonEKS"

// policy is an access policy by the middle of its name; no namespaces: the cluster.
func policy(name string, namespaces ...string) chain.AccessPolicy {
	return chain.AccessPolicy{ARN: policyPrefix + name + "Policy", Namespaces: namespaces}
}

// Every case denies the one allow rule, for a user without groups of its own unless it says otherwise; nothing is declared of the mapping.
func TestExplainDenial(t *testing.T) {
	const both, mapOnly, denied = chain.AuthModeAPIAndConfigMap, chain.AuthModeConfigMap, "rbac/denied ✔✔✔✔✔✖"
	mapping := func(reason chain.Reason) string { return "access_entry/" + string(reason) + " ✔✔✔✔✖·" }
	rbac := func(reason chain.Reason) string { return "rbac/" + string(reason) + " ✔✔✔✔✔✖" }
	entry := &chain.AccessEntry{PrincipalARN: roleARN, Username: "ci:{{SessionName}}"}
	misspelt, unfilled := line("ci:{{SessionName}}"), line("ci:{{SessionName}}", "<group>")
	misspelt.OddKeys = []string{"Group", "Username"}
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
		detail string
	}{
		"C44 no policy and no group": {func(f *fake, _ *chain.Target) { f.entry = entry }, rbac(chain.ReasonAccessEntryWithoutPolicy),
			`user "ci:run-1" may not create apps/deployments in shop; the access entry of ` + roleARN + " has neither an access policy nor a group"},
		"no policy, but a group": {func(f *fake, _ *chain.Target) {
			f.entry, f.review = &chain.AccessEntry{PrincipalARN: roleARN, Groups: []string{"deployers"}}, reviewSays("ci:run-1", "deployers")
		}, denied, ""},
		"another namespace": {func(f *fake, _ *chain.Target) {
			f.entry, f.policies = entry, []chain.AccessPolicy{policy("View"), policy("Edit", "dev-*", "stage")}
		}, rbac(chain.ReasonAccessPolicyScope), "the access policy AmazonEKSEditPolicy allows it, but only in dev-*, stage"},
		"another namespace, with declared groups that are given": {func(f *fake, tg *chain.Target) {
			f.entry, f.review = &chain.AccessEntry{PrincipalARN: roleARN, Groups: []string{"deployers"}}, reviewSays("ci:run-1", "deployers")
			f.policies, tg.Expect.Groups = []chain.AccessPolicy{policy("Edit", "dev")}, []string{"deployers"}
		}, rbac(chain.ReasonAccessPolicyScope), "only in dev"},
		"a namespaced admin and the whole cluster": {func(f *fake, tg *chain.Target) {
			f.entry, f.policies, tg.Allow = entry, []chain.AccessPolicy{policy("ClusterAdmin", "shop")}, []chain.Rule{rule(t, "list nodes")}
		}, rbac(chain.ReasonAccessPolicyScope), "only in shop"},
		"a resource that is in none": {func(f *fake, tg *chain.Target) {
			f.entry, f.policies, tg.Allow = entry, []chain.AccessPolicy{policy("View"), policy("Admin", "dev")}, []chain.Rule{rule(t, "list karpenter.sh/nodepools")}
		}, rbac(chain.ReasonAccessPolicyExcludesResource), "no access policy of its entry covers this resource (AmazonEKSViewPolicy in the cluster, AmazonEKSAdminPolicy in dev)"},
		"a verb that is in none": {func(f *fake, _ *chain.Target) { f.entry, f.policies = entry, []chain.AccessPolicy{policy("View")} },
			denied, "its entry has the access policies AmazonEKSViewPolicy in the cluster"},
		"a policy that is not known": {func(f *fake, tg *chain.Target) {
			f.entry, f.policies, tg.Allow = entry, []chain.AccessPolicy{policy("View"), policy("Hybrid")}, []chain.Rule{rule(t, "list nodes")}
		}, denied, "AmazonEKSHybridPolicy in the cluster"},
		"a policy that should allow it": {func(f *fake, _ *chain.Target) {
			f.entry, f.policies = entry, []chain.AccessPolicy{policy("Edit", "dev"), policy("Admin", "shop")}
		}, denied, "the access policy AmazonEKSAdminPolicy of its entry should allow it: a change of policies takes effect after some time"},
		"a dry-run write": {func(f *fake, tg *chain.Target) {
			tg.Allow, tg.Deny, tg.DryRun = nil, nil, []chain.DryRun{{Rule: rule(t, "create configmaps in shop")}}
			f.entry, f.policies, f.dryRun = entry, []chain.AccessPolicy{policy("Edit", "dev")}, func(chain.Rule) error { return fail(chain.StepRBAC, chain.ReasonDenied) }
		}, rbac(chain.ReasonAccessPolicyScope), "as told; the access policy AmazonEKSEditPolicy allows it, but only in dev"},
		"the policies cannot be read": {func(f *fake, _ *chain.Target) {
			f.entry, f.policiesErr = entry, chain.Unsure(chain.ReasonEKSAPIThrottled, "Rate exceeded", nil, nil)
		}, denied, "; could not be read: its access policies: eks_api_throttled: Rate exceeded"},
		"the entry cannot be read": {func(f *fake, _ *chain.Target) { f.entryErr = chain.Unsure(chain.ReasonObserverDenied, "no", nil, nil) },
			denied, "; could not be read: the access entry: observer_denied: no"},
		"nobody reads": {func(_ *fake, tg *chain.Target) {
			tg.Cluster.Observer, tg.Cluster.Endpoint, tg.Cluster.CAFile = "", endpoint, "unauthorized_test.go"
		}, denied, "the cluster has no observer"},
		"C38 the entry hides the line": {func(f *fake, _ *chain.Target) { f.mappedBy(both, entry, line("ci", "system:masters")) },
			mapping(chain.ReasonAccessEntryShadowsAWSAuth), "hides the aws-auth line that gives system:masters, so user \"ci:run-1\" may not create apps/deployments in shop"},
		"C38 the hidden line gives no more": {func(f *fake, _ *chain.Target) { f.mappedBy(both, entry, line("ci")) },
			rbac(chain.ReasonAccessEntryWithoutPolicy), ""},
		"C34 the last line counts": {func(f *fake, _ *chain.Target) {
			f.review = reviewSays("ci:run-1", "shop")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "admins"), line("ci:{{SessionName}}", "shop"))
		}, mapping(chain.ReasonAWSAuthDuplicateEntry), "the last one counts, with the groups shop"},
		"C34 the groups that are given are the declared ones": {func(f *fake, tg *chain.Target) {
			f.review, tg.Expect.Groups = reviewSays("ci:run-1", "shop"), []string{"shop"}
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "admins"), line("ci:{{SessionName}}", "shop"))
		}, denied, ""},
		"C35 placeholders": {func(f *fake, _ *chain.Target) {
			f.review = reviewSays("ci:run-1", "<group>")
			f.mappedBy(mapOnly, nil, unfilled)
		}, mapping(chain.ReasonAWSAuthUnparseable), `in aws-auth placeholders were left; "<group>" looks like`},
		"a misspelt key": {func(f *fake, _ *chain.Target) { f.mappedBy(mapOnly, nil, misspelt) },
			mapping(chain.ReasonAWSAuthUnknownKey), "it gives no groups; the aws-auth line of " + roleARN + " has the key Group"},
		"user in place of username": {func(f *fake, _ *chain.Target) {
			f.review = reviewSays("", "shop", "system:authenticated")
			f.mappedBy(mapOnly, nil, chain.Mapping{ARN: roleARN, Groups: []string{"shop"}, OddKeys: []string{"user"}})
		}, mapping(chain.ReasonAWSAuthUnknownKey), "it gives no username; the aws-auth line of " + roleARN + " has the key user, which the authenticator ignores"},
		"a line that is right": {func(f *fake, _ *chain.Target) {
			f.review = reviewSays("ci:run-1", "shop")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "shop"))
		}, denied, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			f.review = reviewSays("ci:run-1", "system:authenticated")
			f.access = func(chain.Rule) (chain.Decision, error) { return chain.Decision{}, nil }
			target.Expect = chain.Expect{}
			c.change(f, &target)
			run := probe(t, f, target)
			if reason := run.Verdict.Reason; (reason == chain.ReasonAccessEntryShadowsAWSAuth || reason == chain.ReasonAWSAuthDuplicateEntry) != (run.Facts()[chain.FactExpectedGroups] != "") && target.Expect.Groups == nil {
				t.Errorf("the groups that are meant are told as %q", run.Facts()[chain.FactExpectedGroups])
			}
			if got, want := verdict(run), "failure "+c.want; got != want || !strings.Contains(run.Verdict.Detail, c.detail) {
				t.Errorf("got  %s: %s\nwant %s: …%s…", got, run.Verdict.Detail, want, c.detail)
			}
		})
	}
}

// A binding to a missing role, an excess right and a run without denial read nothing.
func TestOnlyADenialIsExplained(t *testing.T) {
	for name, decision := range map[string]chain.Decision{
		"a dangling binding": {MissingRole: "role/gone"},
		"an excess right":    {Allowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.access = func(chain.Rule) (chain.Decision, error) { return decision, nil }
			probe(t, f, standardTarget(t))
			if slices.ContainsFunc(f.calls, func(call string) bool {
				return strings.Contains(call, "Access") && strings.HasPrefix(call, "Describe") || call == "AWSAuth"
			}) {
				t.Errorf("calls are %v", f.calls)
			}
		})
	}
}

func TestAccessPolicyContents(t *testing.T) {
	const nothing, mentioned, allowed = 0, 1, 2
	for expression, want := range map[string][5]int{ // view, edit, admin, admin view, cluster admin
		"get pods/log web in shop":                      {allowed, allowed, allowed, allowed, allowed},
		"create pods in shop":                           {mentioned, allowed, allowed, mentioned, allowed},
		"get secrets in shop":                           {nothing, allowed, allowed, allowed, allowed},
		"list nodes":                                    {nothing, nothing, nothing, allowed, allowed},
		"list namespaces":                               {allowed, allowed, allowed, allowed, allowed},
		"create namespaces":                             {mentioned, mentioned, mentioned, mentioned, allowed},
		"create rbac.authorization.k8s.io/rolebindings": {nothing, nothing, allowed, mentioned, allowed},
		"bind rbac.authorization.k8s.io/clusterroles":   {nothing, nothing, nothing, mentioned, allowed},
		"impersonate serviceaccounts in shop":           {mentioned, allowed, allowed, mentioned, allowed},
		"get apps/deployments/scale web in shop":        {allowed, allowed, allowed, allowed, allowed},
		"update networking.k8s.io/ingresses in shop":    {mentioned, allowed, allowed, mentioned, allowed},
		"get karpenter.sh/nodepools":                    {nothing, nothing, nothing, allowed, allowed},
		"* *":                                           {mentioned, mentioned, mentioned, mentioned, allowed},
		"* apps/deployments in shop":                    {mentioned, mentioned, mentioned, mentioned, allowed},
		"create authorization.k8s.io/localsubjectaccessreviews in shop": {nothing, nothing, allowed, mentioned, allowed},
	} {
		t.Run(expression, func(t *testing.T) {
			r := rule(t, expression)
			for i, name := range []string{"View", "Edit", "Admin", "AdminView", "ClusterAdmin"} {
				content, got := accessPolicies[policy(name).Name()], nothing
				switch {
				case content.allows(r):
					got = allowed
				case content.mentions(r):
					got = mentioned
				}
				if got != want[i] {
					t.Errorf("%s: %d, want %d", name, got, want[i])
				}
			}
		})
	}
}
