// Step credentials: the configured source, and only that, yields credentials; later, GetCallerIdentity must show the expected principal.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (r *accessRun) credentials(ctx context.Context) (chain.Facts, error) {
	if r.target.Cluster.Region == "" {
		return nil, chain.Fail(chain.StepCredentials, chain.ReasonRegionUnset,
			fmt.Sprintf("the target %s has no region, so the STS host name has an empty label; AWS_REGION is not used", r.target.Name), nil, nil)
	}
	login, err := r.prober.Cloud.Login(ctx, LoginRequest{Identity: r.target.Identity, Region: r.target.Cluster.Region, RunID: r.id})
	if err != nil {
		return nil, err
	}
	r.login = login
	return login.Facts(), nil
}

// verifyPrincipal blames credentials when GetCallerIdentity showed somebody else: success as the wrong principal is a failure.
func (r *accessRun) verifyPrincipal() error {
	expected := r.target.Identity.Expected()
	if expected == "" || chain.SamePrincipal(expected, r.principal.ARN) {
		return nil
	}
	facts := chain.Facts{chain.FactExpectedPrincipal: expected, chain.FactCallerARN: r.principal.ARN, chain.FactPrincipal: r.principal.Canonical()}
	if chain.IsInstanceID(r.principal.SessionName()) && r.target.Identity.Source != chain.SourceInstanceProfile {
		return chain.Fail(chain.StepCredentials, chain.ReasonFellBackToNodeRole,
			fmt.Sprintf("signed as the node's role %s (session %s is an instance id), not as %s", r.principal.Canonical(), r.principal.SessionName(), expected), facts, nil)
	}
	return chain.Fail(chain.StepCredentials, chain.ReasonUnexpectedPrincipal,
		fmt.Sprintf("GetCallerIdentity says %s, not %s; the credentials work, but they are somebody else's", r.principal.ARN, expected), facts, nil)
}
