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
		return err
	}
	reason, what := chain.ReasonSTSRegionDisabled, "access key, so the account has not enabled the region"
	if session.credentials.SessionToken != "" {
		reason, what = chain.ReasonSessionTokenRegionInvalid, "session token, so it is one that this region does not take (a token of the global endpoint in an opt-in region, say)"
	}
	return chain.Fail(chain.StepSTS, reason, fmt.Sprintf("%s; the STS of %s accepts the same %s", e.Detail, home, what), e.Facts, e)
}
