// The rules that belong to no SLO: whether the exporter is there at all, and whether alerts arrive.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// buildInfo is the metric that every exporter shows while it runs.
const buildInfo = "eks_slo_exporter_build_info"

// ExporterRules are the alerts of the exporter itself, once for all specifications.
func ExporterRules() *Rules {
	return &Rules{Service: "eks-slo-exporter", Groups: []rulefmt.RuleGroup{{
		Name: "eks-slo-exporter", Interval: model.Duration(interval),
		Rules: []rulefmt.Rule{
			{
				Alert: alertExporterDown, Expr: "absent(" + buildInfo + ")", For: model.Duration(2 * time.Minute),
				Labels: map[string]string{"severity": "page"},
				Annotations: map[string]string{
					"title":       "No eks-slo-exporter is scraped.",
					"summary":     "No exporter has been scraped for 2 minutes: nothing is probed, or Prometheus cannot reach it.",
					"description": "No SLO is measured while this lasts.",
					"runbook_url": runbooks + "exporter-down.md",
				},
			},
			{
				Alert: alertWatchdog, Expr: "vector(1)",
				Labels: map[string]string{"severity": "none"},
				Annotations: map[string]string{
					"title":       "Alerts arrive.",
					"summary":     "This alert always fires. When it does not arrive, neither would any other.",
					"runbook_url": runbooks + "watchdog.md",
				},
			},
		},
	}}}
}
