// One target's page as its template shows it: the verdict, why, the fix, then the evidence of each step and what happened before.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"maps"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

type targetView struct {
	headView
	rowView
	RunID    string
	InARow   int // failures since the last success
	What     string
	Why      string
	RuledOut []string
	Fix      []fixLine
	Steps    []stepView
	Strip    []pointView // oldest first
	Kept     []failureView
}

// fixLine is a command to type, or a sentence.
type fixLine struct {
	Text    string
	Command bool
}

type stepView struct {
	Step     chain.Step
	Outcome  chain.Outcome
	Reason   string
	Took     string
	Evidence []factView
}

type factView struct{ Name, Value string }

// pointView is a run in the strip.
type pointView struct {
	Slot    moment
	Outcome chain.Outcome
	Where   string
}

// failureView is a failure that is kept.
type failureView struct {
	Slot   moment
	Where  string
	Detail string
}

func newTargetView(status results.Status, now time.Time) targetView {
	row := newRowView(status, now)
	view := targetView{headView: headView{row.Name, newMoment(now)}, rowView: row}
	if row.Pending {
		return view
	}
	view.Title = mark(row.Outcome) + " " + row.Name
	run := status.Latest
	told := results.Explain(*run)
	view.RunID, view.InARow, view.What, view.Why = visible(run.ID), status.ConsecutiveFailures, told.Meaning, visible(told.Why)
	view.RuledOut, view.Fix = allVisible(told.RuledOut), newFix(told.Fix)
	if group := groupOf(status); group != nil {
		view.Group.addMembers(group.Targets, now)
	}
	for _, s := range run.Steps {
		view.Steps = append(view.Steps, newStepView(s))
	}
	for _, p := range status.Strip {
		view.Strip = append(view.Strip, pointView{newMoment(p.Slot), p.Outcome, where(p.Step, p.Reason)})
	}
	for _, f := range status.Failures {
		view.Kept = append(view.Kept, failureView{newMoment(f.Slot), where(f.Verdict.Step, f.Verdict.Reason), short(f.Verdict.Detail)})
	}
	return view
}

func newFix(fix []results.FixLine) []fixLine {
	var lines []fixLine
	for _, line := range fix {
		lines = append(lines, fixLine{visible(line.Text), line.Command})
	}
	return lines
}

func allVisible(items []string) []string {
	var shown []string
	for _, item := range items {
		shown = append(shown, visible(item))
	}
	return shown
}

func newStepView(s chain.StepResult) stepView {
	view := stepView{Step: s.Step, Outcome: s.Outcome, Reason: visible(string(s.Reason))}
	if s.Outcome != chain.OutcomeSkipped {
		view.Took = took(s.Duration)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Facts)) {
		if name != chain.FactRuledOut { // has a list of its own
			view.Evidence = append(view.Evidence, factView{visible(string(name)), visible(s.Facts[name])})
		}
	}
	return view
}
