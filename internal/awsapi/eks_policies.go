// The observer's read of the access policies that are associated with an access entry.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const opListAccessPolicies = "ListAssociatedAccessPolicies"

// AccessPolicies lists the access policies of a principal's entry, each with its scope. A page is one read. Errors are those of Cluster.
func (c *Client) AccessPolicies(ctx context.Context, target chain.Target, principalARN string) ([]chain.AccessPolicy, error) {
	var all []chain.AccessPolicy
	in := &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(target.Cluster.EKSName), PrincipalArn: aws.String(principalARN)}
	for {
		var out *eks.ListAssociatedAccessPoliciesOutput
		err := c.read(ctx, target, opListAccessPolicies, func(api *eks.Client) (err error) {
			out, err = api.ListAssociatedAccessPolicies(ctx, in)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, policy := range out.AssociatedAccessPolicies {
			all = append(all, accessPolicy(policy))
		}
		if aws.ToString(out.NextToken) == "" || aws.ToString(out.NextToken) == aws.ToString(in.NextToken) {
			return all, nil
		}
		in.NextToken = out.NextToken
	}
}

// accessPolicy keeps the namespaces of the scope namespace alone: that of the cluster has none.
func accessPolicy(policy types.AssociatedAccessPolicy) chain.AccessPolicy {
	p := chain.AccessPolicy{ARN: aws.ToString(policy.PolicyArn)}
	if scope := policy.AccessScope; scope != nil && scope.Type == types.AccessScopeTypeNamespace {
		p.Namespaces = scope.Namespaces
	}
	return p
}
