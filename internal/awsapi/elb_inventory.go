// The inventory: every target group and load balancer that an observer can see in a region, read once a minute for all runs.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	pageSize = 400 // the most that ELB allows
	maxPages = 50  // of a list: 20,000 groups, where ELB allows 3,000 in a region
)

// inventory is never changed once it is read.
type inventory struct {
	groups    []listedGroup  // in ELB's order
	arns      map[string]int // places in groups
	names     map[string]int
	balancers map[string]chain.LoadBalancer
}

// listedGroup is a group, and the ARNs of its load balancers, also of those that were gone when they were read.
type listedGroup struct {
	info      chain.GroupInfo
	balancers []string
}

// find looks for a group by its ARN, or by its name where no ARN is known.
func (i *inventory) find(wanted chain.TargetGroup) (chain.GroupInfo, bool) {
	place, ok := i.arns[wanted.ARN]
	if wanted.ARN == "" {
		place, ok = i.names[wanted.Name]
	}
	if !ok {
		return chain.GroupInfo{}, false
	}
	return i.groups[place].info, true
}

// Group finds the target's group by its ARN or its name, with its load balancers. The answer is shared, and at most a minute old. A group that is not on the list is asked for alone: only
// ELB's own word makes it missing, since the list holds neither groups of other accounts nor those that were made since. Errors are those of Health.
func (c *Client) Group(ctx context.Context, target chain.Target) (chain.GroupInfo, error) {
	r, wanted := c.groupReader(target.Group), cmp.Or(target.Group.ARN, target.Group.Name)
	if wanted == "" {
		return chain.GroupInfo{}, chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("the target %s names no target group to ask ELB for", target.Name), r.facts, nil)
	}
	all, err := r.inventory(ctx)
	if err != nil {
		return chain.GroupInfo{}, err
	}
	if info, ok := all.find(target.Group); ok {
		return info, nil
	}
	info, err := c.kept.lone.get(ctx, r.key()+" "+wanted, func(ctx context.Context) (chain.GroupInfo, error) { return r.lone(ctx, target.Group, all) })
	return info, r.waited(ctx, err)
}

func (r elbReader) inventory(ctx context.Context) (*inventory, error) {
	all, err := r.client.kept.inventories.get(ctx, r.key(), r.readInventory)
	return all, r.waited(ctx, err)
}

// readInventory reads the groups first: a load balancer that is made or deleted meanwhile is told as the later answer has it.
func (r elbReader) readInventory(ctx context.Context) (*inventory, error) {
	groups, err := r.targetGroups(ctx, r.call(opDescribeTargetGroups, "the target groups of "+r.region), &elb.DescribeTargetGroupsInput{PageSize: aws.Int32(pageSize)})
	if err != nil {
		return nil, err
	}
	all := &inventory{groups: groups, arns: map[string]int{}, names: map[string]int{}, balancers: map[string]chain.LoadBalancer{}}
	attached := false
	for i, group := range groups {
		all.arns[group.info.ARN], all.names[group.info.Name] = i, i
		attached = attached || len(group.balancers) > 0
	}
	if !attached {
		return all, nil
	}
	err = r.loadBalancers(ctx, r.call(opDescribeLoadBalancers, "the load balancers of "+r.region), &elb.DescribeLoadBalancersInput{PageSize: aws.Int32(pageSize)}, all.balancers)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		groups[i].attach(all.balancers)
	}
	return all, nil
}

// attach gives the group its load balancers, but for those that are gone.
func (g *listedGroup) attach(known map[string]chain.LoadBalancer) {
	for _, arn := range g.balancers {
		if balancer, ok := known[arn]; ok {
			g.info.LoadBalancers = append(g.info.LoadBalancers, balancer)
		}
	}
}

