// The names of what is recorded. Those of plain Sloth are kept (its conventions package); these are ours.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"time"

	"github.com/prometheus/common/model"
	"github.com/slok/sloth/pkg/common/conventions"
)

// What is recorded beside Sloth's own recordings, each with the labels of the group and sloth_id, sloth_service and sloth_slo.
//
// Counts of probes are those of one prober: where several probe the same targets, they are divided by metricReplicas.
const (
	metricProbers  = "slo:probers:ratio1h"      // events of the last hour, of those that one prober makes at its cadence; where that is known
	metricReplicas = "slo:replicas:effective1h" // how many probers that is, at least 1

	eventsPrefix = "slo:events:"     // all events that count: good and bad
	badPrefix    = "slo:bad_events:" // the bad ones
	slotsPrefix  = "slo:slots:"      // what should have been events: slots, and with fixed_cadence at least those that the cadence makes

	metricNewest = eventsPrefix + "newest_timestamp_seconds" // when the newest scraped sample of the counters was taken, in Unix time: old once nothing is scraped
	byPrefix     = "slo:bad_events_by_"                      // bad events by a label that failures are put down to, which their series have besides; in the last 60 minutes

	suffixHourly = "increase1h" // in the last 60 minutes
	suffixHour   = "hour"       // in the last full hour of the clock
	suffixHours  = "hours"      // the same, kept every few minutes only
	suffixSince  = "since_hour" // since the last full hour
	suffixRecent = "recent"     // since the last full hour but one
	suffixPeriod = "period"     // in the period of the SLO

	metricCoverage       = "slo:coverage:ratio1h"      // events of slots in the last 60 minutes
	metricPeriodCoverage = "slo:coverage:period_ratio" // events of slots in the hours of the period that have data
	metricObserved       = "slo:period_observed:ratio" // the hours of the period that have data, of all its hours
)

// The alerts that are not the user's own.
const (
	alertDataAbsent   = "SLODataAbsent"
	alertCoverageLow  = "SLOCoverageLow"
	alertExporterDown = "EKSSLOExporterDown"
	alertWatchdog     = "Watchdog"
)

// kind is what is counted.
type kind struct {
	prefix string
	query  Query
}

// increaseOver is the suffix of the count over a window, such as increase6h.
func increaseOver(window time.Duration) string { return "increase" + model.Duration(window).String() }

// ratioOver is Sloth's name of the error ratio over a window.
func ratioOver(window time.Duration) string { return conventions.GetSLIErrorMetric(window) }
