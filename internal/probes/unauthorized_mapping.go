// Questions about the mapping after a 401: the access entry, then the aws-auth ConfigMap, as the authentication mode has it.
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

func (i *inquiry) accessEntry(ctx context.Context) error {
	if i.principal.ARN == "" || i.cluster.AuthMode == "" || i.cluster.AuthMode == chain.AuthModeConfigMap {
		return nil
	}
	entry, found, err := i.findEntry(ctx, i.target.Identity, i.principal)
	switch {
	case err != nil:
		i.notRead("the access entry", err)
		return nil
	case found:
		i.entryARN, i.facts[chain.FactPrincipal] = entry.PrincipalARN, entry.PrincipalARN
		if err := templateProblem("the access entry of "+entry.PrincipalARN, entry.Username, entry.Groups, i.principal); err != nil {
			return err
		}
		return i.refusedDespite(ctx, entry)
	}
	i.noEntry = true
	if i.cluster.AuthMode == chain.AuthModeAPI {
		return i.withoutEntry(ctx)
	}
	i.rule("there is no access entry for %s", i.entryARN)
	return nil
}

// withoutEntry is the principal that needs an entry and has none. Where a group is declared for it that no entry may hold, the entry could never be made. In the mode API the ConfigMap counts for
// nothing, but it may still say what the entry should have been; that it cannot be read is no matter.
func (i *inquiry) withoutEntry(ctx context.Context) error {
	if group := systemGroup(i.target.Expect.Groups); group != "" {
		return i.invalidGroup(group, "expect.groups declares")
	}
	auth, _, err := i.readAWSAuth(ctx)
	lines := linesOf(auth, i.principal)
	if err != nil || len(lines) == 0 {
		return i.notMapped("no access entry")
	}
	if group := systemGroup(lines[len(lines)-1].Groups); group != "" {
		return i.invalidGroup(group, "aws-auth still gives")
	}
	return i.notMapped("no access entry (only a line in aws-auth, which this mode ignores)")
}

// systemGroup returns the first group that EKS refuses in an access entry (CreateAccessEntry: "it cannot start with system:"); "" when there is none.
func systemGroup(groups []string) string {
	for _, group := range ownGroups(groups) {
		if strings.HasPrefix(group, "system:") {
			return group
		}
	}
	return ""
}

func (i *inquiry) invalidGroup(group, who string) error {
	return i.fail(chain.ReasonAccessEntryInvalidGroup,
		"the cluster has no access entry for %s, and none can be made with the group %s that %s: EKS refuses it, an access policy takes its place%s", i.entryARN, group, who, notReadText(i.unread))
}

// awsAuth looks where the cluster looks: an entry wins whole, and one that could not be read may be there.
func (i *inquiry) awsAuth(ctx context.Context) error {
	counts := i.cluster.AuthMode == chain.AuthModeConfigMap || i.cluster.AuthMode == chain.AuthModeAPIAndConfigMap && i.noEntry
	if i.principal.ARN == "" || !counts {
		return nil
	}
	auth, found, err := i.readAWSAuth(ctx)
	if err != nil {
		i.notRead(whatAWSAuth, err)
		return nil
	}
	if found {
		if lines := linesOf(auth, i.principal); len(lines) > 0 {
			return i.refusedLine(lines[len(lines)-1])
		}
		if slices.Contains(auth.Accounts, i.principal.AccountID) {
			return i.clears("the account's line in aws-auth")
		}
		if err := unmatched(auth, i.principal); err != nil {
			return err
		}
	}
	if i.noEntry {
		return i.notMapped("neither an access entry nor a line in aws-auth")
	}
	return i.notMapped("no line in aws-auth")
}

// refusedLine is the case of a line in aws-auth that matches the caller, who is refused all the same.
func (i *inquiry) refusedLine(line chain.Mapping) error {
	if err := templateProblem("the aws-auth line of "+line.ARN, line.Username, line.Groups, i.principal); err != nil {
		return err
	}
	if key := oddARNKey(line); key != "" {
		return chain.Fail(chain.StepAccessEntry, chain.ReasonAWSAuthUnknownKey,
			fmt.Sprintf("the aws-auth line of %s spells its key %s, which an authenticator that takes keys as they are spelled does not know: it is %s", line.ARN, key, strings.ToLower(key)),
			chain.Facts{chain.FactRoleARN: line.ARN}, i.refused)
	}
	return i.clears("the mapping in aws-auth")
}

// notMapped stands by what EKS and aws-auth tell alone: whoever signed, the cluster does not know the caller. Of the token it says no more than STS did.
func (i *inquiry) notMapped(where string) error {
	hint := ""
	if group := systemGroup(i.target.Expect.Groups); group != "" && i.cluster.AuthMode == chain.AuthModeAPIAndConfigMap {
		hint = fmt.Sprintf(" (an entry could not hold the declared group %s: it takes an access policy)", group)
	}
	token := "the cluster has"
	if i.replayed {
		token = fmt.Sprintf("the token is good (STS accepts it as %s), but the cluster has", i.principal.ARN)
	}
	return i.fail(chain.ReasonNotMapped, "%s %s for %s; authentication mode is %s%s%s", token, where, i.entryARN, i.cluster.AuthMode, hint, notReadText(i.unread))
}
