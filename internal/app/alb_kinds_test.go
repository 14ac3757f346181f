// Kinds of public reports of load balancers beyond the collected cases, told as scenes: what the neighbour of a case must not be mistaken for.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

var albKinds = map[string]caseRow{
	"the binding names the node port (#3689)": {target: "web", happen: albWorld(sandbox.SceneWebGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.Targets = nil
		service(o, "web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 1080 })
	}), want: "failure registration/no_ready_endpoints", detail: "no port 80, which the binding names; its ports are: 1080 (http)"},
	"endpoints of IPv6, and a binding of IPv4": {target: "shop", happen: albWorld(sandbox.SceneShopGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.Targets = nil
		endpoints(o, func(s *discoveryv1.EndpointSlice) {
			s.AddressType = discoveryv1.AddressTypeIPv6
			for i := range s.Endpoints {
				s.Endpoints[i].Addresses = []string{fmt.Sprintf("2001:db8::%d", i+1)}
			}
		})
	}), want: "failure registration/no_ready_endpoints", detail: "the other address family"},
	"no container names the service's target port": {target: "shop", happen: albWorld(sandbox.SceneShopGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.Targets = nil
		endpoints(o, func(s *discoveryv1.EndpointSlice) { s.Ports = nil })
	}), want: "failure registration/no_ready_endpoints", detail: "no container names the target port"},
	"the controller cannot assume its own role": {target: "shop", happen: warned(
		"Failed reconcile due to operation error Elastic Load Balancing v2: DescribeTargetHealth, get identity: get credentials: operation error STS: AssumeRoleWithWebIdentity, https response error " +
			"StatusCode: 403, RequestID: 1, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"), want: "failure registration/controller_access_denied", detail: "sts:AssumeRoleWithWebIdentity"},
	"the group is in another VPC than the pods": {target: "shop", happen: warned(
		"Failed reconcile due to operation error Elastic Load Balancing v2: RegisterTargets, https response error StatusCode: 400, RequestID: 1, api error ValidationError: The IP address '10.0.1.11' is not within the VPC"),
		want: "failure registration/no_targets", detail: "newest warning says: Failed reconcile due to"},
	"C66 pods are registered, and their security group was not opened": {target: "shop", happen: both(checks(sandbox.CheckSilence, 0), albWorld(sandbox.SceneShopGroup, func(_ sandbox.GroupView, o *sandbox.Objects) {
		o.Report(chain.BindingRef{Namespace: "shop", Name: "shop"}, "FailedNetworkReconcile",
			"expected exactly one securityGroup tagged with kubernetes.io/cluster/prod for eni eni-0123456789abcdef0, got: [sg-0aa sg-0bb] (clusterName: prod)", minutesAgo(1))
	})), want: "failure registration/tgb_network_reconcile_failed", detail: "got: [sg-0aa sg-0bb]"},
	"a rollout that the controller did not see (#2459)": {target: "shop", happen: both(checks(sandbox.CheckSilence, 0), newPods),
		want: "failure registration/no_targets", detail: "targets that the cluster does not have (3 unhealthy (Target.Timeout 3)); 3 endpoints"},
	"an application that does not answer, in the cluster": {target: "shop", happen: checks(sandbox.CheckSilence, 0), want: "failure health/all_unhealthy_fail_open"},
	"the service became one of type ClusterIP": {target: "web", happen: albWorld(sandbox.SceneWebGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.Pin(sandbox.PinnedHealth{State: chain.TargetUnhealthy, Code: chain.CodeFailedHealthChecks})
		service(o, "web", func(s *corev1.Service) { s.Spec.Type, s.Spec.Ports[0].NodePort = corev1.ServiceTypeClusterIP, 0 })
	}), want: "failure registration/service_type_mismatch", detail: "(ClusterIP) has no node port"},
	"a group of instances, and only Fargate nodes (#2132)": {target: "web", happen: albWorld(sandbox.SceneWebGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.Targets = nil
		for name, n := range o.Nodes {
			n = n.DeepCopy()
			n.Spec.ProviderID, n.Labels["eks.amazonaws.com/compute-type"] = "aws:///eu-west-1a/0123456789-abc/fargate-"+name, "fargate"
			o.Nodes[name] = n
		}
	}), want: "failure registration/no_targets", detail: "Fargate"},
	"traffic stays local, and few nodes have a pod (#913)": {target: "web", happen: albWorld(sandbox.SceneWebGroup, func(v sandbox.GroupView, o *sandbox.Objects) {
		v.Pin(sandbox.PinnedHealth{State: chain.TargetUnhealthy, Code: chain.CodeTimeout}, "i-0bbbbbbbbbbbbbbb2")
		service(o, "web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
	}), adjust: func(t *chain.Target) { t.Group.MinHealthy = 2 }, want: "failure health/below_min_healthy", detail: "externalTrafficPolicy of service web is Local"},
	"every instance is stopped": {target: "web", happen: albWorld(sandbox.SceneWebGroup, func(v sandbox.GroupView, _ *sandbox.Objects) {
		v.Pin(sandbox.PinnedHealth{State: chain.TargetUnused, Code: chain.CodeInvalidState})
	}), want: "failure health/below_min_healthy", detail: "2 unused (Target.InvalidState 2)"},
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
		v.Targets = nil
		o.Report(chain.BindingRef{Namespace: "shop", Name: "shop"}, "FailedReconcile", message, minutesAgo(1))
	})
}

func both(first, second func(*testing.T, *sandbox.Scene)) func(*testing.T, *sandbox.Scene) {
	return func(t *testing.T, s *sandbox.Scene) {
		first(t, s)
		second(t, s)
	}
}

func minutesAgo(n time.Duration) time.Time {
	return time.Now().Add(-n * time.Minute).Truncate(time.Second)
}

// newPods replaces every pod of shop by one with another address, ready for ten minutes.
func newPods(_ *testing.T, s *sandbox.Scene) {
	s.State.Change(func(st *sandbox.State) {
		o := &st.Clusters["prod"].Objects
		for name, pod := range o.Pods {
			pod = pod.DeepCopy()
			pod.Status.PodIP = strings.Replace(pod.Status.PodIP, "10.0.", "10.0.1", 1)
			for i := range pod.Status.Conditions {
				pod.Status.Conditions[i].LastTransitionTime = metav1.NewTime(minutesAgo(10))
			}
			o.Pods[name] = pod
		}
		endpoints(o, func(slice *discoveryv1.EndpointSlice) {
			for i := range slice.Endpoints {
				slice.Endpoints[i].Addresses = []string{strings.Replace(slice.Endpoints[i].Addresses[0], "10.0.", "10.0.1", 1)}
			}
		})
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
