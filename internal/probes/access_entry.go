// Step access_entry: present the token; the cluster must map the principal to the expected user and groups.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (r *accessRun) review(ctx context.Context) (chain.Facts, error) {
	began := time.Now()
	review, err := r.conn.Review(ctx, r.token)
	r.reviewTook = time.Since(began)
	if err != nil {
		return nil, err
	}
	if review.Anonymous() {
		return nil, chain.Fail(chain.StepToken, chain.ReasonTokenNotSent,
			"the apiserver saw system:anonymous: the bearer token did not reach it, so something between here and the cluster drops the Authorization header",
			chain.Facts{chain.FactUsername: review.Username}, nil)
	}
	r.reviewed, r.authenticated = review, true
	r.prober.controls.accepted(r.target)
	facts := chain.Facts{chain.FactUsername: review.Username, chain.FactGroups: strings.Join(review.Groups, ",")}
	return facts, r.checkMapping()
}

// explainRefusal finds out why the review was refused, why it was not answered, or why it shows another mapping than declared. A refusal by the server of a former cluster is none: the present one
// is asked.
func (r *accessRun) explainRefusal(ctx context.Context, failed error) (chain.Facts, error) {
	facts, failed := r.reviewMoved(ctx, failed)
	if failed == nil {
		return facts, nil
	}
	found, err := r.explainReview(ctx, failed)
	return facts.Merge(found), err
}

func (r *accessRun) explainReview(ctx context.Context, failed error) (chain.Facts, error) {
	var refused *Unauthorized
	var e *chain.Error
	switch {
	case errors.As(failed, &refused):
		r.prober.controls.refused(r.target)
		return explainUnauthorized(ctx, r, refused)
	case errors.Is(failed, context.DeadlineExceeded):
		return nil, r.explainSilence(ctx)
	case errors.As(failed, &e) && (e.Reason == chain.ReasonUnexpectedUsername || e.Reason == chain.ReasonUnexpectedGroups):
		return nil, r.explainMapping(ctx, e)
	}
	return nil, failed
}

// explainSilence tells an authenticator that hangs from an apiserver that does: only the request with a token stays unanswered. A webhook that is asked again and again (see webhookRetries) can
// outlast the run, so STS is asked for its own word.
func (r *accessRun) explainSilence(ctx context.Context) error {
	if ctx.Err() != nil {
		return chain.Unsure(chain.ReasonReadFailed, "the review was not answered, and the run's time was over before it could be asked whether the apiserver answers anything", nil, ctx.Err())
	}
	conn, _, err := r.prober.APIServer.Dial(ctx, r.endpoint)
	if err != nil {
		if chain.AsError(err).Outcome != chain.OutcomeFailure {
			return err
		}
		return chain.Fail(chain.StepEndpoint, chain.ReasonHTTPTimeout, "the apiserver answered /readyz at first, then neither the review nor /readyz again", nil, err)
	}
	conn.Close()
	const silent = "the apiserver answers requests without a token, but not the review of this token"
	if _, err := r.prober.Cloud.Replay(ctx, r.token, r.target.Cluster.Region); throttled(err) {
		return chain.Fail(chain.StepAccessEntry, chain.ReasonAuthenticatorThrottled, silent+"; STS throttles its presigned URL, which the cluster's authenticator has to present",
			chain.Facts{chain.FactReplay: string(chain.ReasonSTSThrottled)}, nil)
	}
	return chain.Fail(chain.StepAccessEntry, chain.ReasonAuthenticatorUnavailable, silent+": the webhook that authenticates it hangs", nil, nil)
}

// throttled reports whether an error is STS' throttling.
func throttled(err error) bool {
	return err != nil && chain.AsError(err).Reason == chain.ReasonSTSThrottled
}

func (r *accessRun) checkMapping() error {
	expect, got := r.target.Expect, r.reviewed
	if got.Silent {
		return nil
	}
	if want := r.render(expect.Username); want != got.Username && expect.Username != "" && !unrendered(want) {
		return chain.Fail(chain.StepAccessEntry, chain.ReasonUnexpectedUsername, fmt.Sprintf("mapped to the user %q, not %q", got.Username, want),
			chain.Facts{chain.FactExpectedUsername: want}, nil)
	}
	if expect.Groups == nil {
		return nil
	}
	missing, extra := difference(expect.Groups, got.Groups), difference(ownGroups(got.Groups), expect.Groups)
	if len(missing) == 0 && len(extra) == 0 {
		return nil
	}
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "without the expected "+strings.Join(missing, ", "))
	}
	if len(extra) > 0 {
		parts = append(parts, "with the unexpected "+strings.Join(extra, ", "))
	}
	return chain.Fail(chain.StepAccessEntry, chain.ReasonUnexpectedGroups, fmt.Sprintf("mapped to the user %q %s", got.Username, strings.Join(parts, " and ")),
		chain.Facts{chain.FactExpectedGroups: strings.Join(expect.Groups, ","), chain.FactMissingGroups: strings.Join(missing, ",")}, nil)
}

// render fills the templates of a mapping as the authenticator does: {{SessionName}} has @ written as -, {{SessionNameRaw}} has not. Without a known caller they stay as they are.
func (r *accessRun) render(template string) string {
	if r.principal.ARN == "" {
		return template
	}
	session := r.principal.SessionName()
	return strings.NewReplacer(
		"{{SessionName}}", strings.ReplaceAll(session, "@", "-"),
		"{{SessionNameRaw}}", session,
		"{{AccountID}}", r.principal.AccountID,
	).Replace(template)
}

// unrendered reports whether a name holds templates that could not be filled here, so that nothing can be said of it.
func unrendered(name string) bool { return strings.Contains(name, "{{") }

// ownGroups are the groups that a mapping gave: the apiserver adds system:authenticated by itself.
func ownGroups(groups []string) []string {
	return difference(groups, []string{"system:authenticated"})
}

// difference returns what is in a and not in b, in order.
func difference(a, b []string) []string {
	var only []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			only = append(only, x)
		}
	}
	return only
}

// sameSet reports whether two lists hold the same, in any order.
func sameSet(a, b []string) bool { return len(difference(a, b)) == 0 && len(difference(b, a)) == 0 }
