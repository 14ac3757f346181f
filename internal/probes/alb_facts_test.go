// Tests of the evidence that is counted.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestEndpointsText(t *testing.T) {
	ready, waiting := chain.Endpoint{Ready: true}, chain.Endpoint{}
	leaving, gone := chain.Endpoint{Ready: true, Terminating: true}, chain.Endpoint{Terminating: true}
	for want, v := range map[string]groupView{
		"": {backends: chain.Backends{Endpoints: []chain.Endpoint{ready}}}, // of which nothing was held against the targets
		"3 ready, 2 not ready, 2 terminating": {
			attributed: true, group: chain.GroupInfo{TargetType: chain.TargetTypeIP},
			backends: chain.Backends{Endpoints: []chain.Endpoint{ready, leaving, ready, waiting, gone, ready, waiting}},
		},
		"1 of 4 nodes ready, 1 more excluded": {
			attributed: true, group: chain.GroupInfo{TargetType: chain.TargetTypeInstance},
			backends: chain.Backends{Nodes: []chain.Node{
				{InstanceID: "i-1", Ready: true}, {InstanceID: "i-2"}, {InstanceID: "i-3", Ready: true, Excluded: true}, {Ready: true}, // the last is no instance
			}},
		},
	} {
		if got := v.endpointsText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
