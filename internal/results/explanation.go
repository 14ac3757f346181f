// An explanation is a verdict for people, cut into its parts, for the ladder of a terminal and the pages alike.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Explanation is what there is to say of a run that is no success; of a success its parts are empty.
type Explanation struct {
	Meaning  string   // what the reason means
	Why      string   // what this run showed
	RuledOut []string // what it is not: the steps that worked, then what the run excluded, or else what the reason excludes by itself
	Fix      []FixLine
}

// FixLine is one line of a fix: a command to paste, or a sentence.
type FixLine struct {
	Text    string
	Command bool
}

// programs begin the lines of a fix that are commands.
var programs = []string{"aws", "kubectl", "curl", "dig", "openssl", "chronyc", "sudo"}

// ruledOutMark begins, in a reason's evidence and fix, the sentence of what it excludes.
const ruledOutMark = "Ruled out: "

// Explain cuts a run's verdict into its parts.
func Explain(run chain.Run) Explanation {
	v := run.Verdict
	if v.Outcome == chain.OutcomeSuccess {
		return Explanation{}
	}
	row, _ := chain.LookupReason(v.Step, v.Reason)
	listed := run.Facts()[chain.FactRuledOut]
	return Explanation{
		Meaning: row.Meaning, Why: strings.Replace(v.Detail, "; ruled out: "+listed, "", 1),
		RuledOut: ruledOut(run.Steps, row, listed), Fix: fixLines(v.Fix),
	}
}

func ruledOut(steps []chain.StepResult, row chain.ReasonInfo, listed string) []string {
	var worked, items []string
	for _, s := range steps {
		if s.Outcome == chain.OutcomeSuccess {
			worked = append(worked, s.Step.String())
		}
	}
	if len(worked) > 0 {
		items = append(items, strings.Join(worked, ", ")+": worked in this run")
	}
	if listed != "" {
		return append(items, strings.Split(listed, "; ")...)
	}
	if _, told, ok := strings.Cut(row.Evidence, ruledOutMark); ok && !strings.HasPrefix(told, "{") {
		items = append(items, strings.TrimSuffix(told, "."))
	}
	return items
}

// fixLines leaves out the line of what was ruled out, which has a part of its own.
func fixLines(fix string) []FixLine {
	var lines []FixLine
	for line := range strings.Lines(fix) {
		text := strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(text, ruledOutMark) {
			continue
		}
		program, _, _ := strings.Cut(text, " ")
		lines = append(lines, FixLine{text, slices.Contains(programs, program)})
	}
	return lines
}
