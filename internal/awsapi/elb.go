// The observer's reads of the ELB API: one call each, within the budget; the health of a group's targets, and the group's attributes.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// How long what was read serves. What a group is and which load balancers it has is asked for in every run; its attributes and tags hardly ever change.
const (
	keepInventory  = time.Minute
	keepAttributes = 10 * time.Minute
	keepTags       = 5 * time.Minute
)

// elbKept is what was read of the ELB API and still serves; its keys begin with the reader's.
type elbKept struct {
	inventories *keptReads[*inventory]
	lone        *keptReads[chain.GroupInfo]
	attributes  *keptReads[chain.GroupAttributes]
	tags        *keptReads[map[string]string]
	tagging     *underWay[groupTags]
}

func newELBKept(now func() time.Time) elbKept {
	return elbKept{
		inventories: newKeptReads[*inventory](now, keepInventory),
		lone:        newKeptReads[chain.GroupInfo](now, keepInventory),
		attributes:  newKeptReads[chain.GroupAttributes](now, keepAttributes),
		tags:        newKeptReads[map[string]string](now, keepTags),
		tagging:     &underWay[groupTags]{what: "the tags that another run reads"},
	}
}

// elbReader reads the ELB API as an observer, and takes from one account's budget.
type elbReader struct {
	reader
	client  *Client
	account string // whose API rate is used up; "observer NAME" where it is not known
}

func (c *Client) groupReader(group chain.TargetGroup) elbReader {
	return elbReader{client: c, account: group.Pool(), reader: reader{
		identity: observing(group.Observer), region: group.Region, api: "ELB", subject: "the target group " + cmp.Or(group.Name, group.ARN),
		facts: chain.Facts{chain.FactObserver: group.Observer.Name, chain.FactRegion: group.Region},
	}}
}

// call describes a read, for its errors.
func (r elbReader) call(operation, of string) elbCall {
	return elbCall{operation: operation, of: of, observer: r.identity.Name, facts: r.facts}
}

// groupCall describes a read of one group by its ARN.
func (r elbReader) groupCall(operation, arn string) elbCall {
	call := r.call(operation, "the target group "+arn)
	call.shapeless = !groupARNShape.MatchString(arn)
	return call
}

// read makes one call with the observer's session, within the budget. An answer that ask calls malformed is told as such.
func (r elbReader) read(ctx context.Context, call elbCall, ask func(*elb.Client) error) error {
	c := r.client
	session, err := c.observerSession(ctx, r.reader)
	if err != nil {
		return err
	}
	if err := c.elbReads.wait(ctx, r.account, r.region); err != nil {
		return call.overBudget(ctx, err)
	}
	seen := c.observe()
	err = ask(c.elb(r.region, session.provider(), seen))
	if _, ok := errors.AsType[malformed](err); ok {
		return call.malformed(err)
	}
	if err != nil {
		a := answerOf(err, seen.seen())
		c.forgetRefused(r.reader, session, a)
		return call.fail(ctx, a)
	}
	return nil
}

func (c *Client) elb(region string, credentials aws.CredentialsProvider, seen *observation) *elb.Client {
	return elb.NewFromConfig(c.base, func(o *elb.Options) {
		o.Region, o.Credentials = region, credentials
		o.APIOptions = append(o.APIOptions, seen.attach)
	})
}

// waited turns the end of a wait for another run's read into its reason; other errors have theirs.
func (r elbReader) waited(ctx context.Context, err error) error {
	if err == nil || errors.As(err, new(*chain.Error)) {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("reading ELB as the observer %s: %v", r.identity.Name, err), r.facts, err)
}

// Health asks DescribeTargetHealth, anew each time. A group that ELB does not know is a failure of the step registration (target_group_missing); every trouble of the observer is unknown.
func (c *Client) Health(ctx context.Context, target chain.Target, groupARN string) ([]chain.TargetHealth, error) {
	r := c.groupReader(target.Group)
	var health []chain.TargetHealth
	err := r.read(ctx, r.groupCall(opDescribeTargetHealth, groupARN), func(api *elb.Client) error {
		out, err := api.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{
			TargetGroupArn: aws.String(groupARN), Include: []types.DescribeTargetHealthInputIncludeEnum{types.DescribeTargetHealthInputIncludeEnumAll},
		})
		if err != nil {
			return err
		}
		health, err = targetHealth(out.TargetHealthDescriptions)
		return err
	})
	if err != nil {
		return nil, r.outdated(target.Group, groupARN, err)
	}
	return health, nil
}

// Attributes asks DescribeTargetGroupAttributes; the answer serves for ten minutes. Errors are those of Health.
func (c *Client) Attributes(ctx context.Context, target chain.Target, groupARN string) (chain.GroupAttributes, error) {
	r := c.groupReader(target.Group)
	attributes, err := c.kept.attributes.get(ctx, r.key()+" "+groupARN, func(ctx context.Context) (attributes chain.GroupAttributes, err error) {
		err = r.read(ctx, r.groupCall(opDescribeGroupAttributes, groupARN), func(api *elb.Client) error {
			out, err := api.DescribeTargetGroupAttributes(ctx, &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String(groupARN)})
			if err != nil {
				return err
			}
			attributes, err = groupAttributes(out.Attributes)
			return err
		})
		return attributes, err
	})
	if err != nil {
		return chain.GroupAttributes{}, r.outdated(target.Group, groupARN, r.waited(ctx, err))
	}
	return attributes, nil
}

// outdated: a group that is known by its name may have been made anew since its ARN was read, so that one which is gone says nothing of the name. It is looked for again.
func (r elbReader) outdated(group chain.TargetGroup, arn string, err error) error {
	if group.ARN != "" || !has(err, chain.ReasonTargetGroupMissing) {
		return err
	}
	r.client.kept.inventories.drop(r.key())
	r.client.kept.lone.drop(r.key() + " " + group.Name)
	return chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("the target group %s, which bore the name %s within the last minute, is gone; the next run looks for the name anew", arn, group.Name), r.facts, err)
}
