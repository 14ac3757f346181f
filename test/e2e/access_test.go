// The main path: a configured identity goes through the real authenticator and the real apiserver, and when it does not get in, the one layer at fault is named.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// wanted is what a run must come to. The steps are one letter each: success, failure, unknown, - skipped. Texts are parts.
type wanted struct {
	steps  string
	step   chain.Step
	reason chain.Reason
	detail []string
	fix    string
	facts  chain.Facts
	fault  string // of the sandbox, that tells the same story: testParity compares
}

func (want wanted) check(t *testing.T, run chain.Run) {
	t.Helper()
	v := run.Verdict
	outcome := chain.OutcomeFailure
	if want.reason == "" {
		outcome = chain.OutcomeSuccess
	}
	steps := stepsOf(run)
	if v.Outcome != outcome || v.Step != want.step || v.Reason != want.reason || steps != want.steps {
		t.Errorf("%s %s/%s %s, want %s %s/%s %s", v.Outcome, v.Step, v.Reason, steps, outcome, want.step, want.reason, want.steps)
	}
	for _, part := range want.detail {
		if !strings.Contains(v.Detail, part) {
			t.Errorf("the detail lacks %q", part)
		}
	}
	if !strings.Contains(v.Fix, want.fix) || (want.fix == "") != (v.Fix == "") {
		t.Errorf("the fix lacks %q", want.fix)
	}
	facts := run.Facts()
	for name, value := range want.facts {
		if facts[name] != value {
			t.Errorf("fact %s is %q, want %q", name, facts[name], value)
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("detail: %s\nfix:\n%s\nfacts: %v", v.Detail, v.Fix, facts)
	}
}

func TestAccess(t *testing.T) {
	w := startWorld(t)
	for name, test := range accessCases {
		t.Run(name, func(t *testing.T) { w.check(t, test.want, w.probe(t, test.access)) })
	}
	t.Run("aws-auth", w.testAWSAuth)
	t.Run("nothing is answered from a cache", w.testHonesty)
	t.Run("outages", w.testOutages)
	t.Run("parity", w.testParity)
}

var accessCases = map[string]struct {
	access string
	want   wanted
}{
	"everything as declared": {
		`cluster: prod
    identity: deploy
    expect: {username: "ci:{{SessionName}}", groups: [builders, deployers]}
    rbac:
      allow: [create apps/deployments in shop, get pods/log in shop, get secrets registry in shop, list nodes]
      deny: [get secrets in shop, get secrets other in shop, create pods/exec in shop, create apps/deployments in default, delete nodes, "* */*"]
      dry_run: [create configmaps in shop, create rbac.authorization.k8s.io/rolebindings in shop, {manifest_file: bind-nodes.yaml}]`,
		wanted{steps: "ssssss", facts: chain.Facts{chain.FactGroups: "deployers,builders,system:authenticated", chain.FactRulesChecked: "13", chain.FactAuthMode: "CONFIG_MAP"}},
	},
	"nothing is asked of RBAC":     {`{cluster: prod, identity: deploy}`, wanted{steps: "sssss-"}},
	"an observer outside aws-auth": {`{cluster: guarded, identity: deploy, rbac: {allow: [list nodes]}}`, wanted{steps: "ssssss"}},
	"another user than declared": {
		`{cluster: prod, identity: deploy, expect: {username: "deploy:{{SessionName}}"}}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnexpectedUsername,
			detail: []string{`mapped to the user "ci:eks-slo-`, `", not "deploy:eks-slo-`}, fix: "correct expect.username", fault: "unexpected-username",
		},
	},
	"other groups than declared": {
		`{cluster: prod, identity: deploy, expect: {groups: [deployers, admins]}}`,
		wanted{
			fault: "unexpected-groups",
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnexpectedGroups,
			detail: []string{" without the expected admins and with the unexpected builders"}, fix: "Got deployers builders system:authenticated, expected deployers admins.",
		},
	},
	"nobody mapped the role": {
		`{cluster: prod, identity: stranger, expect: {groups: [deployers]}}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonNotMapped,
			detail: []string{"STS accepts it as arn:aws:sts::111122223333:assumed-role/stranger/eks-slo-", "no line in aws-auth for " + strangeRole},
			fault:  "not-mapped-aws-auth",
			fix:    "kubectl edit configmap -n kube-system aws-auth",
			facts:  chain.Facts{chain.FactHTTPStatus: "401", chain.FactPrincipal: strangeRole},
		},
	},
	"a name that the cluster does not bear": {
		`{cluster: misnamed, identity: deploy}`,
		wanted{
			steps: "ssfs--", step: chain.StepToken, reason: chain.ReasonClusterIDMismatch,
			detail: []string{"an apiserver answers at https://127.0.0.1:", `but EKS knows no cluster "production" in eu-west-1`}, fix: "Set eks_name of cluster misnamed", fault: "cluster-name-wrong",
		},
	},
	"the authority of another cluster": {
		`{cluster: distrusted, identity: deploy}`,
		wanted{
			steps: "sssf--", step: chain.StepEndpoint, reason: chain.ReasonTLSCAMismatch, fix: "Remove ca_file of cluster distrusted", fault: "tls-ca-mismatch",
			detail: []string{`was issued by "CN=eks-slo sandbox" and does not chain to the cluster's certificate authority`},
		},
	},
	"the endpoint that the cluster had before it was made anew": {
		`{cluster: moved, identity: deploy}`,
		wanted{
			steps: "sssf--", step: chain.StepEndpoint, reason: chain.ReasonEndpointStale, fault: "endpoint-stale", fix: "endpoint",
			detail: []string{"the configured endpoint https://127.0.0.1:1 fails (", "refused the connection", "EKS says that prod is at https://127.0.0.1:"},
		},
	},
	"a right that nobody bound": {
		`{cluster: prod, identity: deploy, rbac: {allow: [list nodes, delete apps/deployments in shop, list secrets in shop]}}`,
		wanted{
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonDenied,
			detail: []string{`user "ci:eks-slo-`, `may not delete apps/deployments in shop, nor is it as declared for: list secrets in shop`},
			fault:  "denied",
			fix:    "kubectl create rolebinding NAME -n shop --clusterrole=NAME --group=GROUP", facts: chain.Facts{chain.FactRule: "delete apps/deployments in shop", chain.FactWhy: ""},
		},
	},
	"a write that nobody bound": {
		`{cluster: prod, identity: deploy, rbac: {dry_run: [create secrets in shop]}}`,
		wanted{
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonDenied, fix: "Missing: 'create secrets in shop'",
			detail: []string{`cannot create resource "secrets" in API group "" in the namespace "shop"`},
		},
	},
	"bound to a ClusterRole that does not exist": {
		`{cluster: prod, identity: dangling, rbac: {allow: [list nodes]}}`,
		wanted{
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonRBACRoleNotFound,
			detail: []string{`user "dangling" may not list nodes`, `RBAC: clusterrole.rbac.authorization.k8s.io "node-reader" not found)`}, fix: "make a new binding", fault: "role-not-found",
		},
	},
	"bound to a Role that does not exist": {
		`{cluster: prod, identity: dangling, rbac: {allow: [get pods in shop]}}`,
		wanted{
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonRBACRoleNotFound,
			detail: []string{`[clusterrole.rbac.authorization.k8s.io "node-reader" not found, role.rbac.authorization.k8s.io "renamed" not found]`}, fix: "make a new binding",
		},
	},
	"a write that is bound to a Role that does not exist": {
		`{cluster: prod, identity: dangling, rbac: {dry_run: [create configmaps in shop]}}`,
		wanted{
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonRBACRoleNotFound,
			detail: []string{`User "dangling" cannot create resource "configmaps"`, `role.rbac.authorization.k8s.io "renamed" not found`}, fix: "make a new binding",
		},
	},
	"a right that must be denied": {
		`{cluster: prod, identity: deploy, rbac: {deny: [delete nodes, get secrets registry in shop]}}`,
		wanted{
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonExcessPermission, fix: "deployers", fault: "excess-permission",
			detail: []string{"may get secrets registry in shop, which must be denied (", `RoleBinding "deployers-deployer/shop" of Role "deployer" to Group "deployers"`},
		},
	},
	"handing out rights that it does not hold": {
		`{cluster: prod, identity: deploy, rbac: {allow: [create rbac.authorization.k8s.io/rolebindings in shop], dry_run: [{manifest_file: bind-secrets.yaml}]}}`,
		wanted{
			fault: "rbac-escalation",
			steps: "sssssf", step: chain.StepRBAC, reason: chain.ReasonRBACEscalationDenied, fix: "kubectl create clusterrole bind-ROLE --verb=bind",
			detail: []string{"the write is permitted, what it grants is not", `"e2e" is forbidden: user "ci:eks-slo-`, `attempting to grant RBAC permissions not currently held`, `Resources:["secrets"]`},
		},
	},
}

