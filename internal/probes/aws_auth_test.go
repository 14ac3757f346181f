// Tests of judging the aws-auth ConfigMap.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestAWSAuthLines(t *testing.T) {
	role := func(arns ...string) (auth chain.AWSAuth) {
		for _, arn := range arns {
			auth.Roles = append(auth.Roles, chain.Mapping{ARN: arn})
		}
		return auth
	}
	stray := func(where, arn string, keys ...string) chain.AWSAuth {
		return chain.AWSAuth{Strays: []chain.Stray{{Where: where, Keys: keys, ARNs: []string{arn}}}, Broken: map[string]string{"mapRoles[0]": "no rolearn"}}
	}
	broken := func(section string) chain.AWSAuth {
		return chain.AWSAuth{Broken: map[string]string{section: "yaml: line 2"}}
	}
	user := chain.Principal{ARN: "arn:aws:iam::111122223333:user/alice", AccountID: "111122223333"}
	session := chain.Principal{ARN: sessionARN, AccountID: "111122223333"}
	cases := map[string]struct {
		auth      chain.AWSAuth
		principal chain.Principal
		lines     int
		reason    chain.Reason // when there is no line
	}{
		"mapped":                            {role(roleARN), session, 1, ""},
		"mapped in other letters":           {role("ARN:aws:iam::111122223333:role/CI-Deploy"), session, 1, ""},
		"C34 mapped twice":                  {role(roleARN, "arn:aws:iam::111122223333:role/other", roleARN), session, 2, ""},
		"not mapped":                        {role("arn:aws:iam::111122223333:role/other"), session, 0, ""},
		"C31 the path is kept":              {role("arn:aws:iam::111122223333:role/team/ci-deploy"), session, 0, chain.ReasonAWSAuthRolePath},
		"C31 the path is kept, in capitals": {role("ARN:AWS:IAM::111122223333:role/team/CI-Deploy"), session, 0, chain.ReasonAWSAuthRolePath},
		"a blank after the ARN":             {role(roleARN + " "), session, 0, chain.ReasonAWSAuthUnparseable},
		"a line break after the ARN":        {role(roleARN + "\n"), session, 0, chain.ReasonAWSAuthUnparseable},
		"a no-break space before the ARN":   {role("\u00a0" + roleARN), session, 0, chain.ReasonAWSAuthUnparseable},
		"a blank after somebody else's ARN": {role("arn:aws:iam::111122223333:role/other "), session, 0, ""},
		"C32 the session's ARN":             {role(sessionARN), session, 0, chain.ReasonAWSAuthAssumedRoleARN},
		"C32 the session's ARN, shortened":  {role("arn:aws:sts::111122223333:assumed-role/ci-deploy"), session, 0, chain.ReasonAWSAuthAssumedRoleARN},
		"C35 the section does not parse":    {broken("mapRoles"), session, 0, chain.ReasonAWSAuthUnparseable},
		"another section does not parse":    {broken("mapUsers"), session, 0, ""},
		"a user":                            {chain.AWSAuth{Users: []chain.Mapping{{ARN: user.ARN}}}, user, 1, ""},
		"a user among the roles":            {role(user.ARN), user, 1, ""},
		"a role among the users":            {chain.AWSAuth{Users: []chain.Mapping{{ARN: roleARN}}}, session, 1, ""},
		"a user whose section is broken":    {broken("mapUsers"), user, 0, chain.ReasonAWSAuthUnparseable},
		"the path variant beside the right": {role("arn:aws:iam::111122223333:role/team/ci-deploy", roleARN), session, 1, ""},
		"a misspelt key":                    {stray("mapRoles[0]", roleARN, "rolearm", "username"), session, 0, chain.ReasonAWSAuthUnknownKey},
		"a misspelt key, with a path":       {stray("mapRoles[0]", "arn:aws:iam::111122223333:role/team/ci-deploy", "role"), session, 0, chain.ReasonAWSAuthUnknownKey},
		"a misspelt section":                {stray("maproles", roleARN), session, 0, chain.ReasonAWSAuthUnknownKey},
		"somebody else's misspelt key":      {stray("mapRoles[0]", "arn:aws:iam::111122223333:role/other", "rolearm"), session, 0, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			lines := linesOf(c.auth, c.principal)
			var reason chain.Reason
			if problem := unmatched(c.auth, c.principal); len(lines) == 0 && problem != nil {
				reason = chain.AsError(problem).Reason
			}
			if len(lines) != c.lines || reason != c.reason {
				t.Errorf("got %d lines and %q, want %d and %q", len(lines), reason, c.lines, c.reason)
			}
		})
	}
}

func TestTemplateProblem(t *testing.T) {
	const node, instance = "system:node:{{EC2PrivateDNSName}}", "arn:aws:sts::111122223333:assumed-role/ci-deploy/i-0123456789abcdef0"
	for name, c := range map[string]struct {
		arn, username string
		groups        []string
		want          string
	}{
		"C41 a username":       {sessionARN, node, nil, `whose has the username "system:node:{{EC2PrivateDNSName}}", which needs an instance id as session name; this session is "run-1"`},
		"a group":              {sessionARN, "ci", []string{"all", "of-{{EC2PrivateDNSName}}"}, `whose has the group "of-{{EC2PrivateDNSName}}", which needs an instance id as session name; this session is "run-1"`},
		"for a node":           {instance, node, nil, ""},
		"of the session":       {sessionARN, "ci:{{SessionName}}", []string{"of-{{AccountID}}"}, ""},
		"of a user, who is no": {"arn:aws:iam::111122223333:user/alice", node, nil, `whose has the username "system:node:{{EC2PrivateDNSName}}", which needs an instance id as session name; this session is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := templateProblem("whose", c.username, c.groups, chain.Principal{ARN: c.arn}); err != nil {
				got = chain.AsError(err).Detail
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOddKeys(t *testing.T) {
	line := chain.Mapping{ARN: roleARN, OddKeys: []string{"Groups", "group", "roleARN"}}
	if got := oddARNKey(line); got != "roleARN" {
		t.Errorf("the ARN's key is %q", got)
	}
	if got := unknownKeys(mapped{lines: []chain.Mapping{{OddKeys: []string{"x"}}, line}}); !slices.Equal(got, []string{"group"}) {
		t.Errorf("unknown are %v", got)
	}
	if got := unknownKeys(mapped{lines: []chain.Mapping{line}, entry: &chain.AccessEntry{}}); got != nil {
		t.Errorf("under an entry, unknown are %v", got)
	}
}
