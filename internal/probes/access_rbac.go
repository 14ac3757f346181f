// Step rbac: one access review for each allow and deny rule, all at once, then the dry-run writes that the reviews cannot vouch for.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// answer is what one question to the cluster came to.
type answer struct {
	rule     chain.Rule
	deny     bool
	decision chain.Decision
	err      error
}

// rbac asks everything that the target declares. What is proven goes before what could not be told.
func (r *accessRun) rbac(ctx context.Context) (chain.Facts, error) {
	asked := len(r.target.Allow) + len(r.target.Deny)
	if asked+len(r.target.DryRun) == 0 {
		return nil, errNothingAsked
	}
	facts := chain.Facts{chain.FactRulesChecked: strconv.Itoa(asked + len(r.target.DryRun))}
	answers := r.reviewRules(ctx)
	if err := r.judge(answers); err != nil {
		return facts, err
	}
	untold, err := r.untold(answers)
	if err != nil {
		return facts, err
	}
	for _, write := range r.target.DryRun {
		unknown, err := r.untold([]answer{{rule: write.Rule, err: r.conn.DryRun(ctx, r.token, write)}})
		if err != nil {
			return facts, err
		}
		untold = cmp.Or(untold, unknown)
	}
	return facts, untold
}

// untold goes through the questions that brought no decision, and returns the first failure among their errors, else the first unknown.
func (r *accessRun) untold(answers []answer) (unknown, failure error) {
	for _, a := range answers {
		if a.err == nil {
			continue
		}
		err := r.unanswered(a)
		if chain.AsError(err).Outcome == chain.OutcomeFailure {
			return nil, err
		}
		unknown = cmp.Or(unknown, err)
	}
	return unknown, nil
}

// reviewRules asks every rule at once: they share the connection, so together they cost one round trip.
func (r *accessRun) reviewRules(ctx context.Context) []answer {
	var answers []answer
	for _, rule := range r.target.Allow {
		answers = append(answers, answer{rule: rule})
	}
	for _, rule := range r.target.Deny {
		answers = append(answers, answer{rule: rule, deny: true})
	}
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() { answers[i].decision, answers[i].err = r.conn.Access(ctx, r.token, answers[i].rule) })
	}
	wait.Wait()
	return answers
}

// judge names the first rule that is not as declared, and counts the others. A missing right goes before an excess one: it is what stops a deploy.
func (r *accessRun) judge(answers []answer) error {
	var missing, excess []answer
	for _, a := range answers {
		switch {
		case a.err != nil:
		case !a.deny && !a.decision.Allowed:
			missing = append(missing, a)
		case a.deny && a.decision.Allowed:
			excess = append(excess, a)
		}
	}
	switch {
	case len(missing) > 0:
		first := missing[0]
		reason, why := chain.ReasonDenied, strings.TrimSpace(first.decision.Reason+" "+first.decision.Error)
		detail := fmt.Sprintf("%s may not %s%s", r.who(), first.rule, others(missing))
		if role := first.decision.MissingRole; role != "" {
			reason = chain.ReasonRBACRoleNotFound
			detail += fmt.Sprintf(": a binding names %s, which does not exist", role)
		}
		if why != "" {
			detail += " (" + why + ")"
		}
		return chain.Fail(chain.StepRBAC, reason, detail, ruleFacts(first.rule, why), nil)
	case len(excess) > 0:
		first := excess[0]
		return chain.Fail(chain.StepRBAC, chain.ReasonExcessPermission, fmt.Sprintf("%s may %s, which must be denied%s (%s)", r.who(), first.rule, others(excess), first.decision.Reason),
			ruleFacts(first.rule, first.decision.Reason), nil)
	}
	return nil
}

// unanswered turns a review that brought no decision into an error with a reason. The token was accepted a moment ago, so a 401 here is no mapping fault.
func (r *accessRun) unanswered(a answer) error {
	var refused *Unauthorized
	switch {
	case errors.As(a.err, &refused):
		if err := tokenEnd(r.token, r.prober.Now()); err != nil {
			return err
		}
		return chain.Fail(chain.StepAccessEntry, chain.ReasonUnauthorizedUnexplained,
			fmt.Sprintf("the token was accepted at first and refused when asking whether it may %s: apiservers behind the endpoint disagree", a.rule), nil, refused)
	case errors.Is(a.err, context.DeadlineExceeded):
		return chain.Fail(chain.StepEndpoint, chain.ReasonHTTPTimeout, fmt.Sprintf("the apiserver stopped answering when asked whether the identity may %s", a.rule), nil, a.err)
	}
	var e *chain.Error
	if errors.As(a.err, &e) && e.Step == chain.StepRBAC {
		e.Facts = ruleFacts(a.rule, "").Merge(e.Facts)
	}
	return a.err
}

func (r *accessRun) who() string {
	if r.reviewed.Silent {
		return "the identity"
	}
	return "user " + strconv.Quote(r.reviewed.Username)
}

func others(answers []answer) string {
	if len(answers) == 1 {
		return ""
	}
	var rules []string
	for _, a := range answers[1:] {
		rules = append(rules, a.rule.String())
	}
	return ", nor is it as declared for: " + strings.Join(rules, "; ")
}

func ruleFacts(rule chain.Rule, why string) chain.Facts {
	return chain.Facts{
		chain.FactRule: rule.String(), chain.FactVerb: rule.Verb, chain.FactGroup: rule.Group, chain.FactResource: rule.Resource,
		chain.FactNamespace: rule.Namespace, chain.FactWhy: why,
	}
}
