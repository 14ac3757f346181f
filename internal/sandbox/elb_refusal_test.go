// Every refusal of the ELBv2 API, as the SDK hands it on.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

func askHealth(arn string, targets ...types.TargetDescription) func(*testing.T, *elb.Client) error {
	return func(t *testing.T, client *elb.Client) error {
		_, err := client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: &arn, Targets: targets})
		return err
	}
}

func askGroups(input elb.DescribeTargetGroupsInput) func(*testing.T, *elb.Client) error {
	return func(t *testing.T, client *elb.Client) error {
		_, err := client.DescribeTargetGroups(t.Context(), &input)
		return err
	}
}

func askBalancers(input elb.DescribeLoadBalancersInput) func(*testing.T, *elb.Client) error {
	return func(t *testing.T, client *elb.Client) error {
		_, err := client.DescribeLoadBalancers(t.Context(), &input)
		return err
	}
}

func askTags(arns ...string) func(*testing.T, *elb.Client) error {
	return func(t *testing.T, client *elb.Client) error {
		_, err := client.DescribeTags(t.Context(), &elb.DescribeTagsInput{ResourceArns: arns})
		return err
	}
}

func TestELBRefusals(t *testing.T) {
	register := func(t *testing.T, client *elb.Client) error {
		_, err := client.RegisterTargets(t.Context(), &elb.RegisterTargetsInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{{Id: aws.String("10.0.1.19")}}})
		return err
	}
	session := func(policy string) func(*awsAccount, *testing.T) aws.Credentials {
		return func(a *awsAccount, t *testing.T) aws.Credentials { return a.assume(t, deployARN, policy) }
	}
	const caller, gone = "User: arn:aws:sts::111122223333:assumed-role/ci-deploy/probe", "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/gone/0"
	const goneALB = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/gone/0"
	invalid := func(message string) awsAnswer { return awsAnswer{400, "ValidationError", message} }
	denied := func(message string) awsAnswer { return awsAnswer{403, "AccessDenied", message} }
	for name, c := range map[string]struct {
		call  func(*testing.T, *elb.Client) error
		fault func(*State)
		creds func(*awsAccount, *testing.T) aws.Credentials // the user's when nil
		want  awsAnswer
	}{
		"C71 no group":             {call: askHealth(gone), want: awsAnswer{400, "TargetGroupNotFound", "Target groups '" + gone + "' not found"}},
		"no group to list":         {call: askGroups(elb.DescribeTargetGroupsInput{TargetGroupArns: []string{shopGroup, gone}}), want: awsAnswer{400, "TargetGroupNotFound", "One or more target groups not found"}},
		"no group of the name":     {call: askGroups(elb.DescribeTargetGroupsInput{Names: []string{"shop", "far"}}), want: awsAnswer{400, "TargetGroupNotFound", "One or more target groups not found"}},
		"another region's":         {call: askHealth(farGroup), want: invalid("'" + farGroup + "' is not a valid target group ARN")},
		"another account's":        {call: askHealth(foreignGroup), want: invalid("'" + foreignGroup + "' is not a valid target group ARN")},
		"an ARN of another kind":   {call: askHealth(shopALB), want: invalid("'" + shopALB + "' is not a valid target group ARN")},
		"no ARN":                   {call: askGroups(elb.DescribeTargetGroupsInput{TargetGroupArns: []string{"shop"}}), want: invalid("'shop' is not a valid target group ARN")},
		"a port that is none":      {call: askHealth(shopGroup, types.TargetDescription{Id: aws.String("10.0.1.11"), Port: aws.Int32(70000)}), want: invalid("Port '70000' of target '10.0.1.11' must be between 1 and 65535")},
		"names and ARNs of groups": {call: askGroups(elb.DescribeTargetGroupsInput{Names: []string{"shop"}, TargetGroupArns: []string{shopGroup}}), want: invalid("Target group ARNs, target group names and a load balancer ARN cannot be specified at the same time")},
		"page too large":           {call: askGroups(elb.DescribeTargetGroupsInput{PageSize: aws.Int32(401)}), want: invalid("1 validation error detected: Value '401' at 'pageSize' failed to satisfy constraint: Member must have value less than or equal to 400")},
		"page too small":           {call: askGroups(elb.DescribeTargetGroupsInput{PageSize: aws.Int32(0)}), want: invalid("1 validation error detected: Value '0' at 'pageSize' failed to satisfy constraint: Member must have value greater than or equal to 1")},
		"marker of another kind":   {call: askGroups(elb.DescribeTargetGroupsInput{Marker: aws.String("?")}), want: invalid("Invalid marker")},
		"no load balancer":         {call: askBalancers(elb.DescribeLoadBalancersInput{Names: []string{"shop-alb", "gone"}}), want: awsAnswer{400, "LoadBalancerNotFound", "Load balancers '[gone]' not found"}},
		"groups of none":           {call: askGroups(elb.DescribeTargetGroupsInput{LoadBalancerArn: aws.String(goneALB)}), want: awsAnswer{400, "LoadBalancerNotFound", "Load balancers '[" + goneALB + "]' not found"}},
		"load balancer by a bad ARN": {
			call: askBalancers(elb.DescribeLoadBalancersInput{LoadBalancerArns: []string{shopGroup}}), want: invalid("'" + shopGroup + "' is not a valid load balancer ARN"),
		},
		"21 load balancers": {
			call: askBalancers(elb.DescribeLoadBalancersInput{Names: slices.Repeat([]string{"shop-alb"}, 21)}), want: invalid("Up to 20 load balancers can be described in a single call, not 21"),
		},
		"names and ARNs of load balancers": {
			call: askBalancers(elb.DescribeLoadBalancersInput{Names: []string{"shop-alb"}, LoadBalancerArns: []string{shopALB}}),
			want: invalid("Load balancer ARNs and load balancer names cannot be specified at the same time"),
		},
		"tags of 21":               {call: askTags(slices.Repeat([]string{shopGroup}, 21)...), want: invalid("The number of resource ARNs must be between 1 and 20, not 21")},
		"tags of no group":         {call: askTags(shopGroup, gone), want: awsAnswer{400, "TargetGroupNotFound", "Target groups '" + gone + "' not found"}},
		"tags of no load balancer": {call: askTags(goneALB), want: awsAnswer{400, "LoadBalancerNotFound", "Load balancers '[" + goneALB + "]' not found"}},
		"tags of a far group":      {call: askTags(farGroup), want: invalid("'" + farGroup + "' is not a valid target group ARN")},
		"not allowed": {
			call: askHealth(shopGroup), fault: func(s *State) { s.Roles[deployARN].ReadsELB = false }, creds: session(""),
			want: denied(caller + " is not authorized to perform: elasticloadbalancing:DescribeTargetHealth because no identity-based policy allows the elasticloadbalancing:DescribeTargetHealth action"),
		},
		"a session that may do naught": {
			call: askHealth(shopGroup), creds: session(denyAll),
			want: denied(caller + " is not authorized to perform: elasticloadbalancing:DescribeTargetHealth with an explicit deny in a session policy"),
		},
		"a session for other things": {
			call: askGroups(elb.DescribeTargetGroupsInput{}), creds: session(`{"Statement":{"Effect":"Allow","Action":"eks:*","Resource":"*"}}`),
			want: denied(caller + " is not authorized to perform: elasticloadbalancing:DescribeTargetGroups because no session policy allows the elasticloadbalancing:DescribeTargetGroups action"),
		},
		"a reader that registers": {
			call: register, creds: session(""),
			want: denied(caller + " is not authorized to perform: elasticloadbalancing:RegisterTargets on resource: " + shopGroup + " because no identity-based policy allows the elasticloadbalancing:RegisterTargets action"),
		},
		"C73 throttled": {call: askHealth(shopGroup), fault: func(s *State) { s.Throttle["DescribeTargetHealth"] = true }, want: awsAnswer{400, "Throttling", "Rate exceeded"}},
		"another call throttled": {
			call: askHealth(gone), fault: func(s *State) { s.Throttle["DescribeTags"] = true }, want: awsAnswer{400, "TargetGroupNotFound", "Target groups '" + gone + "' not found"},
		},
		"failing": {call: askHealth(shopGroup), fault: func(s *State) { s.Failing["DescribeTargetHealth"] = true }, want: awsAnswer{500, "InternalFailure", errInternal.Message}},
		"refused": {call: askHealth(shopGroup), fault: func(s *State) { s.Refuse["DescribeTargetHealth"] = Refusal{"OperationNotPermitted", "no"} }, want: awsAnswer{403, "OperationNotPermitted", "no"}},
		"an unknown key": {
			call: askHealth(shopGroup), creds: func(*awsAccount, *testing.T) aws.Credentials {
				return aws.Credentials{AccessKeyID: "AKIANOBODY", SecretAccessKey: "x"}
			},
			want: awsAnswer{403, "InvalidClientTokenId", errInvalidToken.Message},
		},
		"an operation that is not served": {
			call: func(t *testing.T, client *elb.Client) error {
				_, err := client.DescribeSSLPolicies(t.Context(), &elb.DescribeSSLPoliciesInput{})
				return err
			},
			want: awsAnswer{400, "InvalidAction", "Could not find operation DescribeSSLPolicies for version 2015-12-01"},
		},
		"rules of no listener": {
			call: func(t *testing.T, client *elb.Client) error {
				_, err := client.DescribeRules(t.Context(), &elb.DescribeRulesInput{ListenerArn: aws.String(strings.Replace(shopALB, ":loadbalancer/", ":listener/", 1) + "/0")})
				return err
			},
			want: awsAnswer{400, "ListenerNotFound", "One or more listeners not found"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newELBAccount(t)
			if c.fault != nil {
				a.state.Change(c.fault)
			}
			creds := testUser
			if c.creds != nil {
				creds = c.creds(a, t)
			}
			wantAnswer(t, c.call(t, a.elbClient(t, creds, testRegion)), c.want)
		})
	}
}

// A refusal and a throttle of the API are counted with their codes.
func TestELBCallsAreRecorded(t *testing.T) {
	a := newELBAccount(t)
	client := a.elbClient(t, testUser, testRegion)
	_, err := client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)})
	must(t, err)
	_, err = client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(farGroup)})
	if err == nil {
		t.Error("a group of another region was described")
	}
	wantSame(t, a.state.Calls, []Call{{"elasticloadbalancing", "DescribeTargetHealth", ""}, {"elasticloadbalancing", "DescribeTargetHealth", "ValidationError"}})
}
