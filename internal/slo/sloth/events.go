// Exact counts of events: the counters' own values at full hours, per series, so that consecutive counts telescope.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// lastHour is how many events a counter made in the last 60 minutes.
//
// It is the difference of the last values known now and an hour ago, so two such counts an hour apart have no event between them and none in common, whatever was scraped when. A series
// that is new counts from its first value. A counter that was reset in the two hours is left to ESTIMATE.
const lastHour = `(
    last_over_time(C[1h])
    - (last_over_time(C[1h] offset 1h) or min_over_time(C[1h]))
    unless resets(C[2h]) > 0
    or ESTIMATE
  )`

// The estimates of an hour with a reset.
//
// Prometheus' own is off by the events at the ends of the hour, less than one in a hundred. The other reads the counter in steps of 15 s, which a subquery does at full quarter minutes: at a
// full hour its ends are the hour's own, so nothing is extrapolated but the 1 ms that takes the first of them in, and every reset is seen unless the counter is scraped more often than that.
const (
	estimated = "increase(C[1h])"
	stepped   = "increase(C[1h1ms:15s])"
)

// sinceHour is how many events a counter made since the last full hour.
//
// The value at the full hour is that of its last sample in the hour before. After a reset since then it is the estimate of the last 60 minutes, less what came before the full hour; when
// there were resets before as well, what was made since the last of them, until the hour is full.
const sinceHour = `(
    last_over_time(C[1h])
    - (FULL or min_over_time(C[1h]))
    unless resets(C[2h]) > RESETS
    or increase(C[1h])
    - clamp_min(FULL - last_over_time(C[1h] offset 1h), 0)
    unless RESETS > 0
    or last_over_time(C[1h])
  )`

// eventsLastHour is a query's count of the last 60 minutes.
func eventsLastHour(q Query) string { return counted(q, lastHour, "ESTIMATE", estimated) }

// eventsFullHour is a query's count of the last full hour of the clock: that of the last 60 minutes as it was then, so that it does not matter when rules are evaluated.
func eventsFullHour(q Query) string { return asOfFullHour(counted(q, lastHour, "ESTIMATE", stepped)) }

// eventsSinceHour is a query's count since the last full hour.
func eventsSinceHour(q Query) string {
	return counted(q, sinceHour, "FULL", asOfFullHour("last_over_time(C[1h])"), "RESETS", asOfFullHour("resets(C[2h])"))
}

// asOfFullHour is what an expression was at the last full hour.
func asOfFullHour(expr string) string { return "last_over_time(" + expr + fullHours(time.Hour) + ")" }

// counted is a query with a template of PromQL in place of each of its increases; C in it is the counter.
func counted(q Query, template string, pairs ...string) string {
	template = fill(template, pairs...)
	return "(" + q.replaced(func(selector string) string { return fill(template, "C[", selector+"[") }) + ")"
}

// kinds are the two counts of every SLO.
func (s *sloRules) kinds() []kind { return []kind{{eventsPrefix, s.Total}, {badPrefix, s.Error}} }

// events are the counts that are recorded at every evaluation.
func (s *sloRules) events() []rulefmt.Rule {
	rules := s.replicas()
	for suffix, count := range orderedCounts {
		for _, k := range s.kinds() {
			rules = append(rules, s.count(k, suffix, count(k.query)))
		}
	}
	for _, k := range s.kinds() {
		rules = append(rules, s.record(k.prefix+suffixRecent, fill("HOUR + SINCE or SINCE or HOUR",
			"HOUR", k.prefix+suffixHour+s.self, "SINCE", k.prefix+suffixSince+s.self)))
	}
	for _, window := range s.longWindows() {
		for _, k := range s.kinds() {
			rules = append(rules, s.record(k.prefix+increaseOver(window), s.overHours(k, window)))
		}
	}
	for _, k := range s.kinds() {
		rules = append(rules, s.record(k.prefix+suffixPeriod, s.overHours(k, s.windows.Period)+"\nor\n"+s.fullHoursOf(k, s.windows.Period)))
	}
	return rules
}

// orderedCounts are the counts of a query that are taken from its counters.
func orderedCounts(yield func(suffix string, count func(Query) string) bool) {
	_ = yield(suffixHourly, eventsLastHour) && yield(suffixHour, eventsFullHour) && yield(suffixSince, eventsSinceHour)
}

// count records a count of one prober's events. No bad event where there are events is 0, when the series of errors are missing.
func (s *sloRules) count(k kind, suffix, count string) rulefmt.Rule {
	expr := s.perReplica(suffix, count)
	if k.prefix == badPrefix {
		expr += fill("\nor ON\nEVENTS * 0", "ON", s.on, "EVENTS", eventsPrefix+suffix+s.self)
	}
	return s.record(k.prefix+suffix, expr)
}

// hours keep the counts of the full hours, seldom enough that a period of them is read fast.
func (s *sloRules) hours() []rulefmt.Rule {
	var rules []rulefmt.Rule
	for _, k := range s.kinds() {
		rules = append(rules, s.record(k.prefix+suffixHours, k.prefix+suffixHour+s.self))
	}
	return rules
}

// longWindows are the windows of the alerts that are longer than an hour, shortest first.
func (s *sloRules) longWindows() []time.Duration {
	var windows []time.Duration
	for _, tier := range s.windows.Tiers {
		for _, window := range []time.Duration{tier.Short, tier.Long} {
			if window > time.Hour {
				windows = append(windows, window)
			}
		}
	}
	slices.Sort(windows)
	return slices.Compact(windows)
}

// overHours is the exact count over a window of whole hours: what the full hours in it made, and what came since, less what came at its beginning before the first of them.
func (s *sloRules) overHours(k kind, window time.Duration) string {
	return fill(`clamp_min(
  (RECENT + HOURS or RECENT)
  -
  (RECENT offset WINDOW or RECENT * 0),
  0
)`,
		"RECENT", k.prefix+suffixRecent+s.self, "HOURS", s.fullHoursOf(k, window), "WINDOW", span(window))
}

// fullHoursOf sums up the full hours of a window, but for the last one, which is in recent.
//
// What is kept of an hour is read a minute before the next hour ends: it is lost only if no rule was evaluated in all that time.
func (s *sloRules) fullHoursOf(k kind, window time.Duration) string {
	return fill("sum_over_time(last_over_time(HOURS[59m] offset 1m)STEPS)", "HOURS", k.prefix+suffixHours+s.self, "STEPS", fullHours(window))
}
