// Replicas: several probers of the same targets are several samplers, not several times as many events.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"math/big"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// scheduled says whether it is known how many slots one prober makes of a group: without a schedule, many events may be those of many targets.
func (s *sloRules) scheduled() bool {
	return s.Probes != nil && (s.Probes.FixedCadence || s.Probes.Slots != nil || s.Probes.Targets != "")
}

// replicas record how many probers' worth of events the last hour had: a whole number when it is within a tenth of one, as the count of a window is off by an event at its ends.
//
// A prober that ends in unknown all the time makes no events, so it does not count as one. The count is Prometheus' own: a gap of scrapes must not look like a second prober.
func (s *sloRules) replicas() []rulefmt.Rule {
	if !s.scheduled() {
		return nil
	}
	return []rulefmt.Rule{
		s.record(metricProbers, fill("(TOTAL)\n/\nEXPECTED", "TOTAL", s.Total.over(time.Hour), "EXPECTED", s.expected(s.Total.unitOver(time.Hour)))),
		s.record(metricReplicas, fill("clamp_min(round(PROBERS) and abs(PROBERS - round(PROBERS)) < 0.1 or PROBERS, 1)", "PROBERS", metricProbers+s.self)),
	}
}

// perReplica divides a count by the number of replicas: by that of the full hour when the count is that of the full hour.
func (s *sloRules) perReplica(suffix, count string) string {
	if !s.scheduled() {
		return count
	}
	replicas := "last_over_time(" + metricReplicas + s.self + "[2h])"
	if suffix == suffixHour {
		replicas = "(last_over_time(" + metricReplicas + s.self + fullHours(time.Hour) + ") or " + replicas + ")"
	}
	return fill("COUNT\n/ ON\nREPLICAS", "COUNT", count, "ON", s.on, "REPLICAS", replicas)
}

// expected is how many slots the cadence makes in a unit of time: a number, or a vector by group.
func (s *sloRules) expected(unit time.Duration) string {
	perTarget := number(big.NewRat(int64(unit), int64(s.Probes.Cadence)))
	if s.Probes.Targets == "" {
		return perTarget
	}
	return fill("(NUMBER * (TARGETS))", "NUMBER", perTarget, "TARGETS", s.Probes.Targets)
}
