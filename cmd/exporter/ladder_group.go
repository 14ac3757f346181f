// Below the ladder of a target group stand its targets, the worst first, and what AWS says beside what the cluster says.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// shownTargets is how many targets are listed; the others are counted.
const shownTargets = 20

func showGroup(b *strings.Builder, run chain.Run) {
	group := results.NewGroup(run)
	if group == nil {
		return
	}
	section(b, "Targets", targetTable(group.Targets, run.Reading.At))
	b.WriteString("\n")
	writeTitled(b, "AWS says:", group.AWS)
	if group.Cluster != "" {
		writeTitled(b, "cluster says:", group.Cluster)
	}
	if group.FailOpen != "" {
		b.WriteString("\n")
		writeLines(b, textIndent, wrap(group.FailOpen, textIndent))
	}
}

// writeTitled writes a text beside its title; further lines stand under the text.
func writeTitled(b *strings.Builder, title, text string) {
	const under = len("cluster says: ")
	lines := wrap(text, textIndent+under)
	writeLines(b, textIndent, []string{fmt.Sprintf("%-*s%s", under, title, lines[0])})
	writeLines(b, textIndent+under, lines[1:])
}

// targetTable has a row a target. Rows are never wrapped; what may be long stands at their end.
func targetTable(targets []chain.TargetReading, at time.Time) []string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, t := range targets[:min(len(targets), shownTargets)] {
		_, _ = fmt.Fprintln(table, strings.Join(cells(t, at), "\t")) // a strings.Builder takes everything
	}
	_ = table.Flush()
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	if more := len(targets) - shownTargets; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// cells are those of a row: state, code, id and port, zone, age, and who it is in the cluster.
func cells(t chain.TargetReading, at time.Time) []string {
	age := ""
	switch known := at.Sub(t.Since); {
	case t.Since.IsZero():
	case known < time.Second: // ELB tells no times: it may be so for long
		age = "first seen"
	default:
		age = "known for " + rough(known)
	}
	row := []string{stateMark(t.State) + " " + string(t.State), t.Code, results.TargetAddress(t), t.Zone, age, results.TargetOwner(t)}
	for i := range row {
		row[i] = chain.Redact(row[i])
	}
	return row
}

// stateMark is a state's shape; what is neither good nor bad is a ring.
func stateMark(state chain.TargetState) string {
	switch {
	case state == chain.TargetHealthy:
		return marks[chain.OutcomeSuccess]
	case state.Bad():
		return marks[chain.OutcomeFailure]
	}
	return "○"
}

// rough is a duration in its largest unit; a negative one, of clocks that disagree, is none.
func rough(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}
