// Budgets as a table: a line an SLO, and below it why nothing is known of some.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

var budgetColumns = []string{"SLO", "OBJECTIVE", "LEFT", "REMAINING", "OBSERVED", "COVERAGE", "BURN NOW", "SPENT IN", "MOST BY", "FIRING"}

// budgetText is what the command budget prints.
func budgetText(rows []slo.BudgetRow) string {
	if len(rows) == 0 {
		return "no SLOs\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(cells []string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) } // a strings.Builder takes everything
	line(budgetColumns)
	for _, row := range rows {
		line(append([]string{logged(row.String())}, budgetCells(row.Figures)...))
	}
	_ = table.Flush()
	var out strings.Builder
	for text := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(text, " \n") + "\n")
	}
	for _, row := range rows {
		if row.Problem != nil {
			fmt.Fprintf(&out, "? %s: %s\n", logged(row.String()), logged(row.Problem.Message))
		}
	}
	return out.String()
}

// budgetCells are those after the name.
func budgetCells(f *slo.Figures) []string {
	if f == nil {
		return []string{"?", "?", "?", "?", "?", "?", "?"}
	}
	firing := logged(strings.Join(f.Firing, ", "))
	return []string{logged(f.Objective) + " %", eventsLeft(*f), share(f.Remaining), observed(*f), share(f.Coverage), rate(f.BurnRate), spentIn(*f), cmp.Or(mostBy(*f), "-"), firing}
}

// observed is how much of the period has data.
func observed(f slo.Figures) string {
	days := fmt.Sprintf("%gd", f.PeriodDays)
	if !f.Partial {
		return days
	}
	return fmt.Sprintf("%s of %s", slo.Percent(f.Observed), days)
}

// spentIn is the time until nothing is left, at the burn rate of now.
func spentIn(f slo.Figures) string {
	if f.Exhaustion.At == nil {
		return logged(f.Exhaustion.Kind)
	}
	return rough(f.Exhaustion.At.Sub(f.AsOf).Round(time.Second))
}

// mostBy is the layer, and the reason, that most of the bad events come from; "" without any.
func mostBy(f slo.Figures) string {
	var parts []string
	for _, causes := range [][]slo.Cause{f.Layers, f.Reasons} {
		if len(causes) == 0 {
			continue
		}
		name := cmp.Or(causes[0].Step, causes[0].Reason, "unexplained")
		parts = append(parts, fmt.Sprintf("%s (%d)", logged(name), causes[0].Bad))
	}
	if len(parts) == 2 && parts[0] == parts[1] {
		parts = parts[:1]
	}
	return strings.Join(parts, ", ")
}
