// The aws-auth ConfigMap, judged as the authenticator reads it: ARNs compared in lower case, the last duplicate wins, paths and assumed-role ARNs never match.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (i *inquiry) awsAuth(ctx context.Context) error {
	if i.cluster.AuthMode == "" || i.cluster.AuthMode == chain.AuthModeAPI {
		return nil
	}
	token, err := i.prober.Observer.Token(ctx, i.target)
	if err != nil {
		i.notRead("aws-auth", err)
		return nil
	}
	auth, found, err := i.conn.AWSAuth(ctx, token)
	if err != nil {
		i.notRead("aws-auth (the observer needs get on the ConfigMap kube-system/aws-auth)", err)
		return nil
	}
	if found {
		mapped, problem := judgeAWSAuth(auth, i.accessRun.principal)
		if problem != nil {
			return problem
		}
		if mapped {
			return i.refusedDespite("the mapping in aws-auth")
		}
	}
	switch {
	case i.cluster.AuthMode == chain.AuthModeConfigMap:
		return i.notMapped("no line in aws-auth")
	case i.noEntry:
		return i.notMapped("neither an access entry nor a line in aws-auth")
	}
	i.rule("aws-auth has no line for %s", i.principal)
	return nil
}

// judgeAWSAuth says whether the ConfigMap maps the principal, or why a line that was meant for it does not.
func judgeAWSAuth(auth chain.AWSAuth, principal chain.Principal) (mapped bool, problem error) {
	canonical := principal.Canonical()
	section, lines := "mapRoles", auth.Roles
	if strings.Contains(canonical, ":user/") {
		section, lines = "mapUsers", auth.Users
	}
	for _, line := range slices.Backward(lines) {
		if strings.EqualFold(line.ARN, canonical) {
			return true, templateProblem(line, principal)
		}
	}
	if slices.Contains(auth.Accounts, principal.AccountID) {
		return true, nil
	}
	for _, line := range lines {
		switch {
		case strings.HasPrefix(strings.ToLower(line.ARN), "arn:") && strings.EqualFold(chain.StripPath(line.ARN), canonical):
			return false, chain.Fail(chain.StepAccessEntry, chain.ReasonAWSAuthRolePath,
				fmt.Sprintf("aws-auth %s has %s with its path; STS shows no path, so the line never matches %s", section, line.ARN, canonical), chain.Facts{chain.FactRoleARN: line.ARN}, nil)
		case strings.Contains(line.ARN, ":assumed-role/") && strings.EqualFold(sessionless(line.ARN), canonical):
			return false, chain.Fail(chain.StepAccessEntry, chain.ReasonAWSAuthAssumedRoleARN,
				fmt.Sprintf("aws-auth %s has the session's ARN %s; only the role's own ARN %s matches", section, line.ARN, canonical), chain.Facts{chain.FactRoleARN: line.ARN}, nil)
		}
	}
	if why, broken := auth.Broken[section]; broken {
		return false, chain.Fail(chain.StepAccessEntry, chain.ReasonAWSAuthUnparseable, fmt.Sprintf("aws-auth %s does not parse, so it maps nobody: %s", section, why), nil, nil)
	}
	return false, nil
}

// templateProblem reports a username that only the session of an EC2 instance can fill.
func templateProblem(line chain.Mapping, principal chain.Principal) error {
	if !strings.Contains(line.Username, "{{EC2PrivateDNSName}}") || chain.IsInstanceID(principal.SessionName()) {
		return nil
	}
	return chain.Fail(chain.StepAccessEntry, chain.ReasonUsernameTemplateUnresolved,
		fmt.Sprintf("the line of %s has the username %q, which needs an instance id as session name; this session is %q", line.ARN, line.Username, principal.SessionName()), nil, nil)
}

// sessionless turns an assumed-role ARN, with or without its session, into the role's ARN.
func sessionless(arn string) string {
	if strings.Count(arn, "/") == 1 {
		arn += "/session"
	}
	return chain.CanonicalARN(arn)
}
