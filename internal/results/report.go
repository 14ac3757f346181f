// A report is a run as JSON: one object of `probe --output=json` and of the API, whose field names are a contract.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Report is one run for machines. On success Step and Reason are "", on unknown they name the step that could not tell and why.
type Report struct {
	Target     string        `json:"target"`
	Kind       chain.Kind    `json:"kind"`
	Cluster    string        `json:"cluster"`
	Identity   string        `json:"identity"`
	Principal  string        `json:"principal"` // the IAM spelling of who AWS said the caller was; "" when the run did not get that far
	Result     chain.Outcome `json:"result"`
	Step       chain.Step    `json:"step"`
	Reason     chain.Reason  `json:"reason"`
	Detail     string        `json:"detail"`
	Fix        string        `json:"fix"`
	Started    time.Time     `json:"started"` // UTC, to the millisecond
	DurationMS Milliseconds  `json:"duration_ms"`
	Steps      []StepReport  `json:"steps"` // every step of the chain, in order, skipped ones too

	*GroupReport // of alb targets; nil leaves its fields out
}

// StepReport is one step of a Report.
type StepReport struct {
	Step       chain.Step    `json:"step"`
	Result     chain.Outcome `json:"result"`
	Reason     chain.Reason  `json:"reason"`
	Detail     string        `json:"detail"`
	DurationMS Milliseconds  `json:"duration_ms"`
	Evidence   chain.Facts   `json:"evidence"` // never null
}

// Milliseconds is a duration in JSON: a number, to the microsecond.
type Milliseconds float64

func milliseconds(d time.Duration) Milliseconds {
	return Milliseconds(float64(d.Round(time.Microsecond)/time.Microsecond) / 1000)
}

// NewReport makes the report of a run. A step of the chain that the run does not mention is shown as skipped.
func NewReport(run chain.Run) Report {
	report := Report{
		Target: run.Target.Name, Kind: run.Target.Kind, Cluster: run.Target.Cluster.Name, Identity: run.Target.Identity.Name, Principal: run.Facts()[chain.FactPrincipal],
		Result: run.Verdict.Outcome, Step: run.Verdict.Step, Reason: run.Verdict.Reason, Detail: run.Verdict.Detail, Fix: run.Verdict.Fix,
		Started: run.Started.UTC().Truncate(time.Millisecond), DurationMS: milliseconds(run.Duration), Steps: []StepReport{},
	}
	showed := map[chain.Step]chain.StepResult{}
	for _, result := range run.Steps {
		showed[result.Step] = result
	}
	for _, step := range run.Target.Kind.Steps() {
		result, ok := showed[step]
		if !ok {
			result.Outcome = chain.OutcomeSkipped
		}
		report.Steps = append(report.Steps, StepReport{
			Step: step, Result: result.Outcome, Reason: result.Reason, Detail: result.Detail, DurationMS: milliseconds(result.Duration), Evidence: result.Facts.Merge(),
		})
	}
	if run.Target.Kind == chain.KindALB {
		report.GroupReport = newGroupReport(run.Target.Group, run.Reading)
	}
	return report
}
