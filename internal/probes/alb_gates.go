// Readiness gates: pods whose containers are ready wait for the controller to write down that ELB finds them healthy.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// waitingPods are the pods of endpoints that are not ready, though their containers are: a readiness gate keeps them.
func (v *groupView) waitingPods() []chain.Pod {
	var waiting []chain.Pod
	for _, e := range v.backends.Endpoints {
		if p, ok := v.pods[e.Pod]; ok && !e.Ready && !e.Terminating && p.ContainersReady {
			waiting = append(waiting, p)
		}
	}
	return waiting
}

// waitingForGate counts the pods that wait for the gate of the binding itself.
func (v *groupView) waitingForGate() int {
	n := 0
	for _, p := range v.waitingPods() {
		if slices.ContainsFunc(p.Gates, func(g chain.ReadinessGate) bool { return !g.Passed && g.Binding == v.binding.Name }) {
			n++
		}
	}
	return n
}

// gateStale: a pod waits for a gate that nobody sets any more, since its binding is gone, or for one that lags behind ELB. A gate that is not set while ELB finds the pod unhealthy is health's business.
func gateStale(v *groupView) *chain.Error {
	for _, p := range v.waitingPods() {
		for _, g := range p.Gates {
			switch {
			case g.Passed:
			case !v.bindingExists(g.Binding) && v.longAgo(p.Created):
				return misregistered(chain.ReasonReadinessGateStale, chain.Facts{chain.FactPod: p.Name},
					"the pod %s waits for the readiness gate of the TargetGroupBinding %s/%s, which does not exist", p.Name, v.binding.Namespace, g.Binding)
			case g.Binding == v.binding.Name && v.lags(p, g):
				return misregistered(chain.ReasonReadinessGateStale, chain.Facts{chain.FactPod: p.Name},
					"ELB finds the pod %s (%s) healthy, and its readiness gate of %s is still not passed", p.Name, p.Address, v.binding.BindingRef)
			}
		}
	}
	return nil
}

func (v *groupView) bindingExists(name string) bool {
	return slices.ContainsFunc(v.bindings, func(b chain.Binding) bool {
		return b.BindingRef == chain.BindingRef{Namespace: v.binding.Namespace, Name: name}
	})
}

// lags reports whether ELB has found a pod healthy for longer than the controller needs to say so. Where no earlier run saw it become healthy, the age of the gate decides.
func (v *groupView) lags(p chain.Pod, g chain.ReadinessGate) bool {
	since := p.Created
	if g.Set && !g.Since.IsZero() {
		since = g.Since
	}
	for _, m := range v.members {
		if m.ID == p.Address && m.State == chain.TargetHealthy {
			return v.longAgo(since) && (!m.exact || v.longAgo(m.Since))
		}
	}
	return false
}
