// What is behind a binding, change by change: services, EndpointSlices and nodes as the AWS Load Balancer Controller would choose from them.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const shopSlice = "shop/shop-x7k2p"

var (
	ofShop = chain.Binding{BindingRef: shopRef, TargetType: "ip", Service: "shop", Port: "80"}
	ofWeb  = chain.Binding{BindingRef: webRef, TargetType: "instance", Service: "web", Port: "80"}

	shopEndpoints = []chain.Endpoint{
		{Address: "10.0.1.11", Port: 8080, Ready: true, Pod: "shop-1", Node: "node-a", Zone: "eu-west-1a"},
		{Address: "10.0.2.12", Port: 8080, Ready: true, Pod: "shop-2", Node: "node-b", Zone: "eu-west-1b"},
		{Address: "10.0.1.13", Port: 8080, Ready: true, Pod: "shop-3", Node: "node-a", Zone: "eu-west-1a"},
	}
)

func TestBackends(t *testing.T) {
	s := newSceneReader(t)
	got, err := s.Backends(t.Context(), s.reads, ofShop)
	must(t, err)
	wantSame(t, got, chain.Backends{Service: chain.Service{Found: true, Type: "ClusterIP", Selector: app}, Endpoints: shopEndpoints})
	got, err = s.Backends(t.Context(), s.reads, ofWeb)
	must(t, err)
	wantSame(t, got, chain.Backends{
		Service: chain.Service{Found: true, Type: "NodePort", NodePort: 30080, Selector: map[string]string{"app": "web"}},
		Nodes: []chain.Node{
			{Name: "node-a", InstanceID: "i-0aaaaaaaaaaaaaaa1", Zone: "eu-west-1a", Ready: true, Created: s.made()},
			{Name: "node-b", InstanceID: "i-0bbbbbbbbbbbbbbb2", Zone: "eu-west-1b", Ready: true, Created: s.made()},
		},
	})
}

func TestBackendsService(t *testing.T) {
	for name, test := range map[string]struct {
		port   string
		change func(*sandbox.Objects)
		want   chain.Service
		some   bool // endpoints
	}{
		"by the port's name":  {"http", func(*sandbox.Objects) {}, chain.Service{Found: true, Type: "ClusterIP", Selector: app}, true},
		"no such port":        {"81", func(*sandbox.Objects) {}, chain.Service{Found: true, Type: "ClusterIP", Selector: app, Ports: []string{"80 (http)"}}, false},
		"a name like no port": {"80x", func(*sandbox.Objects) {}, chain.Service{Found: true, Type: "ClusterIP", Selector: app, Ports: []string{"80 (http)"}}, false},
		"no port at all": {"80", func(o *sandbox.Objects) { o.Services["shop/shop"].Spec.Ports = nil },
			chain.Service{Found: true, Type: "ClusterIP", Selector: app, Ports: []string{}}, false},
		"no service": {"80", func(o *sandbox.Objects) { delete(o.Services, "shop/shop") }, chain.Service{}, false},
		"headless": {"80", func(o *sandbox.Objects) { o.Services["shop/shop"].Spec.ClusterIP = corev1.ClusterIPNone },
			chain.Service{Found: true, Type: "ClusterIP", Selector: app}, true},
		"without selector": {"80", func(o *sandbox.Objects) { o.Services["shop/shop"].Spec.Selector = nil }, chain.Service{Found: true, Type: "ClusterIP"}, true},
		"local traffic alone": {"80", func(o *sandbox.Objects) {
			o.Services["shop/shop"].Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
		},
			chain.Service{Found: true, Type: "ClusterIP", Selector: app, Local: true}, true},
		"of several ports": {"https", func(o *sandbox.Objects) {
			spec := &o.Services["shop/shop"].Spec
			spec.Type = corev1.ServiceTypeLoadBalancer
			spec.Ports[0].NodePort = 30081
			spec.Ports = append(spec.Ports, corev1.ServicePort{Name: "https", Port: 443, NodePort: 30443})
		}, chain.Service{Found: true, Type: "LoadBalancer", NodePort: 30443, Selector: app}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneReader(t)
			s.objects(test.change)
			binding := ofShop
			binding.Port = test.port
			got, err := s.Backends(t.Context(), s.reads, binding)
			must(t, err)
			wantSame(t, got.Service, test.want)
			wantSame(t, len(got.Endpoints) > 0, test.some)
		})
	}
}

