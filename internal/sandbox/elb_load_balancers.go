// Load balancers as the ELBv2 API describes them: with their zones, state and attributes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// elbBalancer is a load balancer in an answer.
type elbBalancer struct {
	LoadBalancerArn       string
	LoadBalancerName      string
	DNSName               string
	CanonicalHostedZoneID string `xml:"CanonicalHostedZoneId"`
	CreatedTime           string
	Scheme                string
	VpcID                 string `xml:"VpcId"`
	State                 struct{ Code string }
	Type                  string
	IPAddressType         string `xml:"IpAddressType"`
	AvailabilityZones     members[elbZone]
}

type elbZone struct {
	ZoneName string
	SubnetID string `xml:"SubnetId"`
}

func (l *LoadBalancer) describe() elbBalancer {
	created := l.Created
	if created.IsZero() {
		created = longAgo
	}
	described := elbBalancer{
		LoadBalancerArn: l.ARN, LoadBalancerName: l.Name(), DNSName: l.DNSName, CanonicalHostedZoneID: "Z32O12XQLNTSW2", CreatedTime: created.UTC().Format(time.RFC3339),
		Scheme: l.Scheme, VpcID: elbVPC, Type: l.Type, IPAddressType: "ipv4",
	}
	described.State.Code = cmp.Or(l.Status, chain.LoadBalancerActive)
	for _, zone := range l.Zones {
		described.AvailabilityZones.Member = append(described.AvailabilityZones.Member, elbZone{zone, "subnet-" + zone})
	}
	return described
}

func (s *State) describeLoadBalancers(c elbCall) (any, *awsError) {
	arns, fault := s.balancersAsked(c)
	if fault != nil {
		return nil, fault
	}
	page, next, fault := c.page(arns)
	if fault != nil {
		return nil, fault
	}
	answer := struct {
		LoadBalancers members[elbBalancer]
		NextMarker    string `xml:",omitempty"`
	}{NextMarker: next}
	for _, arn := range page {
		answer.LoadBalancers.Member = append(answer.LoadBalancers.Member, s.ELB.balancers[arn].describe())
	}
	return answer, nil
}

// balancersAsked are the ARNs, sorted, of the load balancers that a call asks for: by ARN, by name, or all.
func (s *State) balancersAsked(c elbCall) ([]string, *awsError) {
	arns, names := listOf(c.form, "LoadBalancerArns"), listOf(c.form, "Names")
	if len(arns) > elbMaxARNs || len(names) > elbMaxARNs {
		return nil, elbInvalid("Up to %d load balancers can be described in a single call, not %d", elbMaxARNs, len(arns)+len(names))
	}
	if len(arns) > 0 && len(names) > 0 {
		return nil, elbInvalid("Load balancer ARNs and load balancer names cannot be specified at the same time")
	}
	for _, arn := range arns {
		if fault := c.invalid("load balancer", arn); fault != nil {
			return nil, fault
		}
	}
	asked, missing := choose(c, s.ELB.balancers, slices.Concat(arns, names))
	if len(missing) > 0 {
		return nil, balancerNotFound(missing...)
	}
	return asked, nil
}

func (s *State) describeLoadBalancerAttributes(c elbCall) (any, *awsError) {
	l, fault := s.balancer(c)
	if fault != nil {
		return nil, fault
	}
	return elbAttributes{pairsOf(l.attributes())}, nil
}
