// The aws-auth ConfigMap, judged as the authenticator reads it: ARNs compared in lower case, the last duplicate wins, paths and assumed-role ARNs never match.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// linesOf returns the lines that match the principal, in their order; the last one counts. The authenticator looks among the roles first, and a role's ARN among the users matches too
// (aws-iam-authenticator pkg/mapper/configmap), so the users are here the lines before.
func linesOf(auth chain.AWSAuth, principal chain.Principal) []chain.Mapping {
	canonical := principal.Canonical()
	var lines []chain.Mapping
	for _, line := range slices.Concat(auth.Users, auth.Roles) {
		if strings.EqualFold(line.ARN, canonical) {
			lines = append(lines, line)
		}
	}
	return lines
}

// sectionOf is where the principal's line belongs.
func sectionOf(canonical string) string {
	if strings.Contains(canonical, ":user/") {
		return "mapUsers"
	}
	return "mapRoles"
}

// unmatched says why a line that was meant for the principal is not its own; nil: there is no such line.
func unmatched(auth chain.AWSAuth, principal chain.Principal) error {
	canonical := principal.Canonical()
	section := sectionOf(canonical)
	fail := func(reason chain.Reason, arn, format string, args ...any) error {
		return chain.Fail(chain.StepAccessEntry, reason, fmt.Sprintf(format, args...), chain.Facts{chain.FactRoleARN: arn}, nil)
	}
	for _, line := range slices.Concat(auth.Roles, auth.Users) {
		switch {
		case trimmed(line.ARN) != line.ARN && bare(trimmed(line.ARN)) == bare(canonical):
			return fail(chain.ReasonAWSAuthUnparseable, line.ARN, "aws-auth %s has %q: the blank or line break around the ARN is part of it for the authenticator, so the line never matches %s", section, line.ARN, canonical)
		case bare(line.ARN) == bare(canonical):
			return fail(chain.ReasonAWSAuthRolePath, line.ARN, "aws-auth %s has %s with its path; STS shows no path, so the line never matches %s", section, line.ARN, canonical)
		case strings.Contains(line.ARN, ":assumed-role/") && strings.EqualFold(sessionless(line.ARN), canonical):
			return fail(chain.ReasonAWSAuthAssumedRoleARN, line.ARN, "aws-auth %s has the session's ARN %s; only the role's own ARN %s matches", section, line.ARN, canonical)
		}
	}
	for _, stray := range auth.Strays {
		for _, arn := range stray.ARNs {
			if strings.EqualFold(chain.StripPath(arn), canonical) {
				return fail(chain.ReasonAWSAuthUnknownKey, arn, "aws-auth names %s in %s, but under a key that the authenticator does not know: %s", arn, stray.Where, strayKeys(stray, section))
			}
		}
	}
	if why, broken := auth.Broken[section]; broken {
		return fail(chain.ReasonAWSAuthUnparseable, "", "aws-auth %s does not parse, so it maps nobody: %s", section, why)
	}
	return nil
}

// trimmed drops the blanks and invisible characters around a text, which nobody sees in an editor.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// bare is an ARN in lower case and without its path.
func bare(arn string) string { return chain.StripPath(strings.ToLower(arn)) }

func strayKeys(stray chain.Stray, section string) string {
	if len(stray.Keys) == 0 {
		return fmt.Sprintf("the section is called %s, not %s", stray.Where, section)
	}
	return fmt.Sprintf("the line has %s, and no %s", strings.Join(stray.Keys, ", "), arnKey(section))
}

func arnKey(section string) string {
	if section == "mapUsers" {
		return "userarn"
	}
	return "rolearn"
}

// oddARNKey returns how a line spells rolearn or userarn, when an authenticator that takes keys exactly would not know it.
func oddARNKey(line chain.Mapping) string {
	for _, key := range line.OddKeys {
		if strings.EqualFold(key, "rolearn") || strings.EqualFold(key, "userarn") {
			return key
		}
	}
	return ""
}

// templateProblem reports names that only the session of an EC2 instance can fill; whose is the mapping's own name.
func templateProblem(whose, username string, groups []string, principal chain.Principal) error {
	const template = "{{EC2PrivateDNSName}}"
	if chain.IsInstanceID(principal.SessionName()) {
		return nil
	}
	what := fmt.Sprintf("the username %q", username)
	if !strings.Contains(username, template) {
		at := slices.IndexFunc(groups, func(group string) bool { return strings.Contains(group, template) })
		if at < 0 {
			return nil
		}
		what = fmt.Sprintf("the group %q", groups[at])
	}
	return chain.Fail(chain.StepAccessEntry, chain.ReasonUsernameTemplateUnresolved,
		fmt.Sprintf("%s has %s, which needs an instance id as session name; this session is %q", whose, what, principal.SessionName()),
		chain.Facts{chain.FactSessionName: principal.SessionName()}, nil)
}

// sessionless turns an assumed-role ARN, with or without its session, into the role's ARN.
func sessionless(arn string) string {
	if strings.Count(arn, "/") == 1 {
		arn += "/session"
	}
	return chain.CanonicalARN(arn)
}
