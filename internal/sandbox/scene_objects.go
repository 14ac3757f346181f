// What the cluster prod of the scene says of its target groups: two bindings, their services, endpoints, pods and nodes, and who may read them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The objects of prod that faults change.
const (
	sceneNamespace = "shop"
	sceneSlice     = "shop/shop-x7k2p"
	sceneGate      = "target-health.elbv2.k8s.aws/shop"
	sceneWebPort   = int32(30080)

	excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers"
)

// scenePods are the pods of the service shop, in the order of their names.
var scenePods = []struct{ name, address, node, zone string }{
	{"shop-1", "10.0.1.11", "node-a", "eu-west-1a"},
	{"shop-2", "10.0.2.12", "node-b", "eu-west-1b"},
	{"shop-3", "10.0.1.13", "node-a", "eu-west-1a"},
}

// sceneNodes are the nodes of prod.
var sceneNodes = []struct{ name, instance, address, zone string }{
	{"node-a", "i-0aaaaaaaaaaaaaaa1", "10.0.1.5", "eu-west-1a"},
	{"node-b", "i-0bbbbbbbbbbbbbbb2", "10.0.2.5", "eu-west-1b"},
}

// addSceneObjects fills prod, and lets the exporter's role read it: the verbs are those that the exporter uses, no more.
func addSceneObjects(prod *Cluster) {
	made := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	const readers = "eks-slo-exporter"
	prod.Entries[exporterRole] = &Entry{
		AccessEntry: chain.AccessEntry{PrincipalARN: exporterRole, Groups: []string{readers}, Type: "STANDARD", Created: made}, RoleID: "AROASCENEEXPORTER",
	}
	prod.Grants = append(prod.Grants,
		Grant{Subject: readers, Verbs: []string{"get", "list"}, Groups: []string{bindingGroup}, Resources: []string{"targetgroupbindings"}},
		Grant{Subject: readers, Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"services"}},
		Grant{Subject: readers, Verbs: []string{"list"}, Groups: []string{""}, Resources: []string{"nodes", "pods", "events"}},
		Grant{Subject: readers, Verbs: []string{"list"}, Groups: []string{discoveryGroup}, Resources: []string{"endpointslices"}},
	)
	prod.Objects = Objects{
		TargetGroupBindings: map[string]*TargetGroupBinding{
			"shop/shop": sceneBinding("shop", "targetgroup/shop/0123456789abcdef", chain.TargetTypeIP, made),
			"shop/web":  sceneBinding("web", "targetgroup/web/fedcba9876543210", chain.TargetTypeInstance, made),
		},
		Services: map[string]*corev1.Service{
			"shop/shop": sceneService("shop", corev1.ServiceTypeClusterIP, 0, made),
			"shop/web":  sceneService("web", corev1.ServiceTypeNodePort, sceneWebPort, made),
		},
		EndpointSlices: map[string]*discoveryv1.EndpointSlice{sceneSlice: sceneEndpoints(made)},
		Nodes:          map[string]*corev1.Node{},
		Pods:           map[string]*corev1.Pod{},
	}
	for _, n := range sceneNodes {
		prod.Objects.Nodes[n.name] = sceneNode(n.name, n.instance, n.address, n.zone, made)
	}
	for _, p := range scenePods {
		prod.Objects.Pods[sceneNamespace+"/"+p.name] = scenePod(p.name, p.address, p.node, made)
	}
	for _, name := range []string{"shop", "web"} {
		prod.Objects.Report(chain.BindingRef{Namespace: sceneNamespace, Name: name}, eventReconciled, "Successfully reconciled", made)
	}
}

func sceneMeta(name string, labels map[string]string, made time.Time) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: sceneNamespace, Name: name, UID: types.UID("uid-of-" + name), Labels: labels, CreationTimestamp: metav1.NewTime(made)}
}

func sceneBinding(name, group, targetType string, made time.Time) *TargetGroupBinding {
	return &TargetGroupBinding{
		ObjectMeta: sceneMeta(name, nil, made),
		Spec: TargetGroupBindingSpec{
			TargetGroupARN: "arn:aws:elasticloadbalancing:" + SceneRegion + ":" + SceneAccount + ":" + group,
			TargetType:     targetType, IPAddressType: "ipv4", ServiceRef: ServiceReference{Name: name, Port: intstr.FromInt32(80)},
		},
	}
}

func sceneService(name string, kind corev1.ServiceType, nodePort int32, made time.Time) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: sceneMeta(name, nil, made),
		Spec: corev1.ServiceSpec{
			Type: kind, ClusterIP: "172.20.0.10", Selector: map[string]string{"app": name},
			Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt32(8080), NodePort: nodePort}},
		},
	}
}

func sceneEndpoints(made time.Time) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  sceneMeta("shop-x7k2p", map[string]string{discoveryv1.LabelServiceName: "shop", discoveryv1.LabelManagedBy: "endpointslice-controller.k8s.io"}, made),
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("http"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(8080))}},
	}
	for _, p := range scenePods {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{p.address}, NodeName: new(p.node), Zone: new(p.zone),
			Conditions: discoveryv1.EndpointConditions{Ready: new(true), Serving: new(true), Terminating: new(false)},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: sceneNamespace, Name: p.name},
		})
	}
	return slice
}

func scenePod(name, address, node string, made time.Time) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: sceneMeta(name, map[string]string{"app": "shop", "elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}, made),
		Spec:       corev1.PodSpec{NodeName: node, ReadinessGates: []corev1.PodReadinessGate{{ConditionType: sceneGate}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.ContainersReady, sceneGate, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(made.Add(time.Minute))})
	}
	return pod
}

func sceneNode(name, instance, address, zone string, made time.Time) *corev1.Node {
	meta := sceneMeta(name, map[string]string{corev1.LabelTopologyZone: zone, corev1.LabelTopologyRegion: SceneRegion, corev1.LabelHostname: name}, made)
	meta.Namespace = ""
	return &corev1.Node{
		ObjectMeta: meta,
		Spec:       corev1.NodeSpec{ProviderID: "aws:///" + zone + "/" + instance},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(made.Add(time.Minute))}},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}, {Type: corev1.NodeHostName, Address: name}},
		},
	}
}
