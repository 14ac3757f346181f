// The report as text, for a terminal.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Text writes the report as tables.
func (r *Report) Text(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s: %s, %s %% over %s\n", r.Scenario, r.SLO, r.Objective, r.Period)
	if r.Description != "" {
		fmt.Fprintf(out, "%s\n", r.Description)
	}
	r.alertTable(out)
	r.budgetTable(out)
	fmt.Fprintf(out, "\ngate: %s, %s\n", r.Gate.Verdict, r.Gate.Why)
	fmt.Fprintf(out, "recorded NaN or infinite: %d; evaluations: %d, of which %d failed\n", r.NotFinite, r.Evaluations, r.Failed)
	for _, e := range r.Errors {
		fmt.Fprintf(out, "  %s  %s: %s\n", r.after(e.At), e.Rule, e.Error)
	}
	return out.Flush()
}

func (r *Report) alertTable(out io.Writer) {
	if len(r.Alerts) == 0 {
		fmt.Fprintf(out, "\nno alert\n")
		return
	}
	fmt.Fprintf(out, "\nALERT\tSEVERITY\tOF\tFIRES AT\tRESOLVES AT\tFOR\n")
	for _, a := range r.Alerts {
		for _, e := range a.Episodes {
			fires, resolves, lasted := "pending at "+r.after(e.PendingAt), "", ""
			if !e.FiringAt.IsZero() {
				fires, resolves, lasted = r.after(e.FiringAt), "still firing", short(r.To.Sub(e.FiringAt))
			}
			if !e.ResolvedAt.IsZero() {
				resolves, lasted = r.after(e.ResolvedAt), short(e.ResolvedAt.Sub(cmp.Or(e.FiringAt, e.PendingAt)))
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", a.Name, cmp.Or(a.Severity, "-"), a.group(), fires, resolves, lasted)
		}
	}
}

func (r *Report) budgetTable(out io.Writer) {
	if len(r.Budgets) == 0 {
		return
	}
	fmt.Fprintf(out, "\nBUDGET OF\tBAD\tEVENTS\tALLOWED\tLEFT\tRECORDED\n")
	for _, b := range r.Budgets {
		recorded := "nothing"
		if b.Recorded != nil {
			recorded = percent(*b.Recorded)
		}
		fmt.Fprintf(out, "%s\t%.0f\t%.0f\t%.1f\t%s\t%s\n", pairs(b.Labels), b.Bad, b.Total, b.Allowed, percent(b.Left), recorded)
	}
}

// group are the labels of an alert that tell it from those of other targets.
func (a Alert) group() string {
	own := maps.Clone(a.Labels)
	maps.DeleteFunc(own, func(name, _ string) bool { return strings.HasPrefix(name, "sloth_") || name == "severity" })
	return pairs(own)
}

func pairs(lset map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(lset)) {
		all = append(all, name+"="+lset[name])
	}
	return cmp.Or(strings.Join(all, " "), "-")
}

// after is a time as the scenario counts it.
func (r *Report) after(t time.Time) string {
	if t.Before(r.Start) {
		return "-" + short(r.Start.Sub(t))
	}
	return "+" + short(t.Sub(r.Start))
}

// short writes a duration without its zeros.
func short(d time.Duration) string {
	days := d / (24 * time.Hour)
	text := (d - days*24*time.Hour).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	switch {
	case days == 0:
		return text
	case text == "0s":
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, text)
}

func percent(ratio float64) string { return fmt.Sprintf("%.2f %%", ratio*100) }
