// Faults of the step health: registered targets do not pass the health check, or nobody can tell.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var healthFaults = []Fault{
	failing(chain.StepHealth, chain.ReasonHealthCheckCodeMismatch, Fault{
		Name: "health-path-not-found", Target: shopTarget, Meaning: "two of three targets answer the health check with 404", Marks: "✔✖✔",
		apply: answering(SceneShopGroup, CheckStatus, 404, "10.0.1.11", "10.0.1.13"),
	}),
	failing(chain.StepHealth, chain.ReasonHealthCheckTimeout, Fault{
		Name: "health-check-dropped", Target: shopTarget, Meaning: "a security group drops the health checks of two targets", Marks: "✔✖✔",
		apply: answering(SceneShopGroup, CheckSilence, 0, "10.0.1.11", "10.0.1.13"),
	}),
	failing(chain.StepHealth, chain.ReasonHealthCheckFailed, Fault{
		Name: "nothing-listens", Target: shopTarget, Meaning: "two targets refuse the connection of the health check", Marks: "✔✖✔",
		apply: answering(SceneShopGroup, CheckRefusal, 0, "10.0.1.11", "10.0.1.13"),
	}),
	failing(chain.StepHealth, chain.ReasonAllUnhealthyFailOpen, Fault{
		Name: "all-unhealthy", Target: shopTarget, Meaning: "every target answers the health check with 401; the load balancer routes to all of them", Marks: "✔✖✔",
		apply: answering(SceneShopGroup, CheckStatus, 401),
	}),
	failing(chain.StepHealth, chain.ReasonInitialStuck, Fault{
		Name: "initial-stuck", Target: shopTarget, Meaning: "two targets stay in initial, long after their pods were ready", Marks: "✔✖✔",
		apply: pinned(SceneShopGroup, chain.TargetInitial, chain.CodeInitialHealthChecking, "10.0.1.11", "10.0.1.13"),
	}),
	failing(chain.StepHealth, chain.ReasonBelowMinHealthy, Fault{
		Name: "scaled-below-min-healthy", Target: shopTarget, Meaning: "the deployment was scaled to one pod, and two healthy targets are wanted", Marks: "✔✖✔",
		apply: all(scaledTo("10.0.2.12"), group(SceneShopGroup, func(v GroupView) { v.Targets = v.chosen([]string{"10.0.2.12"}) })),
	}),
	failing(chain.StepHealth, chain.ReasonELBInternalError, Fault{
		Name: "elb-internal-error", Target: shopTarget, Meaning: "the load balancer fails to check two targets through a fault of its own", Marks: "✔✖✔",
		apply: pinned(SceneShopGroup, chain.TargetUnhealthy, chain.CodeInternalError, "10.0.1.11", "10.0.1.13"),
	}),
	unsure(chain.StepHealth, chain.ReasonNotMeasurable, Fault{
		Name: "health-checks-off", Target: webTarget, Meaning: "the group's health checks are disabled", Marks: "✔?·",
		apply: pinned(SceneWebGroup, chain.TargetUnavailable, chain.CodeHealthCheckDisabled),
	}),
	unsure(chain.StepHealth, chain.ReasonNotMeasurable, Fault{
		Name: "just-registered", Target: webTarget, Meaning: "both nodes were registered a moment ago", Marks: "✔?·",
		apply: all(group(SceneWebGroup, func(v GroupView) {
			for _, t := range v.Targets {
				t.Registered = v.now
			}
		}), objects(func(o *Objects) {
			for name, node := range o.Nodes {
				young := node.DeepCopy()
				young.CreationTimestamp = metav1.Now()
				o.Nodes[name] = young
			}
		})),
	}),
	unsure(chain.StepRegistration, chain.ReasonELBAPIThrottled, Fault{
		Name: "elb-throttled", Target: shopTarget, Meaning: "ELB throttles the observer", Marks: "?·✔",
		apply: state(func(s *State) { s.Throttle["DescribeTargetHealth"] = true }),
	}),
	unsure(chain.StepRegistration, chain.ReasonObserverDenied, Fault{
		Name: "elb-observer-denied", Target: shopTarget, Meaning: "the observer's policy does not allow elasticloadbalancing:DescribeTargetHealth", Marks: "?·✔",
		apply: state(func(s *State) { s.Roles[exporterRole].ReadsELB = false }),
	}),
	unsure(chain.StepRegistration, chain.ReasonObserverUnavailable, Fault{
		Name: "elb-unreachable", Target: shopTarget, Meaning: "the ELB API drops every connection", Marks: "?·✔",
		apply: state(func(s *State) { s.Off["elasticloadbalancing"] = true }),
	}),
	unsure(chain.StepRegistration, chain.ReasonObserverDenied, Fault{
		Name: "binding-observer-denied", Target: shopTarget, Meaning: "the observer may not read the cluster's objects, so nothing proves that its pods are registered", Marks: "?✔✔",
		apply: cluster("prod", func(c *Cluster) { c.Entries[exporterRole].Groups = nil }),
	}),
}
