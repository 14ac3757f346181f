// A run is one execution of a chain for one target in one slot, and its verdict blames at most one step.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"strings"
	"time"
)

// StepResult is what one step showed in one run.
type StepResult struct {
	Step     Step
	Outcome  Outcome
	Reason   Reason // "" on success and when skipped
	Detail   string // a sentence for people, redacted
	Duration time.Duration
	Facts    Facts // the evidence
}

// Verdict is a run's result. On success Step is StepNone and Reason is ""; on unknown they name the step that could not tell, and why.
type Verdict struct {
	Outcome Outcome
	Step    Step
	Reason  Reason
	Detail  string
	Fix     string // the command or change that mends it, with the real names filled in
}

// Run is one finished execution of a chain.
type Run struct {
	ID       string
	Target   Target
	Slot     time.Time // the fixed point of the schedule that the run answers for
	Started  time.Time
	Duration time.Duration
	Steps    []StepResult // every step of the chain, in order, skipped ones too
	Verdict  Verdict
	Reading  *GroupReading // alb: what was read; nil when the target group could not be read
}

// Settle derives the verdict of a chain from its steps, by this table (first match wins):
//
//	any step failed    → failure, blamed on the first failing step
//	any step unknown   → unknown, named after the first step that could not tell
//	no step succeeded  → unknown (nothing was shown)
//	otherwise          → success (skipped steps count for nothing)
func Settle(steps []StepResult) Verdict {
	for _, want := range []Outcome{OutcomeFailure, OutcomeUnknown} {
		for _, s := range steps {
			if s.Outcome == want {
				return Verdict{Outcome: want, Step: s.Step, Reason: s.Reason, Detail: s.Detail}
			}
		}
	}
	for _, s := range steps {
		if s.Outcome == OutcomeSuccess {
			return Verdict{Outcome: OutcomeSuccess}
		}
	}
	return Verdict{Outcome: OutcomeUnknown, Reason: ReasonReadFailed}
}

// UnknownRun is the event of a slot in which no chain could run: an overrun or a missed slot.
func UnknownRun(id string, target Target, slot time.Time, reason Reason, detail string) Run {
	run := Run{ID: id, Target: target, Slot: slot, Started: slot}
	for _, step := range target.Kind.Steps() {
		run.Steps = append(run.Steps, StepResult{Step: step, Outcome: OutcomeSkipped})
	}
	run.Verdict = Verdict{Outcome: OutcomeUnknown, Reason: reason, Detail: detail}
	run.Verdict.Fix = Fix(StepNone, reason, run.Facts())
	return run
}

// Facts returns what the run knows: the target's names, then the evidence of every step, later steps over earlier ones, then what the target expects, as configured.
func (r Run) Facts() Facts {
	t := r.Target
	all := Facts{
		FactTarget: t.Name, FactCluster: t.Cluster.Name, FactEKSName: t.Cluster.EKSName, FactRegion: t.Cluster.Region,
		FactAccountID: t.Cluster.AccountID, FactObserver: t.Cluster.Observer, FactIdentity: t.Identity.Name,
		FactProfile: t.Identity.Profile, FactExpectedPrincipal: t.Identity.Expected(),
	}
	if t.Kind == KindALB {
		all = all.Merge(t.Group.facts(t.Name))
	}
	for _, s := range r.Steps {
		all = all.Merge(s.Facts)
	}
	return all.Merge(Facts{FactExpectedUsername: t.Expect.Username, FactExpectedGroups: strings.Join(t.Expect.Groups, ",")})
}
