// Every reason that a run can give is shown by a fault of the sandbox, or is excepted here with the cause.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// unshown are the reasons without a fault.
var unshown = map[chain.Reason]string{
	chain.ReasonOverrun:    "the scheduler's: no run was made",
	chain.ReasonMissedSlot: "the scheduler's: no run was made",
}

func TestEveryReasonHasAFault(t *testing.T) {
	shown := map[chain.Step]map[chain.Reason]bool{chain.StepNone: {}}
	for _, step := range slices.Concat(chain.KindAccess.Steps(), chain.KindALB.Steps()) {
		shown[step] = map[chain.Reason]bool{}
	}
	for _, fault := range sandbox.Faults() {
		step := fault.Step
		if fault.Outcome == chain.OutcomeUnknown {
			step = chain.StepNone
		}
		shown[step][fault.Reason] = true
	}
	for step, reasons := range shown {
		for _, row := range chain.ReasonsOf(step) {
			if why, excepted := unshown[row.Reason]; excepted && reasons[row.Reason] {
				t.Errorf("%s is excepted (%s), and has a fault", row.Reason, why)
			} else if !excepted && !reasons[row.Reason] {
				t.Errorf("no fault shows %s/%s", step, row.Reason)
			}
		}
	}
}
