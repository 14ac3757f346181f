// Kinds of public reports of load balancers beyond the collected cases, told as scenes: what the neighbour of a case must not be mistaken for.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

var albKinds = map[string]caseRow{
	"the binding names the node port (#3689)": {target: "web", happen: albWorld(sandbox.SceneWebGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.TargetGroup.Targets = nil
		service(o, "web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 1080 })
	}), want: "failure registration/no_ready_endpoints", detail: "no port 80, which the binding names; its ports are: 1080 (http)"},
	"endpoints of IPv6, and a binding of IPv4": {target: "shop", happen: albWorld(sandbox.SceneShopGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.TargetGroup.Targets = nil
		endpoints(o, func(s *discoveryv1.EndpointSlice) {
			s.AddressType = discoveryv1.AddressTypeIPv6
			for i := range s.Endpoints {
				s.Endpoints[i].Addresses = []string{fmt.Sprintf("2001:db8::%d", i+1)}
			}
		})
	}), want: "failure registration/no_ready_endpoints", detail: "the other address family"},
	"no container names the service's target port": {target: "shop", happen: albWorld(sandbox.SceneShopGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.TargetGroup.Targets = nil
		endpoints(o, func(s *discoveryv1.EndpointSlice) { s.Ports = nil })
	}), want: "failure registration/no_ready_endpoints", detail: "no container names the target port"},
	"the controller cannot assume its own role": {target: "shop", happen: warned(
		"Failed reconcile due to operation error Elastic Load Balancing v2: DescribeTargetHealth, get identity: get credentials: operation error STS: AssumeRoleWithWebIdentity, https response error " +
			"StatusCode: 403, RequestID: 1, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"), want: "failure registration/controller_access_denied", detail: "sts:AssumeRoleWithWebIdentity"},
	"the group is in another VPC than the pods": {target: "shop", happen: warned(
		"Failed reconcile due to operation error Elastic Load Balancing v2: RegisterTargets, https response error StatusCode: 400, RequestID: 1, api error ValidationError: The IP address '10.0.1.11' is not within the VPC"),
		want: "failure registration/no_targets", detail: "newest warning says: Failed reconcile due to"},
}

func TestALBKinds(t *testing.T) { tryCases(t, albKinds) }

// albWorld changes a group and prod's objects together.
func albWorld(group string, change func(sandbox.GroupView, *sandbox.Objects)) func(*testing.T, *sandbox.Scene) {
	return func(_ *testing.T, s *sandbox.Scene) {
		s.State.Change(func(st *sandbox.State) { change(st.TargetGroup(group), &st.Clusters["prod"].Objects) })
	}
}

// warned empties the group shop, and the controller has said why.
func warned(message string) func(*testing.T, *sandbox.Scene) {
	return albWorld(sandbox.SceneShopGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.TargetGroup.Targets = nil
		o.Report(chain.BindingRef{Namespace: "shop", Name: "shop"}, "FailedReconcile", message, time.Now().Add(-time.Minute).Truncate(time.Second))
	})
}

func service(o *sandbox.Objects, name string, change func(*corev1.Service)) {
	s := o.Services["shop/"+name].DeepCopy()
	change(s)
	o.Services["shop/"+name] = s
}

func endpoints(o *sandbox.Objects, change func(*discoveryv1.EndpointSlice)) {
	s := o.EndpointSlices["shop/shop-x7k2p"].DeepCopy()
	change(s)
	o.EndpointSlices["shop/shop-x7k2p"] = s
}
