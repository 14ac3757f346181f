// A history of events, and what the rules record of it: the same formulas, of events that are known one by one.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// The phases of the history: rules are evaluated at other times than events come.
const (
	interval   = 30 * time.Second
	rulesPhase = 17483 * time.Millisecond
	testPeriod = 7 * slo.Day
)

// epoch is a full hour.
var epoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// prod are the labels of the SLO of histories.
var prod = []string{"sloth_id", "eks-access-availability", "sloth_service", "eks-access", "sloth_slo", "availability", "cluster", "prod"}

// history is the times of events, in order.
type history struct{ events, bad []time.Time }

// newHistory has an event every 15 s, of which some are bad, and some never come.
func newHistory(length time.Duration, bad, missed func(at time.Duration) bool) *history {
	h := &history{}
	for at := 11 * time.Second; at < length; at += 15 * time.Second {
		if missed != nil && missed(at) {
			continue
		}
		h.events = append(h.events, epoch.Add(at))
		if bad != nil && bad(at) {
			h.bad = append(h.bad, epoch.Add(at))
		}
	}
	return h
}

// truth is what was in (from, to].
func (h *history) truth(from, to time.Time) slo.Counts {
	return slo.Counts{Bad: between(h.bad, from, to), Events: between(h.events, from, to)}
}

func between(times []time.Time, from, to time.Time) int64 {
	after := func(at time.Time) int {
		i, _ := slices.BinarySearchFunc(times, at, func(each, at time.Time) int {
			if each.After(at) {
				return 1
			}
			return -1
		})
		return i
	}
	return int64(after(to) - after(from))
}

// record stores what rules record of the history until now, divided by the number of replicas it is of.
func (h *history) record(t *testing.T, s *server, replicas float64, pairs ...string) {
	t.Helper()
	points := map[string][]promql.FPoint{}
	add := func(name string, at time.Time, value float64) {
		points[name] = append(points[name], promql.FPoint{T: at.UnixMilli(), F: value})
	}
	both := func(suffix string, at time.Time, c slo.Counts) {
		add(badPrefix+suffix, at, float64(c.Bad)/replicas)
		add(eventsPrefix+suffix, at, float64(c.Events)/replicas)
	}
	for at := epoch.Add(rulesPhase); !at.After(s.now); at = at.Add(interval) {
		full := at.Truncate(time.Hour)
		both(suffixSince, at, h.truth(full, at))
		add(metricBySteps+"|sts", at, float64(h.truth(at.Add(-time.Hour), at).Bad)/replicas)
		if full.After(epoch) {
			both(suffixHour, at, h.truth(full.Add(-time.Hour), full))
			if at.Sub(epoch)%(4*time.Minute) < interval {
				both(suffixHours, at, h.truth(full.Add(-time.Hour), full))
			}
		}
		if s.now.Sub(at) < 10*time.Minute {
			both(suffixPeriod, at, h.truth(at.Add(-testPeriod), at))
			for _, w := range windows {
				both("increase"+w.name, at, h.truth(at.Add(-w.length), at))
			}
			add(metricSlots, at, 240)
			add(metricNewest, at, float64(at.Add(-3*time.Second).UnixMilli())/1000)
			add(metricObserved, at, 1)
			add(metricCoverage, at, .75)
			add(metricPeriodCoverage, at, .5)
		}
	}
	for name, values := range points {
		all := append([]string{"__name__", name}, pairs...)
		if name == metricBySteps+"|sts" {
			all[1] = metricBySteps
			all = append(all, "step", "sts")
		}
		s.add(labels.FromStrings(all...), values...)
	}
	meta(s, pairs, .999, testPeriod.Hours()/24)
}

// meta records objective and period, a minute ago.
func meta(s *server, pairs []string, objective, days float64) {
	s.t.Helper()
	at := s.now.Add(-time.Minute).UnixMilli()
	s.add(labels.FromStrings(append([]string{"__name__", metricObjective}, pairs[:6]...)...), promql.FPoint{T: at, F: objective})
	s.add(labels.FromStrings(append([]string{"__name__", metricPeriodDays}, pairs[:6]...)...), promql.FPoint{T: at, F: days})
}
