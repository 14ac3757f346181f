// Tests of judging the aws-auth ConfigMap.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestJudgeAWSAuth(t *testing.T) {
	role := func(arn, username string) chain.AWSAuth {
		return chain.AWSAuth{Roles: []chain.Mapping{{ARN: arn, Username: username}}}
	}
	user := chain.Principal{ARN: "arn:aws:iam::111122223333:user/alice", AccountID: "111122223333"}
	session := chain.Principal{ARN: sessionARN, AccountID: "111122223333"}
	cases := map[string]struct {
		auth      chain.AWSAuth
		principal chain.Principal
		mapped    bool
		reason    chain.Reason
	}{
		"mapped":                            {role(roleARN, "ci"), session, true, ""},
		"mapped in other letters":           {role("ARN:aws:iam::111122223333:role/CI-Deploy", "ci"), session, true, ""},
		"not mapped":                        {role("arn:aws:iam::111122223333:role/other", "ci"), session, false, ""},
		"C31 the path is kept":              {role("arn:aws:iam::111122223333:role/team/ci-deploy", "ci"), session, false, chain.ReasonAWSAuthRolePath},
		"C32 the session's ARN":             {role(sessionARN, "ci"), session, false, chain.ReasonAWSAuthAssumedRoleARN},
		"C32 the session's ARN, shortened":  {role("arn:aws:sts::111122223333:assumed-role/ci-deploy", "ci"), session, false, chain.ReasonAWSAuthAssumedRoleARN},
		"C41 a node's template":             {role(roleARN, "system:node:{{EC2PrivateDNSName}}"), session, true, chain.ReasonUsernameTemplateUnresolved},
		"a node's template, for a node":     {role(roleARN, "system:node:{{EC2PrivateDNSName}}"), chain.Principal{ARN: "arn:aws:sts::111122223333:assumed-role/ci-deploy/i-0123456789abcdef0"}, true, ""},
		"C35 the section does not parse":    {chain.AWSAuth{Broken: map[string]string{"mapRoles": "yaml: line 2"}}, session, false, chain.ReasonAWSAuthUnparseable},
		"another section does not parse":    {chain.AWSAuth{Broken: map[string]string{"mapUsers": "yaml: line 2"}}, session, false, ""},
		"a user":                            {chain.AWSAuth{Users: []chain.Mapping{{ARN: user.ARN}}}, user, true, ""},
		"a user among the roles":            {role(user.ARN, "alice"), user, false, ""},
		"a user whose section is broken":    {chain.AWSAuth{Broken: map[string]string{"mapUsers": "yaml: line 2"}}, user, false, chain.ReasonAWSAuthUnparseable},
		"the whole account":                 {chain.AWSAuth{Accounts: []string{"111122223333"}}, session, true, ""},
		"the path variant beside the right": {chain.AWSAuth{Roles: []chain.Mapping{{ARN: "arn:aws:iam::111122223333:role/team/ci-deploy"}, {ARN: roleARN}}}, session, true, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			mapped, problem := judgeAWSAuth(c.auth, c.principal)
			var reason chain.Reason
			if problem != nil {
				reason = chain.AsError(problem).Reason
			}
			if mapped != c.mapped || reason != c.reason {
				t.Errorf("got %v %q, want %v %q", mapped, reason, c.mapped, c.reason)
			}
		})
	}
}
