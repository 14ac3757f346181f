// Step sts: every AssumeRole hop for real, then GetCallerIdentity.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func (r *accessRun) sts(ctx context.Context) (chain.Facts, error) {
	session, err := r.login.Assume(ctx)
	if err != nil {
		return nil, err
	}
	r.session = session
	facts := session.Facts()
	if end := session.Expires(); !end.IsZero() {
		facts = facts.Merge(chain.Facts{chain.FactSessionExpires: end.UTC().Format(time.RFC3339)})
	}
	principal, err := session.Caller(ctx)
	if err != nil {
		return facts, err
	}
	r.principal = principal
	return facts.Merge(chain.Facts{
		chain.FactCallerARN: principal.ARN, chain.FactPrincipal: entryARN(r.target.Identity, r.principal), chain.FactSessionName: principal.SessionName(),
	}), nil
}
