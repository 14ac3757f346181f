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

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (r *accessRun) review(ctx context.Context) (chain.Facts, error) {
	review, err := r.conn.Review(ctx, r.token)
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

// explainRefusal finds out why the review was refused, or why it was not answered.
func (r *accessRun) explainRefusal(ctx context.Context, failed error) (chain.Facts, error) {
	var refused *Unauthorized
	switch {
	case errors.As(failed, &refused):
		r.prober.controls.refused(r.target)
		return explainUnauthorized(ctx, r, refused)
	case errors.Is(failed, context.DeadlineExceeded):
		return nil, r.explainSilence(ctx)
	}
	return nil, failed
}

// explainSilence tells an authenticator that hangs from an apiserver that does: only the request with a token stays unanswered.
func (r *accessRun) explainSilence(ctx context.Context) error {
	conn, _, err := r.prober.APIServer.Dial(ctx, r.endpoint)
	if err != nil {
		return chain.Fail(chain.StepEndpoint, chain.ReasonHTTPTimeout, "the apiserver answered /readyz at first, then neither the review nor /readyz again", nil, err)
	}
	conn.Close()
	return chain.Fail(chain.StepAccessEntry, chain.ReasonAuthenticatorUnavailable,
		"the apiserver answers requests without a token, but not the review of this token: the webhook that authenticates it hangs", nil, nil)
}

func (r *accessRun) checkMapping() error {
	expect, got := r.target.Expect, r.reviewed
	if want := r.expandUsername(expect.Username); want != "" && got.Username != "" && want != got.Username {
		return chain.Fail(chain.StepAccessEntry, chain.ReasonUnexpectedUsername, fmt.Sprintf("mapped to the user %q, not %q", got.Username, want),
			chain.Facts{chain.FactExpectedUsername: want}, nil)
	}
	if expect.Groups == nil || got.Username == "" {
		return nil
	}
	missing, extra := difference(expect.Groups, got.Groups), difference(got.Groups, append([]string{"system:authenticated"}, expect.Groups...))
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

// expandUsername fills the templates of a mapping as the authenticator does: {{SessionName}} has @ written as -, {{SessionNameRaw}} has not.
func (r *accessRun) expandUsername(template string) string {
	session := r.principal.SessionName()
	return strings.NewReplacer(
		"{{SessionName}}", strings.ReplaceAll(session, "@", "-"),
		"{{SessionNameRaw}}", session,
		"{{AccountID}}", r.principal.AccountID,
	).Replace(template)
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
