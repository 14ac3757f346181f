// The load balancer of the scene: shop-alb, with the target groups shop, of pods, and web, of nodes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The load balancer of the scene and its target groups. A host name leads to the loopback load balancer through the scene's DNS.
const (
	SceneLoadBalancer = "arn:aws:elasticloadbalancing:" + SceneRegion + ":" + SceneAccount + ":loadbalancer/app/shop-alb/50dc6c495c0c9188"
	SceneShopGroup    = "arn:aws:elasticloadbalancing:" + SceneRegion + ":" + SceneAccount + ":targetgroup/shop/0123456789abcdef"
	SceneWebGroup     = "arn:aws:elasticloadbalancing:" + SceneRegion + ":" + SceneAccount + ":targetgroup/web/fedcba9876543210"
	SceneShopHost     = "shop.example.test"
	SceneWebHost      = "web.example.test"

	// SceneOtherZone is a zone of the VPC that no load balancer has enabled.
	SceneOtherZone = "eu-west-1c"

	zoneA, zoneB   = "eu-west-1a", "eu-west-1b"
	elbURLVariable = "AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2"
)

// addSceneLoadBalancers puts the load balancer into the account, with targets that have been healthy for long.
func addSceneLoadBalancers(st *State) {
	since := st.now().Add(-time.Hour)
	target := func(id string, port int32, zone string) *RegisteredTarget {
		return &RegisteredTarget{ID: id, Port: port, Zone: zone, Registered: since}
	}
	check := chain.HealthCheck{
		Enabled: true, Protocol: "HTTP", Port: trafficPort, Path: "/healthz", Matcher: "200", Interval: 5 * time.Second, Timeout: 2 * time.Second, HealthyThreshold: 2, UnhealthyThreshold: 2,
	}
	tags := map[string]string{"elbv2.k8s.aws/cluster": "prod", "team": "shop"}
	st.ELB.AddGroups(
		&TargetGroup{
			ARN: SceneShopGroup, Protocol: "HTTP", Port: 8080, TargetType: chain.TargetTypeIP, Check: check, Tags: tags,
			Targets: []*RegisteredTarget{target("10.0.1.11", 8080, zoneA), target("10.0.2.12", 8080, zoneB), target("10.0.1.13", 8080, zoneA)},
		},
		&TargetGroup{
			ARN: SceneWebGroup, Protocol: "HTTP", Port: 30080, TargetType: chain.TargetTypeInstance, Check: check, Tags: tags,
			Targets: []*RegisteredTarget{target("i-0aaaaaaaaaaaaaaa1", 30080, zoneA), target("i-0bbbbbbbbbbbbbbb2", 30080, zoneB)},
		},
	)
	listener := func(protocol string, port int32) *Listener {
		return &Listener{Protocol: protocol, Port: port, Rules: []ListenerRule{{SceneShopHost, SceneShopGroup}, {SceneWebHost, SceneWebGroup}}}
	}
	st.ELB.AddLoadBalancers(&LoadBalancer{
		ARN: SceneLoadBalancer, Type: chain.LoadBalancerApplication, Scheme: "internet-facing", DNSName: "shop-alb-1234567890." + SceneRegion + ".elb.amazonaws.com",
		Zones: []string{zoneA, zoneB}, Created: since, Listeners: []*Listener{listener("HTTPS", 443), listener("HTTP", 80)},
	})
}

// loadBalancers starts the API, and the load balancer itself.
func (s *Scene) loadBalancers() error {
	elb, err := NewELB(s.State, s.CA)
	if s.ELB, err = start(s, elb, err); err != nil {
		return err
	}
	alb, err := NewALB(s.State, s.CA, SceneLoadBalancer)
	s.ALB, err = start(s, alb, err)
	return err
}
