// What faults of the alb chain change: the target groups of the scene, the objects of prod, and the load balancer.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"slices"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	shopTarget = "shop"
	webTarget  = "web"
)

// shopIDs are the targets of the scene's group shop.
var shopIDs = []string{"10.0.1.11", "10.0.2.12", "10.0.1.13"}

// group makes a change of a target group into what a fault applies.
func group(arn string, change func(GroupView)) func(*Scene) error {
	return state(func(s *State) { change(s.TargetGroup(arn)) })
}

// objects makes a change of prod's objects into what a fault applies.
func objects(change func(*Objects)) func(*Scene) error {
	return cluster("prod", func(c *Cluster) { change(&c.Objects) })
}

// all applies several changes.
func all(changes ...func(*Scene) error) func(*Scene) error {
	return func(s *Scene) error {
		var errs []error
		for _, change := range changes {
			errs = append(errs, change(s))
		}
		return errors.Join(errs...)
	}
}

// emptied leaves a group without targets, as one whose last target left long ago.
func emptied(arn string) func(*Scene) error {
	return group(arn, func(v GroupView) { v.Targets = nil })
}

// answering makes targets answer health checks so for the last ten minutes.
func answering(arn string, kind CheckKind, status int, ids ...string) func(*Scene) error {
	return group(arn, func(v GroupView) {
		for _, t := range v.chosen(ids) {
			t.Answers = append(t.Answers, CheckAnswer{v.now.Add(-10 * time.Minute), kind, status})
		}
	})
}

// pinned sets what is said of the health of targets.
func pinned(arn string, state chain.TargetState, code string, ids ...string) func(*Scene) error {
	return group(arn, func(v GroupView) { v.Pin(PinnedHealth{state, code}, ids...) })
}

// reported writes an event about a binding of the namespace shop, a minute ago.
func reported(binding, reason, message string) func(*Scene) error {
	return objects(func(o *Objects) {
		o.Report(chain.BindingRef{Namespace: sceneNamespace, Name: binding}, reason, message, time.Now().Add(-time.Minute).Truncate(time.Second))
	})
}

// readiness makes some of the pods of shop ready, or not.
func readiness(ready bool, addresses ...string) func(*Scene) error {
	return objects(func(o *Objects) {
		slice := o.EndpointSlices[sceneSlice].DeepCopy()
		for i := range slice.Endpoints {
			if slices.Contains(addresses, slice.Endpoints[i].Addresses[0]) {
				slice.Endpoints[i].Conditions.Ready = new(ready)
			}
		}
		o.EndpointSlices[sceneSlice] = slice
	})
}

// scaledTo leaves the pods of shop with these addresses.
func scaledTo(addresses ...string) func(*Scene) error {
	return objects(func(o *Objects) {
		slice := o.EndpointSlices[sceneSlice].DeepCopy()
		slice.Endpoints = slices.DeleteFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool { return !slices.Contains(addresses, e.Addresses[0]) })
		o.EndpointSlices[sceneSlice] = slice
	})
}
