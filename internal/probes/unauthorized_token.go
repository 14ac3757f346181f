// Questions about the token after a 401: its end, the clock it was signed by, and what STS says to its presigned URL.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (i *inquiry) tokenEnded(context.Context) error {
	if err := tokenEnd(i.token, i.prober.Now()); err != nil {
		return err
	}
	i.rule("the token is valid until %s", i.token.Expires.UTC().Format(time.TimeOnly))
	return nil
}

// The tolerances of STS (15 minutes) and of its signature check for the future (5 minutes): facts of aws-iam-authenticator and of STS' own messages.
const (
	maxBehind = 15 * time.Minute
	maxAhead  = 5 * time.Minute
)

func (i *inquiry) clockDiffers(context.Context) error {
	if i.refused.Date.IsZero() {
		return nil
	}
	skew := i.prober.Now().Sub(i.refused.Date).Round(time.Second)
	i.facts[chain.FactClockSkew] = skew.String()
	if skew > maxAhead || -skew > maxBehind {
		return i.fail(chain.ReasonClockSkewPresigned, "the local clock is %s off the apiserver's, so the presigned URL in the token is outside its time", skew)
	}
	i.rule("the clock agrees with the apiserver's within %s", max(skew.Abs(), time.Second))
	return nil
}

// noCaller is what cannot be looked up without the caller's name.
const noCaller = "GetCallerIdentity was not answered, so whose mapping to look for is not known"

// stsRefuses replays the presigned URL, exactly as the authenticator does.
func (i *inquiry) stsRefuses(ctx context.Context) error {
	began := time.Now()
	principal, err := i.prober.Cloud.Replay(ctx, i.token, i.target.Cluster.Region)
	i.replayTook, i.throttled = time.Since(began), throttled(err)
	if err == nil {
		if i.principal.ARN == "" { // GetCallerIdentity was not answered
			i.callerIs(principal)
		}
		i.replayed, i.facts[chain.FactReplay] = chain.SamePrincipal(principal.ARN, i.principal.ARN), principal.ARN
		i.rule("STS accepts the presigned URL as %s", principal.ARN)
		return nil
	}
	e := chain.AsError(err)
	i.facts[chain.FactReplay] = string(e.Reason)
	refuses := func(step chain.Step, reason chain.Reason) error {
		return chain.Fail(step, reason, "STS refuses the presigned URL: "+e.Detail, e.Facts, e)
	}
	switch e.Reason {
	case chain.ReasonClockAhead, chain.ReasonClockBehind:
		return refuses(chain.StepAccessEntry, chain.ReasonClockSkewPresigned)
	case chain.ReasonTokenExpired:
		return refuses(chain.StepToken, chain.ReasonTokenExpired)
	case chain.ReasonCredentialsExpired:
		return refuses(chain.StepToken, chain.ReasonTokenSigningCredentialsExpired)
	case chain.ReasonCredentialsInvalid, chain.ReasonSignatureInvalid, chain.ReasonSessionTokenRegionInvalid, chain.ReasonSTSRegionDisabled, chain.ReasonSTSRegionScopeMismatch:
		return refuses(chain.StepSTS, e.Reason)
	}
	i.notRead("replaying the presigned URL", e)
	if i.principal.ARN == "" {
		i.unread = append(i.unread, noCaller)
	}
	return nil
}
