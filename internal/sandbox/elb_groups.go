// Target groups as the ELBv2 API describes them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"slices"
)

const elbVPC = "vpc-0123456789abcdef0" // of everything

// elbGroup is a target group in an answer.
type elbGroup struct {
	TargetGroupArn             string
	TargetGroupName            string
	Protocol                   string
	ProtocolVersion            string `xml:",omitempty"`
	Port                       int32
	VpcID                      string `xml:"VpcId"`
	TargetType                 string
	IPAddressType              string `xml:"IpAddressType"`
	LoadBalancerArns           members[string]
	HealthCheckEnabled         bool
	HealthCheckProtocol        string
	HealthCheckPort            string
	HealthCheckPath            string `xml:",omitempty"`
	HealthCheckIntervalSeconds int
	HealthCheckTimeoutSeconds  int
	HealthyThresholdCount      int
	UnhealthyThresholdCount    int
	Matcher                    *elbMatcher
}

type elbMatcher struct {
	HTTPCode string `xml:"HttpCode"`
}

func (g *TargetGroup) describe(balancer *LoadBalancer) elbGroup {
	described := elbGroup{
		TargetGroupArn: g.ARN, TargetGroupName: g.Name(), Protocol: g.Protocol, Port: g.Port, VpcID: elbVPC, TargetType: g.TargetType, IPAddressType: "ipv4",
		HealthCheckEnabled: g.Check.Enabled, HealthCheckProtocol: cmp.Or(g.Check.Protocol, g.Protocol), HealthCheckPort: cmp.Or(g.Check.Port, trafficPort),
		HealthCheckPath:            g.Check.Path,
		HealthCheckIntervalSeconds: int(cmp.Or(g.Check.Interval, defaultInterval).Seconds()),
		HealthCheckTimeoutSeconds:  int(cmp.Or(g.Check.Timeout, defaultTimeout).Seconds()),
		HealthyThresholdCount:      cmp.Or(g.Check.HealthyThreshold, defaultHealthyThreshold),
		UnhealthyThresholdCount:    cmp.Or(g.Check.UnhealthyThreshold, defaultUnhealthyThreshold),
	}
	if balancer != nil {
		described.LoadBalancerArns.Member = []string{balancer.ARN}
	}
	if g.http() {
		described.ProtocolVersion, described.Matcher = "HTTP1", &elbMatcher{cmp.Or(g.Check.Matcher, defaultMatcher)}
	}
	return described
}

// http reports whether an application load balancer takes the group.
func (g *TargetGroup) http() bool { return g.Protocol == "HTTP" || g.Protocol == "HTTPS" }

func (s *State) describeTargetGroups(c elbCall) (any, *awsError) {
	forwarding := s.ELB.forwarding()
	arns, fault := s.groupsAsked(c, forwarding)
	if fault != nil {
		return nil, fault
	}
	page, next, fault := c.page(arns)
	if fault != nil {
		return nil, fault
	}
	answer := struct {
		TargetGroups members[elbGroup]
		NextMarker   string `xml:",omitempty"`
	}{NextMarker: next}
	for _, arn := range page {
		answer.TargetGroups.Member = append(answer.TargetGroups.Member, s.ELB.groups[arn].describe(forwarding[arn]))
	}
	return answer, nil
}

// groupsAsked are the ARNs, sorted, of the groups that a call asks for: by ARN, by name, by load balancer, or all. Only one of these may be given.
func (s *State) groupsAsked(c elbCall, forwarding map[string]*LoadBalancer) ([]string, *awsError) {
	arns, names, balancer := listOf(c.form, "TargetGroupArns"), listOf(c.form, "Names"), c.form.Get("LoadBalancerArn")
	if len(arns) > 0 && len(names) > 0 || balancer != "" && len(arns)+len(names) > 0 {
		return nil, elbInvalid("Target group ARNs, target group names and a load balancer ARN cannot be specified at the same time")
	}
	if balancer != "" {
		return s.groupsBehind(c, forwarding)
	}
	for _, arn := range arns {
		if fault := c.invalid("target group", arn); fault != nil {
			return nil, fault
		}
	}
	asked, missing := choose(c, s.ELB.groups, slices.Concat(arns, names))
	if len(missing) > 0 {
		return nil, groupNotFound("One or more target groups not found")
	}
	return asked, nil
}

// groupsBehind are the ARNs, sorted, of the groups that the call's load balancer forwards to.
func (s *State) groupsBehind(c elbCall, forwarding map[string]*LoadBalancer) ([]string, *awsError) {
	balancer, fault := s.balancer(c)
	if fault != nil {
		return nil, fault
	}
	var behind []string
	for arn := range s.ELB.groups {
		if forwarding[arn] == balancer {
			behind = append(behind, arn)
		}
	}
	slices.Sort(behind)
	return behind, nil
}

// elbAttributes is the answer of the two calls for attributes.
type elbAttributes struct{ Attributes members[elbPair] }

func (s *State) describeTargetGroupAttributes(c elbCall) (any, *awsError) {
	g, fault := s.group(c)
	if fault != nil {
		return nil, fault
	}
	return elbAttributes{pairsOf(withDefaults(groupDefaults, g.Attributes))}, nil
}
