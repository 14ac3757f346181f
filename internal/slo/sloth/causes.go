// Causes and age: which layer or reason the bad events of an hour are put down to, and how new the newest data is.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// causes are the bad events of the last 60 minutes by each label that failures are put down to.
func (s *sloRules) causes() []rulefmt.Rule {
	var rules []rulefmt.Rule
	for _, a := range s.attributions() {
		rules = append(rules, s.record(byPrefix+a.Label+":"+suffixHourly, s.eachPerReplica(a.Query.eventsOrValue())+" > 0"))
	}
	return rules
}

// attributions are the queries of causes that tell one group from another: those by the labels of the group and the cause, and no other.
func (s *sloRules) attributions() []Attribution {
	if s.Probes == nil {
		return nil
	}
	var all []Attribution
	for _, a := range s.Probes.FailuresBy {
		want := append(slices.Clone(s.Groups()), a.Label)
		slices.Sort(want)
		if slices.Equal(slices.Compact(want), a.Query.By) && !slices.Contains(s.Groups(), a.Label) {
			all = append(all, a)
		}
	}
	return all
}

// eventsOrValue is a query's exact count of the last 60 minutes, and what it gives over these where it is no increase of a counter.
func (q Query) eventsOrValue() string {
	if len(q.calls) == 0 {
		return "(" + q.over(time.Hour) + ")"
	}
	return eventsLastHour(q)
}

// eachPerReplica divides counts by cause, of which a group has several, by the number of replicas.
func (s *sloRules) eachPerReplica(count string) string {
	if !s.scheduled() {
		return count
	}
	return fill("COUNT\n/ ON group_left ()\nlast_over_time(REPLICAS[2h])", "COUNT", count, "ON", s.on, "REPLICAS", metricReplicas+s.self)
}

// newest is when the newest sample of the counters of all events was taken. A label that a join adds is on no counter, so a group that has no events of its own is none.
func (s *sloRules) newest() rulefmt.Rule {
	var expr string
	var seen []string
	for _, c := range s.Total.calls {
		if slices.Contains(seen, c.selector) {
			continue
		}
		seen = append(seen, c.selector)
		one := fill("max by (GROUPS) (timestamp(COUNTER))", "GROUPS", strings.Join(s.Groups(), ", "), "COUNTER", c.selector)
		if expr == "" {
			expr = one
			continue
		}
		expr = fill("(A >= B or B or A)", "A", expr, "B", one)
	}
	if strings.Contains(s.Total.text, "group_") {
		expr += fill("\nand ON\nEVENTS", "ON", s.on, "EVENTS", eventsPrefix+suffixHourly+s.self)
	}
	return s.record(metricNewest, expr)
}
