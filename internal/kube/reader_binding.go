// TargetGroupBindings are read through client-go's dynamic client, since they are not Kubernetes' own.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// errOtherObject is returned when an API server answers with another object than the one that was asked for.
var errOtherObject = errors.New("the answer is another object")

// wireBinding is a TargetGroupBinding (aws-load-balancer-controller apis/elbv2/v1beta1), as far as it is read.
type wireBinding struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		TargetGroupARN  string `json:"targetGroupARN"`
		TargetGroupName string `json:"targetGroupName"`
		TargetType      string `json:"targetType"`
		ServiceRef      struct {
			Name string `json:"name"`
			Port any    `json:"port"` // a number of any size, or text: the API server lets through what intstr cannot hold, and one such binding must not hide the others
		} `json:"serviceRef"`
		MultiCluster  bool                  `json:"multiClusterTargetGroup"`
		NodeSelector  *metav1.LabelSelector `json:"nodeSelector"`
		IPAddressType string                `json:"ipAddressType"`
		RoleARN       string                `json:"iamRoleArnToAssume"`
		ExternalID    string                `json:"assumeRoleExternalId"`
	} `json:"spec"`
}

func (w *wireBinding) binding() chain.Binding {
	b := chain.Binding{
		BindingRef: chain.BindingRef{Namespace: chain.Redact(w.Namespace), Name: chain.Redact(w.Name)},
		GroupARN:   chain.Redact(w.Spec.TargetGroupARN), GroupName: chain.Redact(w.Spec.TargetGroupName), TargetType: chain.Redact(w.Spec.TargetType),
		Service: chain.Redact(w.Spec.ServiceRef.Name), Port: chain.Redact(fmt.Sprint(cmp.Or(w.Spec.ServiceRef.Port, any(0)))),
		MultiCluster: w.Spec.MultiCluster, RoleARN: chain.Redact(w.Spec.RoleARN), Created: w.CreationTimestamp.Time,
	}
	if w.Spec.ExternalID != "" {
		b.ExternalID = chain.NewSecret(w.Spec.ExternalID)
	}
	return b
}

// Binding reads one TargetGroupBinding. found is false when there is none, or when the cluster does not know the kind at all.
func (r *Reader) Binding(ctx context.Context, reads ClusterReads, ref chain.BindingRef) (binding chain.Binding, found bool, err error) {
	w, found, err := r.wireBinding(ctx, reads, ref)
	if err != nil || !found {
		return chain.Binding{}, false, err
	}
	return w.binding(), true, nil
}

func (r *Reader) wireBinding(ctx context.Context, reads ClusterReads, ref chain.BindingRef) (w wireBinding, found bool, err error) {
	s, err := r.session(reads)
	if err != nil {
		return w, false, err
	}
	q := question{"get", "targetgroupbindings." + bindingGroup, ref.Namespace, ref.Name, "TargetGroupBinding"}
	_, found, err = s.read(ctx, q, func(ctx context.Context) error {
		object, err := s.bindings.Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return decodeBinding(object, ref, &w)
	})
	if errors.Is(err, errNoSuchKind) {
		return w, false, nil
	}
	return w, found, err
}

func decodeBinding(object *unstructured.Unstructured, ref chain.BindingRef, into *wireBinding) error {
	if object.GetNamespace() != ref.Namespace || object.GetName() != ref.Name {
		return errOtherObject
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

// List reads the TargetGroupBindings of every namespace; none when the cluster does not know the kind.
func (r *Reader) List(ctx context.Context, reads ClusterReads) ([]chain.Binding, error) {
	s, err := r.session(reads)
	if err != nil {
		return nil, err
	}
	var all []chain.Binding
	q := question{verb: "list", resource: "targetgroupbindings." + bindingGroup, kind: "TargetGroupBindingList"}
	err = s.list(ctx, q, metav1.ListOptions{}, func(ctx context.Context, options metav1.ListOptions) (string, error) {
		page, err := s.bindings.List(ctx, options)
		if err != nil {
			return "", err
		}
		for _, object := range page.Items {
			var w wireBinding
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &w); err != nil {
				return "", err
			}
			all = append(all, w.binding())
		}
		return page.GetContinue(), nil
	})
	switch {
	case errors.Is(err, errNoSuchKind):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return all, nil
}
