// EKS errors: the one place that turns what the EKS API answered the observer, or that it did not, into a reason.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The reads, as the EKS API names them.
const (
	opDescribeCluster     = "DescribeCluster"
	opDescribeAccessEntry = "DescribeAccessEntry"
	opListAccessEntries   = "ListAccessEntries"
)

// errNoEntry says that the cluster is known and the principal has no entry in it.
var errNoEntry = errors.New("the principal has no access entry")

// eksCall is what was asked, for the detail and the evidence.
type eksCall struct {
	operation, cluster, observer string
	facts                        chain.Facts
}

// sessionCodes are the codes that end the use of a kept session.
var sessionCodes = map[string]bool{
	"ExpiredTokenException": true, "ExpiredToken": true, "UnrecognizedClientException": true, "InvalidClientTokenId": true, "InvalidSignatureException": true, "SignatureDoesNotMatch": true,
}

// fail turns the end of a read into its reason, by this table. All but a missing cluster is unknown: the observer's trouble is not the identity's.
//
//	ResourceNotFoundException      on an entry, unless the text names the cluster → errNoEntry, else token/cluster_not_found
//	AccessDeniedException          → observer_denied
//	TooManyRequestsException, …    → eks_api_throttled
//	InvalidRequestException        on entries → not_measurable: the cluster's authentication mode has none
//	anything else, and no answer   → observer_unavailable
func (c eksCall) fail(ctx context.Context, a answer) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	facts := c.facts.Merge(a.facts())
	detail := chain.Redact(fmt.Sprintf("%s of the cluster %s as the observer %s: %s", c.operation, c.cluster, c.observer, a.text()))
	switch {
	case a.code == "ResourceNotFoundException" && c.missingCluster(a.message):
		return chain.Fail(chain.StepToken, chain.ReasonClusterNotFound, detail, facts, a.err)
	case a.code == "ResourceNotFoundException":
		return errNoEntry
	case a.throttled():
		return chain.Unsure(chain.ReasonEKSAPIThrottled, detail, facts, a.err)
	case a.code == "AccessDeniedException" || a.code == "AccessDenied":
		facts[chain.FactAction] = "eks:" + c.operation
		return chain.Unsure(chain.ReasonObserverDenied, detail, facts, a.err)
	case a.code == "InvalidRequestException" && c.operation != opDescribeCluster:
		return chain.Unsure(chain.ReasonNotMeasurable, detail, facts, a.err)
	}
	return chain.Unsure(chain.ReasonObserverUnavailable, detail, facts, a.err)
}

// missingCluster: DescribeAccessEntry answers the same code for a missing cluster and a missing entry, and the error's clusterName may be set for both; the text tells them apart.
func (c eksCall) missingCluster(message string) bool {
	return c.operation != opDescribeAccessEntry || strings.Contains(message, "No cluster found")
}

// overBudget: the run's time ends before the budget has a read for it.
func (c eksCall) overBudget(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return chain.Unsure(chain.ReasonEKSAPIThrottled, notSent(fmt.Sprintf("%s of the cluster %s", c.operation, c.cluster), "eks_reads_per_second"), c.facts, err)
}
