// The nodes of a cluster, and which of them the AWS Load Balancer Controller keeps out of target groups.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// What keeps a node out (aws-load-balancer-controller pkg/backend endpoint_utils.go).
var excludingLabels = []string{
	"node-role.kubernetes.io/master", corev1.LabelNodeExcludeBalancers, "alpha.service-controller.kubernetes.io/exclude-balancer",
}

const (
	computeTypeLabel = "eks.amazonaws.com/compute-type" // fargate is left out
	autoscalerTaint  = "ToBeDeletedByClusterAutoscaler" // with any effect
	karpenterTaint   = "karpenter.sh/disrupted"         // with NoSchedule
)

// nodesServe is how long a list of nodes answers for other bindings of the cluster: all groups of instances ask for the same one, which is large.
const nodesServe = 15 * time.Second

// nodeList is what was last read of a cluster's nodes.
type nodeList struct {
	read   time.Time // zero: never
	nodes  []chain.Node
	labels []labels.Set
}

// nodes returns all nodes; those that selector, the binding's, does not choose are excluded; nil chooses every one.
func (s session) nodes(ctx context.Context, selector *metav1.LabelSelector) ([]chain.Node, error) {
	q := question{verb: "list", resource: "nodes", kind: "NodeList"}
	chosen := labels.Everything()
	if selector != nil {
		var err error
		if chosen, err = metav1.LabelSelectorAsSelector(selector); err != nil {
			return nil, unavailable(q.String(), "the binding's nodeSelector: "+chain.Redact(err.Error()), err)
		}
	}
	list, err := s.listNodes(ctx, q)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(list.nodes)
	for i := range all {
		all[i].Excluded = all[i].Excluded || !chosen.Matches(list.labels[i])
	}
	return all, nil
}

// listNodes reads the nodes when the last list does not serve any more; who comes meanwhile waits for it.
func (s session) listNodes(ctx context.Context, q question) (nodeList, error) {
	select {
	case list := <-s.nodeLists:
		defer func() { s.nodeLists <- list }()
		if now := s.conn.dialer.options.Now(); list.read.IsZero() || now.Sub(list.read) >= nodesServe {
			fresh, err := s.readNodes(ctx, q)
			if err != nil {
				return nodeList{}, err
			}
			fresh.read, list = now, fresh
		}
		return list, nil
	case <-ctx.Done():
		return nodeList{}, ctx.Err()
	}
}

func (s session) readNodes(ctx context.Context, q question) (list nodeList, err error) {
	err = s.list(ctx, q, metav1.ListOptions{}, func(ctx context.Context, options metav1.ListOptions) (string, error) {
		page, err := s.core.Nodes().List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			list.nodes, list.labels = append(list.nodes, nodeOf(&page.Items[i])), append(list.labels, labels.Set(page.Items[i].Labels))
		}
		return page.Continue, nil
	})
	return list, err
}

func nodeOf(n *corev1.Node) chain.Node {
	instance, zone := placeOf(n.Spec.ProviderID)
	node := chain.Node{
		Name: chain.Redact(n.Name), InstanceID: chain.Redact(instance), Zone: chain.Redact(cmp.Or(n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelFailureDomainBetaZone], zone)),
		Excluded: keptOut(n), Created: n.CreationTimestamp.Time,
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			node.Ready = condition.Status == corev1.ConditionTrue
		}
	}
	return node
}

// placeOf reads aws:///ZONE/i-…; "" for what is no EC2 instance, such as a Fargate or hybrid node.
func placeOf(providerID string) (instance, zone string) {
	place, aws := strings.CutPrefix(providerID, "aws:///")
	zone, instance, both := strings.Cut(place, "/")
	if !aws || !both || !strings.HasPrefix(instance, "i-") {
		return "", ""
	}
	return instance, zone
}

func keptOut(n *corev1.Node) bool {
	labelled := slices.ContainsFunc(excludingLabels, func(label string) bool { return labels.Set(n.Labels).Has(label) })
	return labelled || n.Labels[computeTypeLabel] == "fargate" || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == autoscalerTaint || t.Key == karpenterTaint && t.Effect == corev1.TaintEffectNoSchedule
	})
}
