// Alerts: Sloth's burn-rate alerts with exact thresholds and a floor of failures, and alerts on what is not measured.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/slok/sloth/pkg/common/conventions"
	slothmodel "github.com/slok/sloth/pkg/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// minCoverage is the coverage of the last hour below which a ticket says so: what is known of less than nine slots in ten is not the whole truth.
const minCoverage = "0.9"

// alerts are all alerts of the SLO.
func (s *sloRules) alerts(plain []rulefmt.Rule) []rulefmt.Rule {
	rules := make([]rulefmt.Rule, 0, len(plain)+2)
	for _, rule := range plain {
		rules = append(rules, s.burnAlert(rule))
	}
	if s.covered() { // where nobody says what should have been probed, no events may be no trouble
		rules = append(rules, s.dataAbsent(), s.coverageLow())
	}
	return rules
}

// burnAlert is one of Sloth's alerts.
func (s *sloRules) burnAlert(rule rulefmt.Rule) rulefmt.Rule {
	severity := slo.Ticket
	if rule.Labels[conventions.PromSLOSeverityLabelName] == slothmodel.PageAlertSeverity.String() {
		severity = slo.Page
	}
	var conditions []string
	for _, tier := range s.windows.Of(severity) {
		conditions = append(conditions, s.tier(tier))
	}
	rule.Expr = strings.Join(conditions, " or ")
	rule.Labels = s.alertLabels(rule.Labels)
	rule.KeepFiringFor = model.Duration(s.keepFiringFor(severity))
	rule.Annotations = s.burnAnnotations(severity, rule.Annotations)
	return rule
}

// tier is the condition of one tier: both ratios above the threshold, and enough failures to tell from chance. Counts are compared half an event below, as they may be shares of several probers.
func (s *sloRules) tier(t slo.Tier) string {
	return fill(`(
  max without (LABEL) (SHORT > LIMIT) and max without (LABEL) (LONG > LIMIT) and COUNT > FLOOR
)`,
		"LABEL", conventions.PromSLOWindowLabelName, "LIMIT", number(t.Threshold(s.Objective)),
		"SHORT", ratioOver(t.Short)+s.self, "LONG", ratioOver(t.Long)+s.self,
		"COUNT", badPrefix+increaseOver(t.Long)+s.self, "FLOOR", fmt.Sprintf("%d.5", slo.MinFailures-1))
}

// keepFiringFor keeps an alert from flapping at a steady share of failures. It comes of the cadence, so it is 0 where that is not known.
func (s *sloRules) keepFiringFor(severity slo.Severity) time.Duration {
	if s.Probes == nil {
		return 0
	}
	plan, err := slo.NewPlan(s.Objective, s.windows, s.Probes.Cadence)
	if err != nil { // a cadence that Read refuses
		return 0
	}
	return plan.KeepFiringFor(severity)
}

// alertLabels are the labels of an alert: those of the SLO, which its series do not carry, and its own.
func (s *sloRules) alertLabels(own map[string]string) map[string]string {
	labels := maps.Clone(s.Labels)
	maps.Copy(labels, own)
	return labels
}

// severityLabels are the labels of an alert of ours that is as urgent as one of the user's.
func (s *sloRules) severityLabels(severity slo.Severity) map[string]string {
	own := maps.Clone(s.Alerting.Labels)
	alert := s.Alerting.TicketAlert
	if severity == slo.Page {
		alert = s.Alerting.PageAlert
	}
	maps.Copy(own, alert.Labels)
	own[conventions.PromSLOSeverityLabelName] = severity.String()
	maps.Copy(own, map[string]string{ // the series have them too; here they tell the alerts of two SLOs apart
		conventions.PromSLOIDLabelName: s.ID(), conventions.PromSLOServiceLabelName: s.service, conventions.PromSLONameLabelName: s.Name,
	})
	return s.alertLabels(own)
}

// absentWindow is how long no slot may come: 3 minutes, and never less than 6 slots. With the minute that it must last, an unscraped prober is told within 5 minutes.
func (s *sloRules) absentWindow() time.Duration {
	const least, slots = 3 * time.Minute, 6
	if s.Probes == nil {
		return least
	}
	return max(least, slots*s.Probes.Cadence)
}

// dataAbsent fires for each group that had events within a day and has no slots now.
func (s *sloRules) dataAbsent() rulefmt.Rule {
	severity := slo.Page
	if s.Alerting.PageAlert.Disable {
		severity = slo.Ticket
	}
	return rulefmt.Rule{
		Alert: alertDataAbsent, For: model.Duration(time.Minute), Labels: s.severityLabels(severity),
		Expr: fill("max_over_time(EVENTS[1d]) > 0 unless ON (SLOTS > 0)",
			"EVENTS", eventsPrefix+suffixHourly+s.self, "ON", s.on, "SLOTS", s.slots().over(s.absentWindow())),
		Annotations: s.absentAnnotations(),
	}
}

// coverageLow fires for each group that is older than an hour and has few events of its slots.
func (s *sloRules) coverageLow() rulefmt.Rule {
	return rulefmt.Rule{
		Alert: alertCoverageLow, For: model.Duration(5 * time.Minute), Labels: s.severityLabels(slo.Ticket),
		Expr:        fill("COVERAGE < LEAST and EVENTS offset 1h", "COVERAGE", metricCoverage+s.self, "LEAST", minCoverage, "EVENTS", eventsPrefix+suffixHourly+s.self),
		Annotations: s.coverageAnnotations(),
	}
}