// lone asks for one group, and for those of its load balancers that the inventory does not hold.
func (r elbReader) lone(ctx context.Context, wanted chain.TargetGroup, all *inventory) (chain.GroupInfo, error) {
	call, in := r.groupCall(opDescribeTargetGroups, wanted.ARN), &elb.DescribeTargetGroupsInput{TargetGroupArns: []string{wanted.ARN}}
	if wanted.ARN == "" {
		call, in = r.call(opDescribeTargetGroups, "the target group "+wanted.Name), &elb.DescribeTargetGroupsInput{Names: []string{wanted.Name}}
		call.shapeless = !groupNameShape.MatchString(wanted.Name)
	}
	groups, err := r.targetGroups(ctx, call, in)
	if err != nil {
		return chain.GroupInfo{}, err
	}
	if len(groups) != 1 || wanted.ARN != "" && groups[0].info.ARN != wanted.ARN || wanted.ARN == "" && groups[0].info.Name != wanted.Name {
		return chain.GroupInfo{}, call.malformed(malformed(fmt.Sprintf("it holds %d target groups, not the one that was asked for", len(groups))))
	}
	known, unknown := map[string]chain.LoadBalancer{}, []string(nil)
	for _, arn := range groups[0].balancers {
		if balancer, ok := all.balancers[arn]; ok {
			known[arn] = balancer
		} else {
			unknown = append(unknown, arn)
		}
	}
	if len(unknown) > 0 {
		err := r.loadBalancers(ctx, r.call(opDescribeLoadBalancers, "the load balancers of "+call.of), &elb.DescribeLoadBalancersInput{LoadBalancerArns: unknown}, known)
		if err != nil && !has(err, chain.ReasonNotMeasurable) { // which is: deleted since
			return chain.GroupInfo{}, err
		}
	}
	groups[0].attach(known)
	return groups[0].info, nil
}

func (r elbReader) targetGroups(ctx context.Context, call elbCall, in *elb.DescribeTargetGroupsInput) ([]listedGroup, error) {
	var all []listedGroup
	seen := map[string]bool{}
	read := r.client.options.Now()
	err := r.pages(ctx, call, func(api *elb.Client, marker *string) (next *string, err error) {
		in.Marker = marker
		out, err := api.DescribeTargetGroups(ctx, in)
		if err != nil {
			return nil, err
		}
		if out.TargetGroups == nil {
			return nil, malformed("it holds no list of target groups")
		}
		for _, group := range out.TargetGroups {
			arn := aws.ToString(group.TargetGroupArn)
			if !groupARNShape.MatchString(arn) {
				return nil, malformed(chain.Redact(fmt.Sprintf("it holds a target group whose ARN is %q", arn)))
			}
			if !seen[arn] { // a list that changes between two pages may tell one twice
				seen[arn], all = true, append(all, r.listed(group, read))
			}
		}
		return out.NextMarker, nil
	})
	return all, err
}

func (r elbReader) listed(group types.TargetGroup, read time.Time) listedGroup {
	info := groupInfo(group)
	info.Region, info.Read = r.region, read
	return listedGroup{info, group.LoadBalancerArns}
}

// loadBalancers adds to what is known, by ARN.
func (r elbReader) loadBalancers(ctx context.Context, call elbCall, in *elb.DescribeLoadBalancersInput, known map[string]chain.LoadBalancer) error {
	return r.pages(ctx, call, func(api *elb.Client, marker *string) (next *string, err error) {
		in.Marker = marker
		out, err := api.DescribeLoadBalancers(ctx, in)
		if err != nil {
			return nil, err
		}
		if out.LoadBalancers == nil {
			return nil, malformed("it holds no list of load balancers")
		}
		for _, balancer := range out.LoadBalancers {
			known[aws.ToString(balancer.LoadBalancerArn)] = loadBalancer(balancer)
		}
		return out.NextMarker, nil
	})
}

// pages asks for one page after the other; each is a read. A list whose marker comes again has ended.
func (r elbReader) pages(ctx context.Context, call elbCall, ask func(api *elb.Client, marker *string) (next *string, err error)) error {
	var marker *string
	for range maxPages {
		var next *string
		err := r.read(ctx, call, func(api *elb.Client) (err error) {
			next, err = ask(api, marker)
			return err
		})
		if err != nil {
			return err
		}
		if aws.ToString(next) == "" || aws.ToString(next) == aws.ToString(marker) {
			return nil
		}
		marker = next
	}
	return call.malformed(malformed(fmt.Sprintf("the list has more than %d pages", maxPages)))
}
