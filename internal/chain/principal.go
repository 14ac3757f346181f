// Principals: who AWS says the caller is, and the two spellings of a role's ARN.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"regexp"
	"strings"
)

// Principal is the answer of GetCallerIdentity.
type Principal struct {
	ARN       string // as STS spells it, such as arn:aws:sts::111122223333:assumed-role/ci-deploy/session
	AccountID string
	UserID    string // AROA…:session for an assumed role
}

// Canonical returns the IAM spelling of the principal (see CanonicalARN).
func (p Principal) Canonical() string { return CanonicalARN(p.ARN) }

// SessionName returns the session of an assumed role, "" for any other principal.
func (p Principal) SessionName() string {
	_, _, session, _ := splitAssumedRole(p.ARN)
	return session
}

// CanonicalARN turns an STS assumed-role ARN into the role's IAM ARN, as the authenticator does (aws-iam-authenticator pkg/arn). Other ARNs come back as they are.
// STS never shows a role's path, so neither does the result.
func CanonicalARN(arn string) string {
	prefix, role, _, ok := splitAssumedRole(arn)
	if !ok {
		return arn
	}
	return "arn:" + PartitionOf(prefix) + ":iam::" + AccountOf(prefix) + ":role/" + role
}

// splitAssumedRole cuts assumed-role/ROLE/SESSION. The session is what follows the last slash, as the authenticator reads it.
func splitAssumedRole(arn string) (prefix, role, session string, ok bool) {
	prefix, resource, ok := splitARN(arn, "sts")
	rest, isRole := strings.CutPrefix(resource, "assumed-role/")
	cut := strings.LastIndex(rest, "/")
	if !ok || !isRole || cut < 0 {
		return "", "", "", false
	}
	return prefix, rest[:cut], rest[cut+1:], true
}

// StripPath drops the path of an IAM role or user ARN: role/team/ci becomes role/ci.
func StripPath(arn string) string {
	prefix, resource, ok := splitARN(arn, "iam")
	if !ok {
		return arn
	}
	kind, rest, found := strings.Cut(resource, "/")
	if !found {
		return arn
	}
	return prefix + kind + "/" + rest[strings.LastIndex(rest, "/")+1:]
}

// SamePrincipal reports whether a caller's ARN is that of the expected role or user. Paths are ignored, since STS never shows them.
func SamePrincipal(expected, caller string) bool {
	return StripPath(CanonicalARN(expected)) == StripPath(CanonicalARN(caller))
}

var instanceSession = regexp.MustCompile(`^i-[0-9a-f]{8}([0-9a-f]{9})?$`)

// IsInstanceID reports whether a session name is an EC2 instance id, as the session of an instance profile is.
func IsInstanceID(sessionName string) bool { return instanceSession.MatchString(sessionName) }

// PartitionOf returns the partition of an ARN, such as aws-cn; "" when it is no ARN.
func PartitionOf(arn string) string {
	if fields := strings.SplitN(arn, ":", 6); len(fields) == 6 && fields[0] == "arn" {
		return fields[1]
	}
	return ""
}

// AccountOf returns the account id of an ARN; "" when it is no ARN.
func AccountOf(arn string) string {
	if fields := strings.SplitN(arn, ":", 6); len(fields) == 6 && fields[0] == "arn" {
		return fields[4]
	}
	return ""
}

// splitARN cuts an ARN of the given service before its resource; the prefix keeps its last colon.
func splitARN(arn, service string) (prefix, resource string, ok bool) {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) != 6 || fields[0] != "arn" || fields[2] != service {
		return "", "", false
	}
	return arn[:len(arn)-len(fields[5])], fields[5], true
}
