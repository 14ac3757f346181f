// What every chain counts alike: the events of a target, and the reasons and step results of the cluster or region that it is in.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// stepCount is the number of steps of all chains, StepNone included.
const stepCount = chain.StepRequest + 1

// events are those of one target.
type events struct {
	success, unknown uint64
	failures         [stepCount]uint64
	verdict          chain.Verdict // the latest
}

func (e events) failed() (sum uint64) {
	for _, n := range e.failures {
		sum += n
	}
	return sum
}

func (e *events) count(verdict chain.Verdict) {
	switch verdict.Outcome {
	case chain.OutcomeSuccess:
		e.success++
	case chain.OutcomeFailure:
		e.failures[verdict.Step]++
	case chain.OutcomeUnknown, chain.OutcomeSkipped:
		e.unknown++
	}
	e.verdict = verdict
}

type failureKey struct {
	step   chain.Step
	reason chain.Reason
}

type stepKey struct {
	step   chain.Step
	result chain.Outcome
}

// stepCounts are what each step of one target showed, skipped ones left out.
type stepCounts [stepCount][chain.OutcomeSkipped]uint64

func (c *stepCounts) count(run chain.Run) {
	for _, step := range run.Steps {
		if step.Outcome != chain.OutcomeSkipped {
			c[step.Step][step.Outcome]++
		}
	}
}

// causes are counted over all targets of a cluster (access) or of a region (alb).
type causes struct {
	failures map[failureKey]uint64
	unknowns map[chain.Reason]uint64
	steps    map[stepKey]uint64
}

// cannotOccur are the unknown reasons that a chain does not end in. The access chain reads no load balancer; the alb chain signs nobody in but the observer, whose troubles are observer_unavailable.
var cannotOccur = map[chain.Kind][]chain.Reason{
	chain.KindAccess: {chain.ReasonELBAPIThrottled},
	chain.KindALB:    {chain.ReasonSTSThrottled, chain.ReasonEKSAuthThrottled},
}

// newCauses has every reason and every result of every step of a chain at 0.
func newCauses(kind chain.Kind) causes {
	c := causes{map[failureKey]uint64{}, map[chain.Reason]uint64{}, map[stepKey]uint64{}}
	for _, step := range kind.Steps() {
		for _, row := range chain.ReasonsOf(step) {
			c.failures[failureKey{step, row.Reason}] = 0
		}
		for _, result := range chain.Results {
			c.steps[stepKey{step, result}] = 0
		}
	}
	for _, row := range chain.ReasonsOf(chain.StepNone) {
		if !slices.Contains(cannotOccur[kind], row.Reason) {
			c.unknowns[row.Reason] = 0
		}
	}
	return c
}

func (c causes) clone() causes {
	return causes{maps.Clone(c.failures), maps.Clone(c.unknowns), maps.Clone(c.steps)}
}

func (c causes) count(run chain.Run) {
	switch v := run.Verdict; v.Outcome {
	case chain.OutcomeFailure:
		c.failures[failureKey{v.Step, v.Reason}]++
	case chain.OutcomeUnknown, chain.OutcomeSkipped:
		c.unknowns[v.Reason]++
	case chain.OutcomeSuccess:
	}
	for _, step := range run.Steps {
		if step.Outcome != chain.OutcomeSkipped {
			c.steps[stepKey{step.Step, step.Outcome}]++
		}
	}
}

// cloneAll copies what later events change.
func cloneAll[T any](all map[string]T, clone func(T) T) map[string]T {
	copies := make(map[string]T, len(all))
	for name, each := range all {
		copies[name] = clone(each)
	}
	return copies
}
