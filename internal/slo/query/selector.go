// What is selected, and the PromQL that asks for it.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
)

// The labels by which Sloth tells SLOs apart.
const (
	labelID      = "sloth_id"
	labelService = "sloth_service"
	labelName    = "sloth_slo"
	labelPrefix  = "sloth_"
)

// What the rules record, as internal/slo/sloth names it.
const (
	eventsPrefix = "slo:events:"
	badPrefix    = "slo:bad_events:"
	suffixPeriod = "period"
	suffixHour   = "hour"
	suffixHours  = "hours"
	suffixSince  = "since_hour"

	metricSlots          = "slo:slots:increase1h"
	metricNewest         = eventsPrefix + "newest_timestamp_seconds"
	metricCoverage       = "slo:coverage:ratio1h"
	metricPeriodCoverage = "slo:coverage:period_ratio"
	metricObserved       = "slo:period_observed:ratio"
	metricObjective      = "slo:objective:ratio"
	metricPeriodDays     = "slo:time_period:days"
	metricBySteps        = "slo:bad_events_by_step:increase1h"
	metricByReasons      = "slo:bad_events_by_reason:increase1h"
)

// The alerts with an SLO's labels that are no burn of its budget.
const otherAlerts = "SLODataAbsent|SLOCoverageLow"

// recordedNow are the series of which the present value is asked.
var recordedNow = func() string {
	suffixes := []string{suffixPeriod, suffixHour, suffixSince}
	for _, w := range windows {
		suffixes = append(suffixes, "increase"+w.name)
	}
	return "slo:(bad_)?events:(" + strings.Join(suffixes, "|") + ")|" + strings.Join([]string{metricSlots, metricNewest, metricCoverage, metricPeriodCoverage, metricObserved,
		metricObjective, metricPeriodDays, metricBySteps, metricByReasons}, "|")
}()

// recordedThen are the series of which values within the period are asked.
const recordedThen = "slo:(bad_)?events:" + suffixSince + "|" + metricBySteps + "|" + metricByReasons

// selection are the labels that an SLO must have.
type selection struct {
	sloth map[string]string // of the SLO
	group map[string]string // of its group
}

// slothLabels are the keys of a selector that do not name labels of the group.
var slothLabels = map[string]string{"id": labelID, "service": labelService, "slo": labelName}

// newSelection reads a selector.
func newSelection(selector map[string]string) (selection, error) {
	s := selection{map[string]string{}, map[string]string{}}
	for key, value := range selector {
		switch label, ok := slothLabels[key]; {
		case ok:
			s.sloth[label] = value
		case !model.LegacyValidation.IsValidLabelName(key) || strings.HasPrefix(key, "__"):
			return s, errorOf(KindBadQuery, "%q, by which SLOs are selected, is no name of a label", key)
		default:
			s.group[key] = value
		}
	}
	return s, nil
}

// ofGroup writes a selector of series of the selected groups. No series without a group is found unless no group is selected.
func (s selection) ofGroup(matchers ...string) string {
	for _, label := range slices.Sorted(maps.Keys(s.group)) {
		matchers = append(matchers, label+"="+strconv.Quote(s.group[label]))
	}
	return s.ofSLO(matchers...)
}

// ofAny is ofGroup, and with it the series of the selected SLOs that have no group at all.
func (s selection) ofAny(matchers ...string) string {
	for _, label := range slices.Sorted(maps.Keys(s.group)) {
		matchers = append(matchers, label+"=~"+strconv.Quote("(?:"+regexp.QuoteMeta(s.group[label])+")?"))
	}
	return s.ofSLO(matchers...)
}

// ofSLO writes a selector of series of the selected SLOs.
func (s selection) ofSLO(matchers ...string) string {
	matchers = append(matchers, labelID+`!=""`)
	for _, label := range slices.Sorted(maps.Keys(s.sloth)) {
		matchers = append(matchers, label+"="+strconv.Quote(s.sloth[label]))
	}
	return "{" + strings.Join(matchers, ",") + "}"
}

// named matches names of series.
func named(names string) string { return `__name__=~"` + names + `"` }

// matches says whether a group is selected.
func (s selection) matches(group map[string]string) bool {
	for label, value := range s.group {
		if group[label] != value {
			return false
		}
	}
	return true
}

// String writes the selection as people do, such as {cluster="prod", id="eks-access-availability"}.
func (s selection) String() string {
	all := maps.Clone(s.group)
	for key, label := range slothLabels {
		if value, ok := s.sloth[label]; ok {
			all[key] = value
		}
	}
	return written(all)
}

// written writes labels in their order.
func written(labels map[string]string) string {
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, label+"="+strconv.Quote(labels[label]))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
