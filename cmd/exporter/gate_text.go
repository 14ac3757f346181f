// A gate's decision as text: short lines for the log of a pipeline, and what GitHub Actions reads.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// gateWords are how an answer stands at the beginning of a line, and its mark.
var gateWords = map[slo.Answer]struct{ word, mark string }{
	slo.Allow:      {"ALLOW", marks[chain.OutcomeSuccess]},
	slo.Block:      {"BLOCK", marks[chain.OutcomeFailure]},
	slo.CannotTell: {"CANNOT TELL", marks[chain.OutcomeUnknown]},
}

// logged makes foreign text fit for a log line that a pipeline reads: on one line, and no command of Azure's or GitHub's old kind, which count anywhere in it ("##vso[", "##[").
func logged(text string) string {
	text = chain.Redact(text)
	for strings.Contains(text, "##") {
		text = strings.ReplaceAll(text, "##", "# #")
	}
	return text
}

// gateText is a decision for people: the answer and why, a line an SLO, when it reopens, and what else is to be known. No line begins with foreign text.
func gateText(d slo.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n", gateWords[d.Answer].word, logged(d.Gate), logged(d.Message))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range d.SLOs {
		row := append([]string{gateWords[s.Answer].mark + " " + logged(s.String()), string(s.Because)}, gateCells(s)...)
		_, _ = fmt.Fprintln(table, "  "+strings.Join(row, "\t")) // a strings.Builder takes everything
	}
	_ = table.Flush()
	if when := gateReopens(d); when != "" {
		b.WriteString("  " + logged(when) + "\n")
	}
	for _, note := range d.Notes {
		b.WriteString("  note: " + logged(note) + "\n")
	}
	return b.String()
}

// gateCells are what is known of an SLO, or why nothing is.
func gateCells(s slo.SLODecision) []string {
	if s.Figures == nil {
		return []string{logged(s.Message)}
	}
	cells := []string{eventsLeft(*s.Figures) + " left", share(s.Remaining), "burn " + rate(s.BurnRate), "coverage " + share(s.Coverage)}
	if s.Partial {
		cells = append(cells, "partial: "+slo.Percent(s.Observed)+" of the period")
	}
	if s.Tier != "" {
		cells = append(cells, logged(s.Tier))
	}
	return cells
}

// gateReopens says when a closed gate is open again, "" when it is open or nobody can tell whether it is.
func gateReopens(d slo.Decision) string {
	o := d.Reopens
	judged := d.Answer
	if d.Otherwise != nil {
		judged = d.Otherwise.Answer
	}
	if judged != slo.Block {
		return ""
	}
	text := o.String()
	if o.At != nil {
		text = "if nothing more fails, " + text
	}
	if d.Otherwise != nil {
		text = "by itself: " + text
	}
	if more := o.WithMore; more != nil && more.At != nil {
		text += fmt.Sprintf("; with %d more bad events, at %s", more.Bad, more.At.Format(time.RFC3339))
	}
	return text
}

// eventsLeft is what is left of the whole events that may be bad, such as "61 of 86".
func eventsLeft(f slo.Figures) string { return fmt.Sprintf("%d of %d", f.Left, f.Left+f.Bad) }

// share is a share that may not be known.
func share(x *float64) string {
	if x == nil {
		return "?"
	}
	return slo.Percent(*x)
}

// rate is a burn rate that may not be known.
func rate(x *float64) string {
	if x == nil {
		return "?"
	}
	return fmt.Sprintf("%.1f", *x)
}
