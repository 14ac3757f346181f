// The pods behind a service, with the readiness gates that the AWS Load Balancer Controller sets.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// gatePrefix begins the type of a gate, which ends with the name of its binding (aws-load-balancer-controller pkg/targetgroupbinding utils.go).
const gatePrefix = "target-health.elbv2.k8s.aws/"

// Pods reads the pods that a service's selector matches; none for a service without a selector, which selects nothing.
func (r *Reader) Pods(ctx context.Context, reads ClusterReads, namespace string, selector map[string]string) ([]chain.Pod, error) {
	if len(selector) == 0 {
		return nil, nil
	}
	s, err := r.session(reads)
	if err != nil {
		return nil, err
	}
	q := question{verb: "list", resource: "pods", namespace: namespace, kind: "PodList"}
	matching, err := labels.ValidatedSelectorFromSet(selector)
	if err != nil {
		return nil, unavailable(q.String(), "the service's selector: "+chain.Redact(err.Error()), err)
	}
	var all []chain.Pod
	err = s.list(ctx, q, metav1.ListOptions{LabelSelector: matching.String()}, func(ctx context.Context, options metav1.ListOptions) (string, error) {
		page, err := s.core.Pods(namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			all = append(all, podOf(&page.Items[i]))
		}
		return page.Continue, nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func podOf(p *corev1.Pod) chain.Pod {
	pod := chain.Pod{Name: chain.Redact(p.Name), Address: chain.Redact(p.Status.PodIP), Created: p.CreationTimestamp.Time}
	ready, _ := conditionOf(p, corev1.PodReady)
	containers, _ := conditionOf(p, corev1.ContainersReady)
	pod.Ready, pod.ReadySince = ready.Status == corev1.ConditionTrue, ready.LastTransitionTime.Time
	pod.ContainersReady = containers.Status == corev1.ConditionTrue
	for _, gate := range p.Spec.ReadinessGates {
		binding, ours := strings.CutPrefix(string(gate.ConditionType), gatePrefix)
		if !ours {
			continue
		}
		condition, set := conditionOf(p, gate.ConditionType)
		pod.Gates = append(pod.Gates, chain.ReadinessGate{
			Binding: chain.Redact(binding), Set: set, Passed: condition.Status == corev1.ConditionTrue, Since: condition.LastTransitionTime.Time,
		})
	}
	return pod
}

func conditionOf(p *corev1.Pod, kind corev1.PodConditionType) (corev1.PodCondition, bool) {
	for _, condition := range p.Status.Conditions {
		if condition.Type == kind {
			return condition, true
		}
	}
	return corev1.PodCondition{}, false
}
