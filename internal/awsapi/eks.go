// The observer's reads of the EKS API: the cluster and its access entries.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Cluster asks DescribeCluster with the target's observer. A cluster that EKS does not know is a failure of the step token (cluster_not_found); every trouble of the observer is unknown.
func (c *Client) Cluster(ctx context.Context, target chain.Target) (chain.ClusterInfo, error) {
	var out *eks.DescribeClusterOutput
	err := c.read(ctx, target, opDescribeCluster, func(api *eks.Client) (err error) {
		out, err = api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(target.Cluster.EKSName)})
		return err
	})
	if err != nil {
		return chain.ClusterInfo{}, err
	}
	info, err := clusterInfo(out.Cluster)
	if err != nil {
		return chain.ClusterInfo{}, chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("reading the cluster %s in EKS' answer: %v", target.Cluster.EKSName, err), observerFacts(target), err)
	}
	info.Read = c.options.Now()
	return info, nil
}

// AccessEntry asks DescribeAccessEntry for a principal. found is false when EKS says there is none.
func (c *Client) AccessEntry(ctx context.Context, target chain.Target, principalARN string) (entry chain.AccessEntry, found bool, err error) {
	var out *eks.DescribeAccessEntryOutput
	err = c.read(ctx, target, opDescribeAccessEntry, func(api *eks.Client) (err error) {
		out, err = api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(target.Cluster.EKSName), PrincipalArn: aws.String(principalARN)})
		return err
	})
	if errors.Is(err, errNoEntry) {
		return chain.AccessEntry{}, false, nil
	}
	if err != nil {
		return chain.AccessEntry{}, false, err
	}
	e := out.AccessEntry
	if e == nil {
		return chain.AccessEntry{}, false, chain.Unsure(chain.ReasonObserverUnavailable, "reading EKS' answer to DescribeAccessEntry: it holds no entry", observerFacts(target), nil)
	}
	return chain.AccessEntry{
		PrincipalARN: aws.ToString(e.PrincipalArn), Username: aws.ToString(e.Username), Groups: e.KubernetesGroups,
		Type: aws.ToString(e.Type), Created: aws.ToTime(e.CreatedAt),
	}, true, nil
}

// AccessEntries lists the principal ARNs that have an entry; each page of a hundred is one read.
func (c *Client) AccessEntries(ctx context.Context, target chain.Target) ([]string, error) {
	var all []string
	in := &eks.ListAccessEntriesInput{ClusterName: aws.String(target.Cluster.EKSName)}
	for {
		var out *eks.ListAccessEntriesOutput
		err := c.read(ctx, target, opListAccessEntries, func(api *eks.Client) (err error) {
			out, err = api.ListAccessEntries(ctx, in)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, out.AccessEntries...)
		if aws.ToString(out.NextToken) == "" || aws.ToString(out.NextToken) == aws.ToString(in.NextToken) {
			return all, nil
		}
		in.NextToken = out.NextToken
	}
}

// read makes one call with the observer's session, within the budget.
func (c *Client) read(ctx context.Context, target chain.Target, operation string, call func(*eks.Client) error) error {
	if err := checkRegion(target.Cluster.Region); err != nil {
		return err
	}
	reader := clusterReader(target)
	session, err := c.observerSession(ctx, reader)
	if err != nil {
		return err
	}
	asked := eksCall{operation: operation, cluster: target.Cluster.EKSName, observer: reader.identity.Name, facts: reader.facts}
	if err := c.eksReads.wait(ctx, budgetAccount(target), reader.region); err != nil {
		return asked.overBudget(ctx, err)
	}
	seen := c.observe()
	if err := call(c.eks(reader.region, session.provider(), seen)); err != nil {
		a := answerOf(err, seen.seen())
		c.forgetRefused(reader, session, a)
		return asked.fail(ctx, a)
	}
	return nil
}

// budgetAccount names the account whose API rate a read uses up. Where the configuration does not tell it, the observer stands for it.
func budgetAccount(target chain.Target) string {
	if target.Cluster.AccountID != "" {
		return target.Cluster.AccountID
	}
	return "observer " + target.Observer.Name
}

func clusterInfo(cluster *types.Cluster) (chain.ClusterInfo, error) {
	if cluster == nil {
		return chain.ClusterInfo{}, errors.New("it holds no cluster")
	}
	info := chain.ClusterInfo{Name: aws.ToString(cluster.Name), ARN: aws.ToString(cluster.Arn), Status: string(cluster.Status), Endpoint: aws.ToString(cluster.Endpoint)}
	if authority := cluster.CertificateAuthority; authority != nil {
		pem, err := base64.StdEncoding.DecodeString(aws.ToString(authority.Data))
		if err != nil {
			return chain.ClusterInfo{}, errors.New("the certificate authority is not base64")
		}
		info.CA = pem
	}
	if access := cluster.AccessConfig; access != nil {
		info.AuthMode = string(access.AuthenticationMode)
	}
	if network := cluster.ResourcesVpcConfig; network != nil {
		info.PublicIPs, info.Public, info.Private = network.PublicAccessCidrs, network.EndpointPublicAccess, network.EndpointPrivateAccess
	}
	return info, nil
}
