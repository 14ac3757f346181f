// Source default: the SDK's own chain of providers, used only where the configuration names it.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func openDefault(ctx context.Context, l *Login) (opened, error) {
	facts := chain.Facts{chain.FactProvider: "default"}
	credentials, seen, err := l.resolve(ctx)
	if err != nil {
		return l.unopened(ctx, seen, err, facts)
	}
	facts[chain.FactProvider] = "default: " + credentials.Source
	return opened{credentials: credentials, facts: facts}, nil
}
