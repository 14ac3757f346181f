// Annotations: what an alert tells the person who gets it, looked up when it fires.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// burnAnnotations are those of an alert on a burn rate. The user's own, and Sloth's title and summary, are kept.
func (s *sloRules) burnAnnotations(severity slo.Severity, plain map[string]string) map[string]string {
	window := s.windows.Of(severity)[0].Long
	budget := number(s.Objective.Budget())
	bad, events := badPrefix+increaseOver(window)+"$SELF", eventsPrefix+increaseOver(window)+"$SELF"
	left := fill("(BUDGET * EVENTS - BAD)", "BUDGET", budget, "EVENTS", eventsPrefix+suffixPeriod+"$SELF", "BAD", badPrefix+suffixPeriod+"$SELF")
	ours := map[string]string{
		"burn_rate": s.lookup(ratioOver(window)+"$SELF / "+budget, "%.1f") + " times an even burn over the last " + span(window),
		"failures":  s.lookup(bad, "%.0f") + " of " + s.lookup(events, "%.0f") + " events in the last " + span(window),
		"budget_left": s.lookup(left, "%.1f") + " of " + s.lookup(budget+" * "+eventsPrefix+suffixPeriod+"$SELF", "%.1f") + " events, " +
			s.lookup("100 * "+left+" / ("+budget+" * "+eventsPrefix+suffixPeriod+"$SELF)", "%.1f") + " %, of the last " + span(s.windows.Period),
		"exhaustion": s.exhaustion(fill("LEFT / (BAD > 0) * SECONDS", "LEFT", left, "BAD", bad, "SECONDS", fmt.Sprint(window.Seconds()))),
	}
	if s.Probes != nil {
		for _, a := range s.Probes.FailuresBy {
			ours["most_failures_by_"+a.Label] = s.mostBy(a, window)
		}
	}
	s.addLinks(ours)
	maps.Copy(ours, plain)
	return ours
}

// exhaustion says when the budget is spent at the rate of the window.
func (s *sloRules) exhaustion(seconds string) string {
	return fill(`{{ with query (QUERY) }}{{ $left := . | first | value }}{{ if gt $left 0.0 }}in {{ $left | humanizeDuration }} at this rate{{ else }}the budget is spent{{ end }}{{ else }}unknown{{ end }}`,
		"QUERY", s.templated(seconds))
}

// mostBy names the value of a label that most failures have.
func (s *sloRules) mostBy(a Attribution, window time.Duration) string {
	shared := slices.DeleteFunc(slices.Clone(a.Query.By), func(label string) bool { return !slices.Contains(s.Groups(), label) })
	expr := fill("topk(1, (QUERY) and ON EVENTS$SELF > 0)", "QUERY", a.Query.over(window), "ON", on(shared), "EVENTS", eventsPrefix+increaseOver(window))
	return fill(`{{ with query (QUERY) }}{{ . | first | label "LABEL" }}{{ else }}unknown{{ end }}`, "QUERY", s.templated(expr), "LABEL", a.Label)
}

// lookup is a template that shows the value of an expression, in which $SELF selects the recordings of the alert's own group.
func (s *sloRules) lookup(expr, format string) string {
	return fill(`{{ with query (QUERY) }}{{ . | first | value | printf "FORMAT" }}{{ else }}unknown{{ end }}`, "QUERY", s.templated(expr), "FORMAT", format)
}

// templated is an expression as an argument of the template function query, with the values of the alert's labels in $SELF.
func (s *sloRules) templated(expr string) string {
	var selector, values strings.Builder
	fmt.Fprintf(&selector, "{sloth_id=%q", s.ID())
	for i, label := range s.Groups() {
		fmt.Fprintf(&selector, ",%s=%%[%d]q", label, i+1)
		fmt.Fprintf(&values, " $labels.%s", label)
	}
	selector.WriteString("}")
	expr = fill(expr, "%", "%%", "$SELF", selector.String(), "\n", " ")
	if values.Len() == 0 {
		return goString(strings.ReplaceAll(expr, "%%", "%"))
	}
	return "printf " + goString(expr) + values.String()
}

// goString is a string literal of Go's templates, without escapes where it can be.
func goString(text string) string {
	if strings.Contains(text, "`") {
		return fmt.Sprintf("%q", text)
	}
	return "`" + text + "`"
}

// addLinks adds where to read on.
func (s *sloRules) addLinks(annotations map[string]string) {
	if s.Probes == nil {
		return
	}
	if s.Probes.Runbook != "" {
		annotations["runbook_url"] = s.Probes.Runbook
	}
	if s.Probes.TargetPage != "" {
		annotations["target_page"] = s.Probes.TargetPage
	}
}

// The runbooks of the alerts that every SLO has.
const runbooks = "docs/runbooks/"

// absentAnnotations are those of alertDataAbsent.
func (s *sloRules) absentAnnotations() map[string]string {
	annotations := map[string]string{
		"title":       "{{$labels.sloth_service}} {{$labels.sloth_slo}} is not measured.",
		"summary":     "No slot came in the last " + span(s.absentWindow()) + " of what had events within a day: the prober is not scraped, or does not probe.",
		"description": "Failures are not seen while this lasts, and no budget is spent. It ends a day after a target was removed on purpose.",
	}
	s.addLinks(annotations)
	annotations["runbook_url"] = runbooks + "slo-data-absent.md"
	return annotations
}

// coverageAnnotations are those of alertCoverageLow.
func (s *sloRules) coverageAnnotations() map[string]string {
	annotations := map[string]string{
		"title":   "{{$labels.sloth_service}} {{$labels.sloth_slo}} is measured in part.",
		"summary": "Only {{ $value | humanizePercentage }} of the slots of the last hour ended in success or failure: the rest is unknown, or never came.",
	}
	s.addLinks(annotations)
	annotations["runbook_url"] = runbooks + "slo-coverage-low.md"
	return annotations
}
