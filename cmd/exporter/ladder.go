// The ladder is a run for people: each step with its time and what it showed, then what broke, why, what was ruled out and the fix.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// rungs say which facts a step shows, and how each reads. They hold whether the step succeeded or not.
var rungs = map[chain.Step][]struct {
	format string
	fact   chain.Fact
}{
	chain.StepCredentials: {{"%s", chain.FactProvider}, {"as %s", chain.FactOIDCSubject}, {"token file %s", chain.FactTokenFile}},
	chain.StepSTS:         {{"%s", chain.FactCallerARN}, {"hop %s", chain.FactHop}, {"REUSED %s", chain.FactReused}, {"session ends %s", chain.FactSessionExpires}},
	chain.StepToken:       {{"ends %s", chain.FactTokenExpires}, {"cluster %s", chain.FactClusterStatus}, {"mode %s", chain.FactAuthMode}},
	chain.StepEndpoint: {
		{"%s", chain.FactAddress}, {"dns %s ms", chain.FactDNSTime}, {"tcp %s ms", chain.FactTCPTime}, {"tls %s ms", chain.FactTLSTime}, {"http %s ms", chain.FactHTTPTime},
		{"through proxy %s", chain.FactProxy},
	},
	chain.StepAccessEntry: {{"user %s", chain.FactUsername}, {"groups %s", chain.FactGroups}},
	chain.StepRBAC:        {{"rules checked: %s", chain.FactRulesChecked}},
	chain.StepRegistration: {
		{"%s targets", chain.FactTargetType}, {"service %s", chain.FactService}, {"load balancer %s", chain.FactLoadBalancerState}, {"zones %s", chain.FactZones},
		{"check %s", chain.FactHealthCheck}, {"zonal shift %s", chain.FactZonalShift}, {"anomaly %s", chain.FactAnomaly}, {"last read %s", chain.FactLastRead},
	},
	chain.StepHealth: {{"%s", chain.FactTargets}, {"fails open %s", chain.FactFailOpen}},
	chain.StepRequest: {
		{"status %s", chain.FactHTTPStatus}, {"%s", chain.FactAddress}, {"dns %s ms", chain.FactDNSTime}, {"tcp %s ms", chain.FactTCPTime}, {"tls %s ms", chain.FactTLSTime},
		{"http %s ms", chain.FactHTTPTime}, {"certificate ends %s", chain.FactTLSNotAfter},
	},
}

// spaced puts a blank after each comma of a list.
var spaced = strings.NewReplacer(", ", ", ", ",", ", ")

var marks = map[chain.Outcome]string{
	chain.OutcomeSuccess: "✔", chain.OutcomeFailure: "✖", chain.OutcomeUnknown: "?", chain.OutcomeSkipped: "·",
}

// The layout, in columns of a terminal.
const (
	rungIndent = 2 + 2 + 14 + 10 + 2 // mark, step, time
	textIndent = 6
)

// ladder renders a run as text.
func ladder(run chain.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s  (%s)\n", marks[run.Verdict.Outcome], run.Target.Name, headline(run.Verdict), took(run.Duration))
	for _, s := range run.Steps {
		time, lines := "", []string{"skipped"}
		if s.Outcome != chain.OutcomeSkipped {
			time, lines = took(s.Duration), wrapItems(shown(s), rungIndent)
		}
		row := fmt.Sprintf("  %s %-14s%10s  %s", marks[s.Outcome], s.Step, time, lines[0])
		b.WriteString(strings.TrimRight(row, " ") + "\n")
		writeLines(&b, rungIndent, lines[1:])
	}
	showGroup(&b, run)
	if run.Verdict.Outcome != chain.OutcomeSuccess {
		explain(&b, run)
	}
	return b.String()
}

func headline(v chain.Verdict) string {
	parts := []string{v.Step.String(), string(v.Reason)}
	where := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " / ")
	return strings.TrimRight(strings.ToUpper(v.Outcome.String())+"  "+where, " ")
}

// shown is the reason, when there is one, and the facts.
func shown(s chain.StepResult) []string {
	var parts []string
	if s.Reason != "" {
		parts = append(parts, string(s.Reason))
	}
	for _, r := range rungs[s.Step] {
		if value := s.Facts[r.fact]; value != "" {
			parts = append(parts, fmt.Sprintf(r.format, spaced.Replace(value)))
		}
	}
	return parts
}

// took shows a duration with its unit; what is not nothing is never shown as 0.
func took(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d > 0 && ms < 0.1:
		return "<0.1 ms"
	default:
		return fmt.Sprintf("%.1f ms", ms)
	}
}

// summary counts the verdicts of several targets.
func summary(runs []chain.Run) string {
	count := map[chain.Outcome]int{}
	for _, run := range runs {
		count[run.Verdict.Outcome]++
	}
	return fmt.Sprintf("%d targets: %d good, %d failing, %d unknown\n", len(runs), count[chain.OutcomeSuccess], count[chain.OutcomeFailure], count[chain.OutcomeUnknown])
}
