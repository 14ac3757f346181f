// ELB's answers in the exporter's own types: groups, load balancers, the health of targets, attributes.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func groupInfo(group types.TargetGroup) chain.GroupInfo {
	info := chain.GroupInfo{
		ARN: aws.ToString(group.TargetGroupArn), Name: aws.ToString(group.TargetGroupName), TargetType: string(group.TargetType), Protocol: string(group.Protocol),
		Check: chain.HealthCheck{
			Enabled: aws.ToBool(group.HealthCheckEnabled), Protocol: string(group.HealthCheckProtocol), Port: aws.ToString(group.HealthCheckPort), Path: aws.ToString(group.HealthCheckPath),
			Interval: seconds(group.HealthCheckIntervalSeconds), Timeout: seconds(group.HealthCheckTimeoutSeconds),
			HealthyThreshold: inARow(group.HealthyThresholdCount), UnhealthyThreshold: inARow(group.UnhealthyThresholdCount),
		},
	}
	if matcher := group.Matcher; matcher != nil {
		info.Check.Matcher = cmp.Or(aws.ToString(matcher.HttpCode), aws.ToString(matcher.GrpcCode))
	}
	return info
}

// Bounds of a health check: times and thresholds far above ELB's (300 seconds, 10) are no news of the group, and their product would be no time.
const (
	longestCheck = 3600
	mostInARow   = 100
)

func seconds(n *int32) time.Duration {
	return time.Duration(min(max(aws.ToInt32(n), 0), longestCheck)) * time.Second
}

func inARow(n *int32) int { return int(min(max(aws.ToInt32(n), 0), mostInARow)) }

func loadBalancer(balancer types.LoadBalancer) chain.LoadBalancer {
	b := chain.LoadBalancer{
		ARN: aws.ToString(balancer.LoadBalancerArn), Name: aws.ToString(balancer.LoadBalancerName), Type: string(balancer.Type),
	}
	if state := balancer.State; state != nil {
		b.State = string(state.Code)
	}
	for _, zone := range balancer.AvailabilityZones {
		b.Zones = append(b.Zones, aws.ToString(zone.ZoneName))
	}
	return b
}

// targetHealth keeps states and codes as they are spelled, also those that it does not know. An empty list is an answer, none is not.
func targetHealth(descriptions []types.TargetHealthDescription) ([]chain.TargetHealth, error) {
	if descriptions == nil {
		return nil, malformed("it holds no list of targets")
	}
	all, words := make([]chain.TargetHealth, 0, len(descriptions)), map[string]bool{}
	for _, d := range descriptions {
		if d.Target == nil || aws.ToString(d.Target.Id) == "" || d.TargetHealth == nil || d.TargetHealth.State == "" {
			return nil, malformed("it holds a target without an id or a state")
		}
		t := describedTarget(d)
		all = append(all, t)
		if words[string(t.State)], words[t.Code] = true, true; len(words) > mostWords {
			return nil, malformed(fmt.Sprintf("it holds more than %d states and codes, of which ELB has some twenty", mostWords))
		}
	}
	return all, nil
}

// mostWords bounds the states and codes of an answer, each of which is a series, or a part of every text about the group: thrice as many as ELB has (ELBv2 API, TargetHealth).
const mostWords = 64

func describedTarget(d types.TargetHealthDescription) chain.TargetHealth {
	t := chain.TargetHealth{
		ID: chain.Redact(aws.ToString(d.Target.Id)), Port: aws.ToInt32(d.Target.Port), Zone: chain.Redact(aws.ToString(d.Target.AvailabilityZone)),
		State: chain.TargetState(chain.Redact(string(d.TargetHealth.State))), Code: chain.Redact(string(d.TargetHealth.Reason)), Description: chain.Redact(aws.ToString(d.TargetHealth.Description)),
	}
	if override := d.AdministrativeOverride; override != nil {
		t.Override = string(override.State)
	}
	if anomaly := d.AnomalyDetection; anomaly != nil {
		t.Anomalous, t.Mitigated = anomaly.Result == types.AnomalyResultEnumAnomalous, anomaly.MitigationInEffect == types.MitigationInEffectEnumYes
	}
	return t
}

// Attributes of a target group, with the defaults that ELB documents (ELBv2 API, TargetGroupAttribute).
const (
	minHealthyCount   = "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count"
	minHealthyPercent = "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage"
)

// groupAttributes reads the attributes that matter; "off" is 0.
func groupAttributes(list []types.TargetGroupAttribute) (chain.GroupAttributes, error) {
	if list == nil {
		return chain.GroupAttributes{}, malformed("it holds no list of attributes")
	}
	values := map[string]int{minHealthyCount: 1}
	for _, attribute := range list {
		key, value := aws.ToString(attribute.Key), aws.ToString(attribute.Value)
		switch key {
		case minHealthyCount, minHealthyPercent:
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil && value != "off" {
				return chain.GroupAttributes{}, malformed(chain.Redact(fmt.Sprintf("the attribute %s is %q, which is no number", key, value)))
			}
			values[key] = int(n)
		}
	}
	return chain.GroupAttributes{MinHealthyCount: values[minHealthyCount], MinHealthyPercent: values[minHealthyPercent]}, nil
}
