// Two faults of the alb chain at once: the first failing step is blamed, and what users get through the load balancer is shown beside it.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestTwoALBFaults(t *testing.T) {
	of := func(step chain.Step) []sandbox.Fault {
		return slices.DeleteFunc(sandbox.Faults(), func(f sandbox.Fault) bool { return f.Step != step || f.Target != "shop" })
	}
	for _, a := range slices.Concat(of(chain.StepRegistration), of(chain.StepHealth)) {
		for _, b := range of(chain.StepRequest) {
			first := a
			if a.Outcome == chain.OutcomeUnknown { // what could not be told hides no failure
				first = b
			}
			t.Run(a.Name+"+"+b.Name, func(t *testing.T) {
				scene := newScene(t)
				for _, f := range []sandbox.Fault{b, a} { // b changes targets that a may take away
					if err := f.Apply(scene); err != nil {
						t.Fatal(err)
					}
				}
				run := probeOnce(t, scene, "shop")
				v := run.Verdict
				if v.Outcome != first.Outcome || v.Step != first.Step || v.Reason != first.Reason {
					t.Errorf("got %s %s/%s %s, want %s of %s: %s", v.Outcome, v.Step, v.Reason, marksOf(run), first.Reason, first.Name, v.Detail)
				}
				if request := run.Steps[len(run.Steps)-1]; request.Outcome == chain.OutcomeSkipped {
					t.Error("the request was not made")
				}
			})
		}
	}
}
