// Faults are a closed list: what breaks in a scene, and the step, result and reason that a prober of it must report.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Fault is one thing that breaks.
type Fault struct {
	Name    string
	Meaning string // what happened, in a sentence
	Target  string // the target of the scene that shows it
	Outcome chain.Outcome
	Step    chain.Step
	Reason  chain.Reason
	// Marks is what each step of the run shows: ✔ success, ✖ failure, ? unknown, · skipped.
	Marks string
	// Adjust changes the target after its configuration was read, for what no configuration file can say; nil: nothing.
	Adjust func(*chain.Target)
	// apply changes the scene. It runs before the exporter starts: the environment and the configuration are read after it.
	apply func(*Scene) error
}

// Kind is the chain that shows the fault.
func (f Fault) Kind() chain.Kind {
	if slices.Contains(chain.KindALB.Steps(), f.Step) {
		return chain.KindALB
	}
	return chain.KindAccess
}

// Apply breaks the scene.
func (f Fault) Apply(s *Scene) error {
	if f.apply == nil { // the target alone is adjusted
		return nil
	}
	if err := f.apply(s); err != nil {
		return fmt.Errorf("applying the fault %s: %w", f.Name, err)
	}
	return nil
}

const (
	deployTarget  = "ci-deploy@prod"
	releaseTarget = "ci-release@prod"
	runnerTarget  = "runner@prod"
	viewerTarget  = "viewer@staging"
)

// Faults returns the list, in the order of the chain.
func Faults() []Fault {
	return slices.Concat(credentialsFaults, keyFaults, sourceFaults, stsFaults, sessionFaults, sourceSTSFaults, tokenFaults, presignedFaults, endpointFaults, accessEntryFaults, rbacFaults,
		registrationFaults, healthFaults, requestFaults)
}

// FaultNamed finds a fault.
func FaultNamed(name string) (Fault, bool) {
	for _, f := range Faults() {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}

// failing completes the row of a failure: unless it says otherwise, the steps before succeed and the ones after are skipped.
func failing(step chain.Step, reason chain.Reason, f Fault) Fault {
	f.Outcome, f.Step, f.Reason = chain.OutcomeFailure, step, reason
	if f.Marks != "" {
		return f
	}
	var marks strings.Builder
	for _, s := range chain.KindAccess.Steps() {
		switch {
		case s < step:
			marks.WriteString("✔")
		case s == step:
			marks.WriteString("✖")
		default:
			marks.WriteString("·")
		}
	}
	f.Marks = marks.String()
	return f
}

// unsure completes the row of an unknown; its marks say how far the run goes on.
func unsure(step chain.Step, reason chain.Reason, f Fault) Fault {
	f.Outcome, f.Step, f.Reason = chain.OutcomeUnknown, step, reason
	return f
}

// state makes a change of the shared state into what a fault applies.
func state(change func(*State)) func(*Scene) error {
	return func(s *Scene) error {
		s.State.Change(change)
		return nil
	}
}

// cluster makes a change of one cluster into what a fault applies.
func cluster(name string, change func(*Cluster)) func(*Scene) error {
	return state(func(s *State) { change(s.Clusters[name]) })
}
