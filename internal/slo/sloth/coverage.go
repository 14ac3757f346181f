// Coverage: how much of what should have been probed was, so that a budget over few events shows it.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// covered says whether it is known what should have been probed.
func (s *sloRules) covered() bool {
	return s.Probes != nil && (s.Probes.FixedCadence || s.Probes.Slots != nil)
}

// slots is the query of what coverage is measured against.
func (s *sloRules) slots() Query {
	if s.Probes != nil && s.Probes.Slots != nil {
		return *s.Probes.Slots
	}
	return s.Total
}

// coverage are the slots of the last hour, and the share of them that were events.
func (s *sloRules) coverage() []rulefmt.Rule {
	if !s.covered() {
		return nil
	}
	slots := eventsLastHour(s.slots())
	switch {
	case s.Probes.FixedCadence && s.Probes.Targets == "":
		slots = fill("clamp_min(\nSLOTS, EXPECTED)", "SLOTS", slots, "EXPECTED", s.expected(time.Hour))
	case s.Probes.FixedCadence:
		slots = fill("(SLOTS > EXPECTED or EXPECTED)", "SLOTS", slots, "EXPECTED", s.expected(time.Hour))
	}
	return []rulefmt.Rule{
		s.record(slotsPrefix+suffixHourly, s.perReplica(suffixHourly, slots)),
		s.record(metricCoverage, fill("EVENTS / (SLOTS > 0)", "EVENTS", eventsPrefix+suffixHourly+s.self, "SLOTS", slotsPrefix+suffixHourly+s.self)),
	}
}

// periodCoverage are how many of the period's hours have data, and the coverage of these.
func (s *sloRules) periodCoverage() []rulefmt.Rule {
	period := s.windows.Period
	rules := []rulefmt.Rule{s.record(metricObserved, fill("count_over_time(last_over_time(HOURS[59m] offset 1m)STEPS) / ALL or EVENTS * 0",
		"ALL", strconv.Itoa(int(period/time.Hour)), "HOURS", eventsPrefix+suffixHours+s.self, "STEPS", fullHours(period), "EVENTS", eventsPrefix+suffixHourly+s.self))}
	if s.covered() {
		rules = append(rules, s.record(metricPeriodCoverage, fill("sum_over_time(EVENTSSTEPS) / (sum_over_time(SLOTSSTEPS) > 0)",
			"EVENTS", eventsPrefix+suffixHourly+s.self, "SLOTS", slotsPrefix+suffixHourly+s.self, "STEPS", fullHours(period))))
	}
	return rules
}
