// Faults of the step registration: the group is gone, in no load balancer's service, empty, or two owners share it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var registrationFaults = []Fault{
	failing(chain.StepRegistration, chain.ReasonTargetGroupMissing, Fault{
		Name: "target-group-deleted", Target: shopTarget, Meaning: "Terraform deleted the target group that the binding still names", Marks: "✖·✖",
		apply: state(func(s *State) { s.DeleteGroup(SceneShopGroup) }),
	}),
	failing(chain.StepRegistration, chain.ReasonTargetGroupNotAttached, Fault{
		Name: "target-group-detached", Target: webTarget, Meaning: "the last listener rule that forwarded to the group is gone", Marks: "✖··",
		apply: state(func(s *State) { s.DetachGroup(SceneWebGroup) }),
	}),
	failing(chain.StepRegistration, chain.ReasonTargetAZNotEnabled, Fault{
		Name: "zone-not-enabled", Target: shopTarget, Meaning: "one pod runs in a zone that the load balancer does not serve", Marks: "✖·✔",
		apply: group(SceneShopGroup, func(v GroupView) { v.Move("10.0.1.13", SceneOtherZone) }),
	}),
	failing(chain.StepRegistration, chain.ReasonTargetAZNotEnabled, Fault{
		Name: "node-zone-not-enabled", Target: webTarget, Meaning: "a node group added a zone that the load balancer does not serve", Marks: "✖··",
		apply: all(group(SceneWebGroup, func(v GroupView) { v.Move("i-0bbbbbbbbbbbbbbb2", SceneOtherZone) }), objects(func(o *Objects) {
			node := o.Nodes["node-b"].DeepCopy()
			node.Labels[corev1.LabelTopologyZone] = SceneOtherZone
			o.Nodes["node-b"] = node
		})),
	}),
	failing(chain.StepRegistration, chain.ReasonNoTargets, Fault{
		Name: "targets-not-registered", Target: shopTarget, Meaning: "the controller is gone: pods are ready, and nobody registers them", Marks: "✖·✖",
		apply: emptied(SceneShopGroup),
	}),
	failing(chain.StepRegistration, chain.ReasonNoReadyEndpoints, Fault{
		Name: "pods-not-ready", Target: shopTarget, Meaning: "no pod is ready, so there is nothing to register", Marks: "✖·✖",
		apply: all(emptied(SceneShopGroup), readiness(false, shopIDs...)),
	}),
	failing(chain.StepRegistration, chain.ReasonNoReadyEndpoints, Fault{
		Name: "selector-matches-nothing", Target: shopTarget, Meaning: "the service's selector matches no pod", Marks: "✖·✖",
		apply: all(emptied(SceneShopGroup), scaledTo()),
	}),
	failing(chain.StepRegistration, chain.ReasonBindingMissing, Fault{
		Name: "binding-deleted", Target: shopTarget, Meaning: "the TargetGroupBinding is gone; the targets that it left stay for now", Marks: "✖·✔",
		apply: objects(func(o *Objects) { delete(o.TargetGroupBindings, "shop/shop") }),
	}),
	failing(chain.StepRegistration, chain.ReasonBindingMissing, Fault{
		Name: "binding-kind-not-installed", Target: shopTarget, Meaning: "the controller and its custom resource were uninstalled", Marks: "✖·✔",
		apply: objects(func(o *Objects) { o.NoBindingKind = true }),
	}),
	failing(chain.StepRegistration, chain.ReasonBindingMissing, Fault{
		Name: "binding-names-another-group", Target: shopTarget, Meaning: "the binding was made anew for another target group", Marks: "✖·✔",
		apply: objects(func(o *Objects) {
			o.TargetGroupBindings["shop/shop"] = sceneBinding("shop", "targetgroup/shop-v2/00000000000000aa", chain.TargetTypeIP, time.Now().Add(-time.Hour))
		}),
	}),
	failing(chain.StepRegistration, chain.ReasonServiceTypeMismatch, Fault{
		Name: "service-without-node-port", Target: webTarget, Meaning: "a group of instances, and a service of type ClusterIP", Marks: "✖··",
		apply: all(emptied(SceneWebGroup), objects(func(o *Objects) {
			o.Services["shop/web"] = sceneService("web", corev1.ServiceTypeClusterIP, 0, time.Now().Add(-time.Hour))
		})),
	}),
	failing(chain.StepRegistration, chain.ReasonControllerAccessDenied, Fault{
		Name: "controller-denied", Target: shopTarget, Meaning: "the controller's policy allows registration in groups with its own tag only", Marks: "✖·✖",
		apply: all(emptied(SceneShopGroup), reported("shop", "FailedReconcile",
			"operation error Elastic Load Balancing v2: RegisterTargets, https response error StatusCode: 403, RequestID: 00000000-0000-4000-8000-000000000000, api error AccessDenied: "+
				"User: arn:aws:sts::"+SceneAccount+":assumed-role/aws-load-balancer-controller/1700000000 is not authorized to perform: elasticloadbalancing:RegisterTargets on resource: "+SceneShopGroup+
				" because no identity-based policy allows the elasticloadbalancing:RegisterTargets action")),
	}),
	failing(chain.StepRegistration, chain.ReasonTGBNetworkReconcileFailed, Fault{
		Name: "network-not-reconciled", Target: shopTarget, Meaning: "two security groups of a node bear the cluster's tag, so the controller stops before it registers", Marks: "✖·✖",
		apply: all(emptied(SceneShopGroup), reported("shop", "FailedNetworkReconcile",
			"expected exactly one securityGroup tagged with kubernetes.io/cluster/prod for eni eni-0123456789abcdef0, got: [sg-0aa sg-0bb]")),
	}),
	failing(chain.StepRegistration, chain.ReasonNodeExcluded, Fault{
		Name: "nodes-excluded", Target: webTarget, Meaning: "a drain left its exclusion label on every node", Marks: "✖··",
		apply: all(emptied(SceneWebGroup), objects(func(o *Objects) {
			for name, node := range o.Nodes {
				node = node.DeepCopy()
				node.Labels[excludeLabel] = "true"
				o.Nodes[name] = node
			}
		})),
	}),
	failing(chain.StepRegistration, chain.ReasonTargetGroupShared, Fault{
		Name: "evicted-by-another-cluster", Target: shopTarget, Meaning: "a second cluster binds the same group and has taken our pods out", Marks: "✖·✔",
		apply: group(SceneShopGroup, func(v GroupView) {
			v.Deregister()
			for _, id := range []string{"10.9.1.21", "10.9.2.22"} {
				v.Targets = append(v.Targets, &RegisteredTarget{ID: id, Port: 8080, Zone: zoneA, Registered: v.now.Add(-10 * time.Minute)})
			}
		}),
	}),
	failing(chain.StepRegistration, chain.ReasonTargetGroupShared, Fault{
		Name: "two-bindings-one-group", Target: shopTarget, Meaning: "two bindings of the cluster name the same group", Marks: "✖·✔",
		apply: objects(func(o *Objects) {
			o.TargetGroupBindings["shop/shop-copy"] = sceneBinding("shop-copy", "targetgroup/shop/0123456789abcdef", chain.TargetTypeIP, time.Now().Add(-time.Hour))
		}),
	}),
	failing(chain.StepRegistration, chain.ReasonReadinessGateStale, Fault{
		Name: "gate-of-a-gone-binding", Target: shopTarget, Meaning: "a pod waits for the gate of a binding that no longer exists", Marks: "✖·✔",
		apply: all(readiness(false, "10.0.1.13"), gated("shop-3", "target-health.elbv2.k8s.aws/shop-old", false)),
	}),
	failing(chain.StepRegistration, chain.ReasonReadinessGateStale, Fault{
		Name: "gate-lags", Target: shopTarget, Meaning: "AWS says healthy, and the pod's readiness gate still says no", Marks: "✖·✔",
		apply: all(readiness(false, "10.0.1.13"), gated("shop-3", sceneGate, true)),
	}),
}

// gated gives a pod a readiness gate that has not been passed for ten minutes; the condition of a gate that nobody serves is not there at all.
func gated(pod string, gate corev1.PodConditionType, served bool) func(*Scene) error {
	return objects(func(o *Objects) {
		p, since := o.Pods[sceneNamespace+"/"+pod].DeepCopy(), metav1.NewTime(time.Now().Add(-10*time.Minute).Truncate(time.Second))
		if !served {
			p.Spec.ReadinessGates = append(p.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: gate})
		}
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == gate || c.Type == corev1.PodReady {
				c.Status, c.LastTransitionTime = corev1.ConditionFalse, since
			}
		}
		o.Pods[sceneNamespace+"/"+pod] = p
	})
}
