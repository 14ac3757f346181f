// Load balancers, listeners, rules, tags and attributes as the SDK reads them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

func TestDescribeLoadBalancers(t *testing.T) {
	a := newELBAccount(t)
	client := a.elbClient(t, testUser, testRegion)
	app := shopALB + " shop-alb application internet-facing active shop-alb-1.eu-west-1.elb.amazonaws.com eu-west-1a,eu-west-1b 2020-02-29T12:00:00Z"
	net := tcpNLB + " tcp-nlb network internal active_impaired tcp-nlb-1.elb.eu-west-1.amazonaws.com eu-west-1a 2025-01-02T03:04:05Z"
	for name, c := range map[string]struct {
		input elb.DescribeLoadBalancersInput
		want  []string
	}{
		"all":     {want: []string{app, net}},
		"by ARN":  {input: elb.DescribeLoadBalancersInput{LoadBalancerArns: []string{tcpNLB}}, want: []string{net}},
		"by name": {input: elb.DescribeLoadBalancersInput{Names: []string{"shop-alb"}}, want: []string{app}},
		"a page":  {input: elb.DescribeLoadBalancersInput{PageSize: aws.Int32(1)}, want: []string{app}},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := client.DescribeLoadBalancers(t.Context(), &c.input)
			must(t, err)
			var got []string
			for _, l := range output.LoadBalancers {
				var zones []string
				for _, z := range l.AvailabilityZones {
					zones = append(zones, *z.ZoneName)
				}
				got = append(got, fmt.Sprint(*l.LoadBalancerArn, " ", *l.LoadBalancerName, " ", l.Type, " ", l.Scheme, " ", l.State.Code, " ", *l.DNSName, " ", strings.Join(zones, ","), " ", l.CreatedTime.Format(time.RFC3339)))
			}
			wantSame(t, got, c.want)
			wantSame(t, output.NextMarker != nil, name == "a page")
		})
	}
}

func TestDescribeListenersAndRules(t *testing.T) {
	a := newELBAccount(t)
	client := a.elbClient(t, testUser, testRegion)
	for name, c := range map[string]struct {
		balancer string
		listener string
		rules    []string
	}{
		"application": {shopALB, "HTTPS 443 fixed-response 404", []string{"1 false [shop.example.test] forward " + shopGroup, "default true [] fixed-response 404"}},
		"network":     {tcpNLB, "TCP 443 forward " + tcpGroup, []string{"default true [] forward " + tcpGroup}},
	} {
		t.Run(name, func(t *testing.T) {
			listeners, err := client.DescribeListeners(t.Context(), &elb.DescribeListenersInput{LoadBalancerArn: &c.balancer})
			must(t, err)
			if len(listeners.Listeners) != 1 {
				t.Fatalf("%d listeners, want one", len(listeners.Listeners))
			}
			l := listeners.Listeners[0]
			wantSame(t, fmt.Sprint(l.Protocol, " ", *l.Port, " ", actionText(l.DefaultActions)), c.listener)
			rules, err := client.DescribeRules(t.Context(), &elb.DescribeRulesInput{ListenerArn: l.ListenerArn})
			must(t, err)
			var got []string
			for _, r := range rules.Rules {
				hosts := []string{}
				for _, condition := range r.Conditions {
					hosts = append(hosts, condition.Values...)
				}
				got = append(got, fmt.Sprint(*r.Priority, " ", *r.IsDefault, " ", hosts, " ", actionText(r.Actions)))
			}
			wantSame(t, got, c.rules)
		})
	}
}

func actionText(actions []types.Action) string {
	var list []string
	for _, a := range actions {
		text := string(a.Type) + " " + aws.ToString(a.TargetGroupArn)
		if a.FixedResponseConfig != nil {
			text += *a.FixedResponseConfig.StatusCode
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestELBTagsAndAttributes(t *testing.T) {
	a := newELBAccount(t)
	client := a.elbClient(t, testUser, testRegion)
	tags, err := client.DescribeTags(t.Context(), &elb.DescribeTagsInput{ResourceArns: []string{shopGroup, shopALB}})
	must(t, err)
	var got []string
	for _, d := range tags.TagDescriptions {
		for _, tag := range d.Tags {
			got = append(got, *d.ResourceArn+" "+*tag.Key+"="+*tag.Value)
		}
	}
	wantSame(t, got, []string{shopGroup + " env=prod", shopGroup + " team=shop"})
	wantSame(t, len(tags.TagDescriptions), 2)
	attributes, err := client.DescribeTargetGroupAttributes(t.Context(), &elb.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String(freeGroup)})
	must(t, err)
	byKey := map[string]string{}
	for _, attribute := range attributes.Attributes {
		byKey[*attribute.Key] = *attribute.Value
	}
	wantSame(t, []string{byKey["deregistration_delay.timeout_seconds"], byKey[minHealthyCount], byKey[minHealthyPercent]}, []string{"15", "1", "off"})
	ofBalancer, err := client.DescribeLoadBalancerAttributes(t.Context(), &elb.DescribeLoadBalancerAttributesInput{LoadBalancerArn: aws.String(shopALB)})
	must(t, err)
	for _, attribute := range ofBalancer.Attributes {
		byKey[*attribute.Key] = *attribute.Value
	}
	wantSame(t, byKey["idle_timeout.timeout_seconds"], "30")
}