func TestBackendsEndpoints(t *testing.T) {
	changed := func(i int, f func(*chain.Endpoint)) []chain.Endpoint {
		all := append([]chain.Endpoint{}, shopEndpoints...)
		f(&all[i])
		return all
	}
	for name, test := range map[string]struct {
		change func(o *sandbox.Objects, slice *discoveryv1.EndpointSlice)
		want   []chain.Endpoint
	}{
		"not ready": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Endpoints[1].Conditions.Ready = new(false)
		},
			changed(1, func(e *chain.Endpoint) { e.Ready = false })},
		"readiness not told is ready": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Endpoints[1].Conditions = discoveryv1.EndpointConditions{}
		},
			shopEndpoints},
		"terminating": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Endpoints[2].Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
		}, changed(2, func(e *chain.Endpoint) { e.Ready, e.Terminating = false, true })},
		"the first address counts": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Endpoints[0].Addresses = append(slice.Endpoints[0].Addresses, "10.9.9.9")
		}, shopEndpoints},
		"no pod's": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Endpoints[1].TargetRef = nil
			slice.Endpoints[2].TargetRef.Kind = "Node"
		}, shopEndpoints[:1]},
		"without addresses, node and zone": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Endpoints[0].Addresses = nil
			slice.Endpoints[1].NodeName, slice.Endpoints[1].Zone = nil, nil
		}, changed(1, func(e *chain.Endpoint) { e.Node, e.Zone = "", "" })[1:]},
		"another port of the service": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: new("metrics"), Port: new(int32(9090))})
		}, shopEndpoints},
		"ports without names": {func(o *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			o.Services["shop/shop"].Spec.Ports[0].Name = ""
			slice.Ports[0].Name = nil
		}, shopEndpoints},
		"of another service": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.Labels[discoveryv1.LabelServiceName] = "web"
		}, nil},
		"of the other family": {func(_ *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}, nil},
		"of the binding's family": {func(o *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			o.TargetGroupBindings["shop/shop"].Spec.IPAddressType = "ipv6"
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}, shopEndpoints},
		"a binding that is gone has IPv4": {func(o *sandbox.Objects, _ *discoveryv1.EndpointSlice) { delete(o.TargetGroupBindings, "shop/shop") }, shopEndpoints},
		"in two slices, ready in one": {func(o *sandbox.Objects, slice *discoveryv1.EndpointSlice) {
			other := slice.DeepCopy()
			other.Name, other.Endpoints = "shop-zzzzz", other.Endpoints[:1]
			o.EndpointSlices["shop/shop-zzzzz"] = other
			slice.Endpoints[0].Conditions.Ready = new(false)
		}, shopEndpoints},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneReader(t)
			s.objects(func(o *sandbox.Objects) { test.change(o, o.EndpointSlices[shopSlice]) })
			got, err := s.Backends(t.Context(), s.reads, ofShop)
			must(t, err)
			wantSame(t, got.Endpoints, test.want)
		})
	}
}

// What no controller registers is counted, so that an empty service can be told from one whose endpoints do not fit.
func TestBackendsUnfit(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*discoveryv1.EndpointSlice)
		want   chain.Unfit
	}{
		"all fit":             {func(*discoveryv1.EndpointSlice) {}, chain.Unfit{}},
		"of the other family": {func(s *discoveryv1.EndpointSlice) { s.AddressType = discoveryv1.AddressTypeIPv6 }, chain.Unfit{Family: 3}},
		"without any port":    {func(s *discoveryv1.EndpointSlice) { s.Ports = nil }, chain.Unfit{Port: 3}},
		"with another port":   {func(s *discoveryv1.EndpointSlice) { s.Ports[0].Name = new("metrics") }, chain.Unfit{Port: 3}},
		"no pod's":            {func(s *discoveryv1.EndpointSlice) { s.Endpoints[1].TargetRef = nil }, chain.Unfit{NoPod: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneReader(t)
			s.objects(func(o *sandbox.Objects) { test.change(o.EndpointSlices[shopSlice]) })
			got, err := s.Backends(t.Context(), s.reads, ofShop)
			must(t, err)
			wantSame(t, got.Unfit, test.want)
		})
	}
}

