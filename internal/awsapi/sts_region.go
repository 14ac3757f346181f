// Dead keys or a region that refuses them: after InvalidClientTokenId the partition's home region is asked once, since STS uses one code for both.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// refine looks twice at credentials_invalid when the credentials are the source's own: sessions of the global endpoint, and keys of an account that has not opted in, are
// good elsewhere. Sessions of our own hops come from this very region and need no second look. Any other error comes back as it is.
func (c *Client) refine(ctx context.Context, session *Session, err error) error {
	var e *chain.Error
	_, home := regionPartition(session.region)
	if !errors.As(err, &e) || e.Reason != chain.ReasonCredentialsInvalid || !session.source || session.region == home {
		return err
	}
	seen := c.observe()
	there := func(o *sts.Options) { o.Region = home }
	if _, failed := session.calls.api.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, as(session.provider(), seen), there); failed != nil {
		return confirm(ctx, e, home, answerOf(failed, seen.seen()))
	}
	reason, what := chain.ReasonSTSRegionDisabled, "access key, so the account has not enabled the region"
	if session.credentials.SessionToken != "" {
		reason, what = chain.ReasonSessionTokenRegionInvalid, "session token, so it is one that this region does not take (a token of the global endpoint in an opt-in region, say)"
	}
	return chain.Fail(chain.StepSTS, reason, fmt.Sprintf("%s; the STS of %s accepts the same %s", e.Detail, home, what), e.Facts, e)
}

// confirm keeps credentials_invalid when the home region says the same. Without its word it stays open which of the causes it is, so the wider reason is told.
func confirm(ctx context.Context, e *chain.Error, home string, a answer) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case !a.stranger() && judgeSTS(opCaller, a).reason == chain.ReasonCredentialsInvalid:
		return e
	}
	detail := fmt.Sprintf("%s; whether the credentials are dead or this region alone refuses them is not known: the STS of %s, which would tell, could not be asked: %s", e.Detail, home, a.text())
	return chain.Fail(chain.StepSTS, chain.ReasonSTSError, chain.Redact(detail), e.Facts, e)
}
