// Discovery at the ELB API: the target groups of a load balancer, and those that bear tags.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// tagsPerCall is the most that DescribeTags takes (ELBv2 API).
const tagsPerCall = 20

// groupTags are tags by the ARN of their group.
type groupTags map[string]map[string]string

// Groups lists the groups that a discovery by load balancer or by tags asks for, in ELB's order. A load balancer that ELB does not know is not_measurable, so that groups which were found
// behind it are not taken for never having been; every other error is the observer's.
func (c *Client) Groups(ctx context.Context, discovery chain.Discovery) ([]chain.GroupInfo, error) {
	r := c.discoveryReader(discovery)
	all, err := r.inventory(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case discovery.LoadBalancer != "":
		return r.behind(ctx, all, discovery.LoadBalancer)
	case len(discovery.Tags) > 0:
		return r.tagged(ctx, all, discovery.Tags)
	}
	return nil, fmt.Errorf("awsapi: the discovery %s names neither a load balancer nor tags", discovery.Name)
}

// discoveryReader takes from the budget of the account that the observer is expected to be in, else of the load balancer's.
func (c *Client) discoveryReader(discovery chain.Discovery) elbReader {
	r := c.groupReader(discovery.Template.Group)
	r.subject = "the discovery " + discovery.Name
	r.account = cmp.Or(chain.AccountOf(r.identity.Expected()), chain.AccountOf(discovery.LoadBalancer), r.account)
	return r
}

// behind lists the groups of a load balancer. Where there is none, ELB is asked whether there is such a load balancer.
func (r elbReader) behind(ctx context.Context, all *inventory, arn string) ([]chain.GroupInfo, error) {
	var found []chain.GroupInfo
	for _, group := range all.groups {
		if slices.Contains(group.balancers, arn) {
			found = append(found, group.info)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	known := map[string]chain.LoadBalancer{}
	return nil, r.loadBalancers(ctx, r.call(opDescribeLoadBalancers, "the load balancer "+arn), &elb.DescribeLoadBalancersInput{LoadBalancerArns: []string{arn}}, known)
}

// tagged lists the groups that bear every one of the tags.
func (r elbReader) tagged(ctx context.Context, all *inventory, wanted map[string]string) ([]chain.GroupInfo, error) {
	tags, err := r.client.kept.tagging.share(ctx, r.key(), func(ctx context.Context) (groupTags, error) { return r.tags(ctx, all) })
	if err != nil {
		return nil, r.waited(ctx, err)
	}
	var found []chain.GroupInfo
	for _, group := range all.groups {
		if bears(tags[group.info.ARN], wanted) {
			found = append(found, group.info)
		}
	}
	return found, nil
}

func bears(tags, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, ok := tags[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// tags reads the tags of every group that are not kept from before. What was read serves, also when a later call ends the discovery.
func (r elbReader) tags(ctx context.Context, all *inventory) (groupTags, error) {
	found, unread, key := groupTags{}, []string(nil), r.key()
	for _, group := range all.groups {
		if tags, ok := r.client.kept.tags.recent(key + " " + group.info.ARN); ok {
			found[group.info.ARN] = tags
		} else {
			unread = append(unread, group.info.ARN)
		}
	}
	for arns := range slices.Chunk(unread, tagsPerCall) {
		if err := r.readTags(ctx, arns, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readTags adds the tags of some groups, and keeps them. DescribeTags fails as a whole when one of its groups is gone, without saying which: then the halves are asked for.
func (r elbReader) readTags(ctx context.Context, arns []string, found groupTags) error {
	began := r.client.options.Now()
	err := r.read(ctx, r.call(opDescribeTags, fmt.Sprintf("%d target groups of %s", len(arns), r.region)), func(api *elb.Client) error {
		out, err := api.DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: arns})
		if err != nil {
			return err
		}
		if out.TagDescriptions == nil {
			return malformed("it holds no list of tags")
		}
		for _, description := range out.TagDescriptions {
			tags := map[string]string{}
			for _, tag := range description.Tags {
				tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
			}
			found[aws.ToString(description.ResourceArn)] = tags
		}
		return nil
	})
	switch half := len(arns) / 2; {
	case has(err, chain.ReasonTargetGroupMissing) && half == 0:
		return nil
	case has(err, chain.ReasonTargetGroupMissing):
		if err := r.readTags(ctx, arns[:half], found); err != nil {
			return err
		}
		return r.readTags(ctx, arns[half:], found)
	case err != nil:
		return err
	}
	key := r.key()
	for _, arn := range arns {
		r.client.kept.tags.put(key+" "+arn, found[arn], began)
	}
	return nil
}
