// What Sloth records about the SLO itself: objective and budget as exact decimals, and how fast and how far the budget is spent.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"maps"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/slok/sloth/pkg/common/conventions"
)

// burns are Sloth's recordings of burn rates and of the budget that is left. The budget is written out, so that nothing has to be joined.
func (s *sloRules) burns(plain []rulefmt.Rule) []rulefmt.Rule {
	budget := number(s.Objective.Budget())
	exprs := map[string]string{
		conventions.PromMetaSLOCurrentBurnRateRatioMetric:            ratioOver(s.windows.Tiers[0].Short) + s.self + " / " + budget,
		conventions.PromMetaSLOPeriodBurnRateRatioMetric:             ratioOver(s.windows.Period) + s.self + " / " + budget,
		conventions.PromMetaSLOPeriodErrorBudgetRemainingRatioMetric: "1 - " + conventions.PromMetaSLOPeriodBurnRateRatioMetric + s.self,
	}
	return s.rewritten(plain, exprs)
}

// meta are Sloth's recordings of what never changes. The labels of the SLO are on sloth_slo_info alone.
func (s *sloRules) meta(plain []rulefmt.Rule) []rulefmt.Rule {
	exprs := map[string]string{
		conventions.PromMetaSLOObjectiveRatioMetric:   "vector(" + number(s.Objective.Ratio()) + ")",
		conventions.PromMetaSLOErrorBudgetRatioMetric: "vector(" + number(s.Objective.Budget()) + ")",
		conventions.PromMetaSLOTimePeriodDaysMetric:   "",
		conventions.PromMetaSLOInfoMetric:             "",
	}
	rules := s.rewritten(plain, exprs)
	for i, rule := range rules {
		if rule.Record != conventions.PromMetaSLOInfoMetric {
			continue
		}
		rules[i].Labels = maps.Clone(s.Labels)
		maps.Copy(rules[i].Labels, rule.Labels)
		rules[i].Labels[conventions.PromSLOObjectiveLabelName] = s.Objective.String()
		rules[i].Labels[conventions.PromSLOVersionLabelName] = slothVersion
		rules[i].Labels[conventions.PromSLOModeLabelName] = slothMode
		rules[i].Labels[conventions.PromSLOSpecLabelName] = slothSpec
	}
	return rules
}

// What sloth_slo_info says of the generator. The version is not that of Sloth, so that an upgrade of it alone changes no rule.
const (
	slothVersion = "eks-slo-exporter"
	slothMode    = "slogen"
	slothSpec    = "prometheus/v1"
)

// rewritten are those of Sloth's recordings that are named, with an expression of ours where one is given.
func (s *sloRules) rewritten(plain []rulefmt.Rule, exprs map[string]string) []rulefmt.Rule {
	var rules []rulefmt.Rule
	for _, rule := range plain {
		expr, ours := exprs[rule.Record]
		if !ours {
			continue
		}
		if expr == "" {
			expr = rule.Expr
		}
		rules = append(rules, s.record(rule.Record, expr))
	}
	return rules
}