// testHonesty counts at STS: whatever a run asks of the cluster, it costs one session, one look at who it is and one token, and the authenticator checks that token itself.
func (w *world) testHonesty(t *testing.T) {
	target := w.target(t, accessCases["everything as declared"].access)
	prober := newProber(t)
	wanted{steps: "ssssss"}.check(t, runOnce(t, prober, target)) // reads the cluster with the observer
	for range 3 {
		before := w.calls()
		wanted{steps: "ssssss"}.check(t, runOnce(t, prober, target))
		counts := map[sandbox.Call]int{}
		for _, call := range w.calls()[len(before):] {
			counts[call]++
		}
		want := map[sandbox.Call]int{
			{Service: "sts", Operation: "AssumeRole"}: 1, {Service: "sts", Operation: "GetCallerIdentity"}: 1, {Service: "sts", Operation: "PresignedGetCallerIdentity"}: 1,
		}
		if !maps.Equal(counts, want) {
			t.Errorf("calls %v, want %v", counts, want)
		}
	}
}

// testOutages ends the components one by one. Nobody is called unmapped by a cluster that could not look.
func (w *world) testOutages(t *testing.T) {
	prober, dangling, deploy := newProber(t), w.target(t, `{cluster: prod, identity: dangling}`), w.target(t, `{cluster: prod, identity: deploy}`)
	wanted{steps: "sssss-"}.check(t, runOnce(t, prober, dangling)) // who got in a moment ago proves nothing of now
	t.Run("STS throttles the authenticator", func(t *testing.T) {  // in this mode the mapping is known to an observer alone, who is not let in either
		w.throttle(true)
		defer w.throttle(false)
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnauthorizedUnexplained,
			detail: []string{"(it took ", "as when it asks its authenticator again and again)", "could not be read: replaying the presigned URL: sts_throttled", "; aws-auth (", "the cluster refused the observer's token"}, fix: "--log-stream-name-prefix authenticator",
		}.check(t, runOnce(t, prober, deploy))
	})
	w.cluster.Authenticator.Stop()
	t.Run("the authenticator is gone", func(t *testing.T) {
		run := runOnce(t, prober, deploy)
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnauthorizedUnexplained,
			detail: []string{"STS accepts the presigned URL as arn:aws:sts::111122223333:assumed-role/ci-deploy/eks-slo-", "could not be read: aws-auth", "the cluster refused the observer's token"},
			fix:    "--log-stream-name-prefix authenticator",
		}.check(t, run)
	})
	w.cluster.APIServer.Stop()
	t.Run("the apiserver is gone", func(t *testing.T) {
		w.check(t, wanted{
			fault: "tcp-refused", steps: "sssf--", step: chain.StepEndpoint, reason: chain.ReasonTCPRefused, detail: []string{"refused the connection: nothing listens there"}, fix: "Dialled 127.0.0.1:",
		}, runOnce(t, prober, deploy))
	})
}

func (w *world) calls() (calls []sandbox.Call) {
	w.aws.State.Change(func(s *sandbox.State) { calls = slices.Clone(s.Calls) })
	return calls
}
