// Error ratios: bad events of all events, over each window of Sloth's recordings.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"maps"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/slok/sloth/pkg/common/conventions"
)

// ratios are Sloth's recordings of error ratios with our expressions. The labels of the SLO are left out of them: a series whose labels change is two series, and breaks what reads it.
func (s *sloRules) ratios(plain []rulefmt.Rule) []rulefmt.Rule {
	rules := make([]rulefmt.Rule, 0, len(plain))
	for _, rule := range plain {
		text := rule.Labels[conventions.PromSLOWindowLabelName]
		window, _ := model.ParseDuration(text) // Sloth wrote it
		labelled := s.record(rule.Record, s.ratio(time.Duration(window)))
		labelled.Labels = maps.Clone(s.ids)
		labelled.Labels[conventions.PromSLOWindowLabelName] = text
		rules = append(rules, labelled)
	}
	return rules
}

// ratio is the error ratio over a window: of the exact counts, and of the counters themselves where a window is too short for these.
func (s *sloRules) ratio(window time.Duration) string {
	switch {
	case window == s.windows.Period:
		return s.ratioOf(suffixPeriod)
	case window >= time.Hour:
		return s.ratioOf(increaseOver(window))
	}
	return fill("((ERROR) or (TOTAL) * 0)\n/\n((TOTAL) > 0)", "ERROR", s.Error.over(window), "TOTAL", s.Total.over(window))
}

// ratioOf is the ratio of two recorded counts; nothing where nothing happened.
func (s *sloRules) ratioOf(suffix string) string {
	return fill("BAD / (EVENTS > 0)", "BAD", badPrefix+suffix+s.self, "EVENTS", eventsPrefix+suffix+s.self)
}
