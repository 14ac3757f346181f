// The objects of a cluster that an observer reads: TargetGroupBindings, services, EndpointSlices, nodes, pods and events.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	discoveryGroup = "discovery.k8s.io"
	bindingGroup   = "elbv2.k8s.aws"
	bindingVersion = "v1beta1"

	eventReconciled = "SuccessfullyReconciled" // aws-load-balancer-controller pkg/k8s/events.go
)

// Objects are the objects of a cluster, by namespace/name, or by name where there are no namespaces. The zero value is a cluster without any. Faults change them under State.Change.
type Objects struct {
	NoBindingKind       bool // the TargetGroupBinding CRD is not installed
	TargetGroupBindings map[string]*TargetGroupBinding
	Services            map[string]*corev1.Service
	EndpointSlices      map[string]*discoveryv1.EndpointSlice
	Nodes               map[string]*corev1.Node
	Pods                map[string]*corev1.Pod
	Events              map[string]*corev1.Event
}

// TargetGroupBinding is the object of the AWS Load Balancer Controller (apis/elbv2/v1beta1), without what only its controller reads.
type TargetGroupBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec TargetGroupBindingSpec `json:"spec"`
}

// TargetGroupBindingSpec says which targets belong into which group. Exactly one of TargetGroupARN and TargetGroupName is set.
type TargetGroupBindingSpec struct {
	TargetGroupARN  string                `json:"targetGroupARN,omitempty"`
	TargetGroupName string                `json:"targetGroupName,omitempty"`
	TargetType      string                `json:"targetType,omitempty"` // instance or ip; the controller's webhook fills it in
	ServiceRef      ServiceReference      `json:"serviceRef"`
	MultiCluster    bool                  `json:"multiClusterTargetGroup,omitempty"`
	NodeSelector    *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	IPAddressType   string                `json:"ipAddressType,omitempty"` // ipv4 or ipv6
	RoleARN         string                `json:"iamRoleArnToAssume,omitempty"`
	ExternalID      string                `json:"assumeRoleExternalId,omitempty"`
}

// ServiceReference names a service of the binding's namespace and one of its ports, by number or name.
type ServiceReference struct {
	Name string             `json:"name"`
	Port intstr.IntOrString `json:"port"`
}

// Report writes an event about a binding, as the controller's recorder does: SuccessfullyReconciled is normal, all else a warning.
func (o *Objects) Report(binding chain.BindingRef, reason, message string, at time.Time) {
	kind := corev1.EventTypeWarning
	if reason == eventReconciled {
		kind = corev1.EventTypeNormal
	}
	name := fmt.Sprintf("%s.%x", binding.Name, at.UnixNano()) // tools/record names events so
	if o.Events == nil {
		o.Events = map[string]*corev1.Event{}
	}
	o.Events[binding.Namespace+"/"+name] = &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: binding.Namespace, Name: name, CreationTimestamp: metav1.NewTime(at)},
		InvolvedObject: corev1.ObjectReference{Kind: "TargetGroupBinding", APIVersion: bindingGroup + "/" + bindingVersion, Namespace: binding.Namespace, Name: binding.Name},
		Reason:         reason, Message: message, Type: kind, Count: 1,
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at),
		Source: corev1.EventSource{Component: "targetGroupBinding"}, ReportingController: "targetGroupBinding",
	}
}
