// Edits of the aws-auth ConfigMap, as the real authenticator takes them and as the exporter explains what comes of them.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	iamRole       = "arn:aws:iam::" + account + ":role/"
	deploySession = "arn:aws:sts::" + account + ":assumed-role/ci-deploy/build-1"
)

// awsAuthCases are edits of mapRoles, most of which lock somebody out. The authenticator refuses every one with the 401 of a stranger.
var awsAuthCases = map[string]struct {
	mapRoles string
	access   string
	want     wanted
}{
	"a line with the role's path": {
		observerLine + "- {rolearn: " + pathedRole + ", username: pathed, groups: []}\n", `{cluster: prod, identity: pathed}`,
		wanted{steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAWSAuthRolePath, fault: "aws-auth-role-path", detail: []string{pathedRole + " with its path"}, fix: "it reads " + pathedRole + " now"},
	},
	"a role with a path, written without": {
		observerLine + "- {rolearn: " + iamRole + "pathed, username: pathed, groups: []}\n", `{cluster: prod, identity: pathed, expect: {username: pathed}}`,
		wanted{steps: "sssss-"},
	},
	"a session's ARN": {
		observerLine + "- {rolearn: " + deploySession + ", username: ci, groups: [deployers]}\n", `{cluster: prod, identity: deploy}`,
		wanted{steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAWSAuthAssumedRoleARN, fault: "aws-auth-assumed-role", detail: []string{"the session's ARN " + deploySession}, fix: "Replace " + deploySession},
	},
	"a username for EC2 instances": {
		observerLine + "- {rolearn: " + deployRole + `, username: "system:node:{{EC2PrivateDNSName}}", groups: [system:nodes]}` + "\n", `{cluster: prod, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUsernameTemplateUnresolved, fault: "username-template",
			detail: []string{`needs an instance id as session name; this session is "eks-slo-`}, fix: "The session is eks-slo-",
		},
	},
	"two lines of one role": { // the last one counts, as the expected groups show
		observerLine + deployLine + "- {rolearn: " + deployRole + ", username: ci, groups: [viewers]}\n", `{cluster: prod, identity: deploy, expect: {groups: [viewers]}}`,
		wanted{steps: "sssss-"},
	},
	"two lines of one role, of which the first was meant": {
		observerLine + deployLine + "- {rolearn: " + deployRole + ", username: ci, groups: [viewers]}\n", `{cluster: prod, identity: deploy, expect: {groups: [deployers, builders]}}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAWSAuthDuplicateEntry, fault: "aws-auth-duplicate", fix: "kubectl edit configmap -n kube-system aws-auth",
			detail: []string{`mapped to the user "ci" with the groups viewers: aws-auth has 2 lines for ` + deployRole, "the last one counts, with the groups viewers", `the user "ci:{{SessionName}}" and the groups deployers, builders`},
		},
	},
	"keys in another case": { // this authenticator takes any
		observerLine + "- {roleARN: " + deployRole + ", UserName: ci, Groups: [deployers]}\n", `{cluster: prod, identity: deploy, expect: {username: ci, groups: [deployers]}}`,
		wanted{steps: "sssss-"},
	},
	"a misspelt key": {
		observerLine + "- {rolearm: " + deployRole + ", username: ci, groups: [deployers]}\n", `{cluster: prod, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAWSAuthUnknownKey, fault: "aws-auth-misspelt-key", fix: "kubectl edit configmap -n kube-system aws-auth",
			detail: []string{"aws-auth names " + deployRole + " in mapRoles[1]", "the line has groups, rolearm, username, and no rolearn"},
		},
	},
	"a user name under the key user": {
		observerLine + "- {rolearn: " + deployRole + ", user: ci, groups: [deployers]}\n", `{cluster: prod, identity: deploy, expect: {username: ci, groups: [deployers]}}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnexpectedUsername, fix: "kubectl edit configmap -n kube-system aws-auth",
			detail: []string{`mapped to the user "", not "ci"`, "the aws-auth line of " + deployRole + " has the key user, which the authenticator ignores"},
		},
	},
	"a user name under the key user, and none declared": { // the apiserver takes somebody without a name for authenticated
		observerLine + "- {rolearn: " + deployRole + ", user: ci, groups: [deployers]}\n", `{cluster: prod, identity: deploy, expect: {groups: [deployers]}, rbac: {allow: [get pods in shop]}}`,
		wanted{steps: "ssssss", facts: chain.Facts{chain.FactUsername: "", chain.FactGroups: "deployers,system:authenticated"}},
	},
	"groups that are no list": {
		observerLine + "- {rolearn: " + deployRole + ", username: ci, groups: deployers}\n", `{cluster: prod, identity: deploy, expect: {groups: [deployers]}}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAWSAuthUnparseable, fault: "aws-auth-no-list", fix: "kubectl edit configmap -n kube-system aws-auth",
			detail: []string{"the aws-auth line of " + deployRole + " counts without what of it does not parse: json: cannot unmarshal string"},
		},
	},
	"placeholders of a template": {
		observerLine + "- {rolearn: " + deployRole + `, username: "<user name>", groups: ["<group>"]}` + "\n", `{cluster: prod, identity: deploy, expect: {username: ci}}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnexpectedUsername, fault: "aws-auth-placeholders", fix: "kubectl edit configmap -n kube-system aws-auth",
			detail: []string{`mapped to the user "<user name>", not "ci"`, `"<user name>" looks like a placeholder of a template that nobody filled in`},
		},
	},
	"a placeholder in the role's place": {
		observerLine + `- {rolearn: "<ARN of the role>", username: ci, groups: [deployers]}` + "\n", `{cluster: prod, identity: deploy}`,
		wanted{steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonNotMapped, detail: []string{"no line in aws-auth for " + deployRole}, fix: "kubectl edit configmap"},
	},
	"a group for EC2 instances": {
		observerLine + "- {rolearn: " + deployRole + `, username: ci, groups: ["of-{{EC2PrivateDNSName}}"]}` + "\n", `{cluster: prod, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUsernameTemplateUnresolved, fault: "group-template",
			detail: []string{`has the group "of-{{EC2PrivateDNSName}}", which needs an instance id as session name`}, fix: "The session is eks-slo-",
		},
	},
	"no valid YAML": {
		healthyRoles + "- {rolearn: <ARN of the role\n", `{cluster: guarded, identity: deploy}`,
		wanted{steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAWSAuthUnparseable, fault: "aws-auth-damaged", detail: []string{"aws-auth mapRoles does not parse"}, fix: "kubectl edit configmap -n kube-system aws-auth"},
	},
	// The observer is mapped in the same section, so it is locked out too and reads nothing: that the ConfigMap is broken cannot be known, and is not guessed.
	"no valid YAML, and an observer that it locks out": {
		healthyRoles + "- {rolearn: <ARN of the role\n", `{cluster: prod, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnauthorizedUnexplained,
			detail: []string{`the signed name "prod" is the cluster's own`, "could not be read: aws-auth", "the cluster refused the observer's token"}, fix: "Give cluster prod an observer",
		},
	},
}

func (w *world) testAWSAuth(t *testing.T) {
	defer w.editAWSAuth(t, healthyRoles)
	for name, test := range awsAuthCases {
		t.Run(name, func(t *testing.T) {
			w.editAWSAuth(t, test.mapRoles)
			w.check(t, test.want, w.probe(t, test.access))
		})
	}
}