func TestBackendsNodes(t *testing.T) {
	type node = struct {
		InstanceID, Zone string
		Ready, Excluded  bool
	}
	good := node{"i-0aaaaaaaaaaaaaaa1", "eu-west-1a", true, false}
	excluded := node{"i-0aaaaaaaaaaaaaaa1", "eu-west-1a", true, true}
	labelled := func(key, value string) func(*corev1.Node) { return func(n *corev1.Node) { n.Labels[key] = value } }
	tainted := func(key string, effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect}) }
	}
	for name, test := range map[string]struct {
		change func(*corev1.Node)
		want   node
	}{
		"good":                         {func(*corev1.Node) {}, good},
		"excluded, whatever it says":   {labelled("node.kubernetes.io/exclude-from-external-load-balancers", "false"), excluded},
		"excluded as of old":           {labelled("alpha.service-controller.kubernetes.io/exclude-balancer", ""), excluded},
		"a master":                     {labelled("node-role.kubernetes.io/master", ""), excluded},
		"fargate":                      {labelled("eks.amazonaws.com/compute-type", "fargate"), excluded},
		"auto mode":                    {labelled("eks.amazonaws.com/compute-type", "auto"), good},
		"the autoscaler takes it":      {tainted("ToBeDeletedByClusterAutoscaler", corev1.TaintEffectPreferNoSchedule), excluded},
		"Karpenter takes it":           {tainted("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule), excluded},
		"a taint of Karpenter's":       {tainted("karpenter.sh/disrupted", corev1.TaintEffectNoExecute), good},
		"cordoned":                     {func(n *corev1.Node) { n.Spec.Unschedulable = true }, good},
		"not selected by the binding":  {labelled("pool", "batch"), excluded},
		"not ready":                    {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, node{good.InstanceID, good.Zone, false, false}},
		"unknown":                      {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, node{good.InstanceID, good.Zone, false, false}},
		"without conditions":           {func(n *corev1.Node) { n.Status.Conditions = nil }, node{good.InstanceID, good.Zone, false, false}},
		"zone of the provider id":      {func(n *corev1.Node) { delete(n.Labels, corev1.LabelTopologyZone) }, good},
		"hybrid":                       {func(n *corev1.Node) { n.Spec.ProviderID = "eks-hybrid:///eu-west-1/prod/mi-0123" }, node{"", good.Zone, true, false}},
		"a Fargate node's provider id": {func(n *corev1.Node) { n.Spec.ProviderID = "aws:///eu-west-1a/0123-abcd/fargate-10.0.1.5" }, node{"", good.Zone, true, false}},
		"without provider id":          {func(n *corev1.Node) { n.Spec.ProviderID = "" }, node{"", good.Zone, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneReader(t)
			s.objects(func(o *sandbox.Objects) {
				o.TargetGroupBindings["shop/web"].Spec.NodeSelector = &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"batch"}}},
				}
				test.change(o.Nodes["node-a"])
			})
			got, err := s.Backends(t.Context(), s.reads, ofWeb)
			must(t, err)
			n := got.Nodes[0]
			wantSame(t, node{n.InstanceID, n.Zone, n.Ready, n.Excluded}, test.want)
			wantSame(t, got.Nodes[1].Excluded, false)
		})
	}
}

// An empty nodeSelector selects every node; one that cannot be read is no reason to guess.
func TestBackendsNodeSelector(t *testing.T) {
	s := newSceneReader(t)
	s.objects(func(o *sandbox.Objects) {
		o.TargetGroupBindings["shop/web"].Spec.NodeSelector = &metav1.LabelSelector{}
	})
	got, err := s.Backends(t.Context(), s.reads, ofWeb)
	must(t, err)
	wantSame(t, got.Nodes[0].Excluded, false)
	s.objects(func(o *sandbox.Objects) {
		o.TargetGroupBindings["shop/web"].Spec.NodeSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "pool", Operator: "Like"}}
	})
	_, err = s.Backends(t.Context(), s.reads, ofWeb)
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverUnavailable)
}
