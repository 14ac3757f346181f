// A denial, explained: the mapping gives other groups than meant, or the access policies of the entry do not reach the rule; else it stays a plain denial.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// explainDenial reads the mapping and the policies, with the observer, on a denial only. A binding to a missing role, an escalation and admission have said themselves why they refuse.
func (r *accessRun) explainDenial(ctx context.Context, failed error) (chain.Facts, error) {
	var e *chain.Error
	if !errors.As(failed, &e) || e.Step != chain.StepRBAC || e.Reason != chain.ReasonDenied {
		return nil, failed
	}
	m := r.readMapping(ctx)
	if r.target.Expect.Groups == nil { // declared groups that are given are the intended ones
		if err := r.deniedByMapping(m); err != nil {
			err.Detail += ", so " + e.Detail
			return nil, err
		}
	}
	found := *e
	if m.entry != nil {
		found.Facts = e.Facts.Merge(chain.Facts{chain.FactPrincipal: m.entry.PrincipalARN})
		r.deniedByPolicy(ctx, &m, &found)
	}
	found.Detail += notReadText(m.unread)
	return nil, &found
}

// deniedByMapping blames the mapping when it gives other groups than the one that it hides or replaces, or when its line is damaged. nil: it does not, as far as is known.
func (r *accessRun) deniedByMapping(m mapped) *chain.Error {
	if err := r.mappingFault(m, func(line chain.Mapping) bool { return len(difference(r.renderAll(line.Groups), r.reviewed.Groups)) > 0 }); err != nil {
		return err
	}
	if m.entry != nil || len(m.lines) == 0 {
		return nil
	}
	last := m.lines[len(m.lines)-1]
	switch {
	case !r.shows(last.Username, last.Groups):
		return nil
	case r.placeholders() != "":
		return r.faulty(chain.ReasonAWSAuthUnparseable, nil, "in aws-auth placeholders were left%s", r.placeholders())
	case len(unknownKeys(m)) == 0:
		return nil
	case len(last.Groups) == 0:
		return r.faulty(chain.ReasonAWSAuthUnknownKey, nil, "it gives no groups%s", oddKeys(m))
	case last.Username == "":
		return r.faulty(chain.ReasonAWSAuthUnknownKey, nil, "it gives no username%s", oddKeys(m))
	}
	return nil
}

// deniedByPolicy turns a plain denial into what the policies of the entry say of it, by this table (first match wins):
//
//	no policy and no group                                              → access_entry_without_policy
//	one allows it and applies there                                     → denied: the change is not through yet
//	one allows it and applies elsewhere                                 → access_policy_scope
//	all are known, and none has the resource, whatever the verb         → access_policy_excludes_resource
//	anything else, and policies that cannot be read                     → denied, with what they are
func (r *accessRun) deniedByPolicy(ctx context.Context, m *mapped, denial *chain.Error) {
	policies, err := r.prober.Observer.AccessPolicies(ctx, r.target, m.entry.PrincipalARN)
	if err != nil {
		m.notRead("its access policies", err)
		return
	}
	rule, err := chain.ParseRule(denial.Facts[chain.FactRule])
	if err != nil {
		return
	}
	if len(policies) == 0 {
		if len(m.entry.Groups) == 0 && len(ownGroups(r.reviewed.Groups)) == 0 {
			denial.Reason = chain.ReasonAccessEntryWithoutPolicy
			denial.Detail += fmt.Sprintf("; the access entry of %s has neither an access policy nor a group", m.entry.PrincipalARN)
		}
		return
	}
	reason, why := judgePolicies(policies, rule)
	denial.Reason = reason
	denial.Detail += "; " + why
}

func judgePolicies(policies []chain.AccessPolicy, rule chain.Rule) (chain.Reason, string) {
	elsewhere, excluded := "", true
	var told []string
	for _, p := range policies {
		content, known := accessPolicies[p.Name()]
		excluded = excluded && known && !content.mentions(rule)
		allows := known && content.allows(rule)
		switch {
		case allows && p.Covers(rule.Namespace):
			return chain.ReasonDenied, fmt.Sprintf("the access policy %s of its entry should allow it: a change of policies takes effect after some time", p.Name())
		case allows && elsewhere == "":
			elsewhere = fmt.Sprintf("the access policy %s allows it, but only in %s", p.Name(), p.Scope())
		}
		told = append(told, fmt.Sprintf("%s in %s", p.Name(), p.Scope()))
	}
	list := strings.Join(told, ", ")
	switch {
	case elsewhere != "":
		return chain.ReasonAccessPolicyScope, elsewhere
	case excluded:
		return chain.ReasonAccessPolicyExcludesResource, "no access policy of its entry covers this resource (" + list + ")"
	}
	return chain.ReasonDenied, "its entry has the access policies " + list
}
