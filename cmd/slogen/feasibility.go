// The tables of what the alerts of one SLO can tell.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// shares are the failure ratios for which detection and reset are told.
var shares = []struct {
	name  string
	ratio *big.Rat
}{{"all fail", big.NewRat(1, 1)}, {"10 % fail", big.NewRat(1, 10)}, {"2 % fail", big.NewRat(1, 50)}}

// printPlan prints the budget, a row for each tier of the alerts that are asked for, and one for each alert.
func printPlan(w io.Writer, p slo.Plan, alerts slo.Alerts, alarms *alarmCache) {
	events, bad := p.Budget()
	_, _ = fmt.Fprintf(w, "  objective %s %% over %s, a probe every %s: %s of %s probes of one target may fail, which is %s\n", p.Objective, slo.FormatDuration(p.Windows.Period),
		slo.FormatDuration(p.Cadence), thousands(bad), thousands(events), slo.FormatDuration(time.Duration(bad)*p.Cadence))
	var tiers, whole []string
	for _, severity := range wanted(alerts) {
		for _, tier := range p.Windows.Of(severity) {
			tiers = append(tiers, tierRow(p, tier))
		}
		whole = append(whole, alertRow(p, severity, alarms))
	}
	printTable(w, "tier\twindows\tburn\tfailures°\tall fail*\t10 % fail*\t2 % fail*", tiers)
	printTable(w, "alert\tkept for\tfalse in 30d**\tat full burn\t1 failure fires***\t"+strconv.FormatInt(p.MinFailures, 10)+" do", whole)
}

// legend explains the columns, once.
const legend = `°   needed in the longer window; (that the burn rate alone would need, where our floor of 3 decides)
*   fires so long after the first failed probe / resets so long after the last one, both at the latest
**  alarms expected though nothing is wrong but what half the budget allows, and all of it at full burn; (without our floor of 3 failures)
*** how long a new SLO alerts on so few failures, because its windows are young; (without our floor)
`

func printTable(w io.Writer, header string, rows []string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range slices.Concat([]string{header}, rows) {
		_, _ = fmt.Fprintln(table, "  "+row)
	}
	_ = table.Flush()
}

// wanted are the severities that are asked for.
func wanted(alerts slo.Alerts) []slo.Severity {
	var all []slo.Severity
	if alerts.Page {
		all = append(all, slo.Page)
	}
	if alerts.Ticket {
		all = append(all, slo.Ticket)
	}
	return all
}

// tierRow is what one tier needs, and when it fires and resets.
func tierRow(p slo.Plan, t slo.Tier) string {
	burn, _ := t.Burn.Float64()
	needed := strconv.FormatInt(p.Needed(t), 10)
	switch byRatio := p.ByRatio(t); {
	case !p.CanFire(t):
		needed = "never"
	case byRatio < p.Needed(t):
		needed += fmt.Sprintf(" (%d)", byRatio)
	}
	row := []string{t.String(), slo.FormatDuration(t.Long) + "/" + slo.FormatDuration(t.Short), strconv.FormatFloat(burn, 'g', 4, 64) + "x", needed}
	for _, share := range shares {
		fires, ok := p.Detection(t, share.ratio)
		if !ok {
			row = append(row, "never")
			continue
		}
		resets, _ := p.Reset(t, share.ratio)
		row = append(row, slo.FormatDuration(fires)+"/"+slo.FormatDuration(resets))
	}
	return strings.Join(row, "\t")
}

// alertRow is what both tiers of an alert do together.
func alertRow(p slo.Plan, severity slo.Severity, alarms *alarmCache) string {
	young := slo.FormatDuration(p.Unguarded().ColdStart(severity, 1))
	return fmt.Sprintf("%s\t%s\t%s\t%s\tnever (%s)\t%s", severity, slo.FormatDuration(p.KeepFiringFor(severity)), alarms.of(p, severity, 0.5), alarms.of(p, severity, 1),
		young, slo.FormatDuration(p.ColdStart(severity, p.MinFailures)))
}

// alarmCache keeps estimates, since most SLOs share a plan.
type alarmCache struct{ known map[string]string }

// of is the estimate as it is printed, and that of rules without a floor where the floor decides.
func (a *alarmCache) of(p slo.Plan, severity slo.Severity, burn float64) string {
	key := fmt.Sprint(p.Objective, p.Windows.Period, p.Cadence, severity, burn)
	if text, ok := a.known[key]; ok {
		return text
	}
	text := rate(p.FalseAlarms(severity, burn, p.KeepFiringFor(severity)))
	if slices.ContainsFunc(p.Windows.Of(severity), func(t slo.Tier) bool { return p.Needed(t) > p.ByRatio(t) }) {
		text += " (" + rate(p.Unguarded().FalseAlarms(severity, burn, 0)) + ")"
	}
	if a.known == nil {
		a.known = map[string]string{}
	}
	a.known[key] = text
	return text
}

// rate writes an estimate to two digits; of none at all, the rate that would have shown one.
func rate(e slo.Estimate) string {
	switch {
	case e.PerMonth == 0:
		return "<" + strconv.FormatFloat(e.Error, 'g', 1, 64)
	case e.PerMonth >= 10:
		return strconv.FormatFloat(e.PerMonth, 'f', 0, 64)
	}
	return strconv.FormatFloat(e.PerMonth, 'g', 2, 64)
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
