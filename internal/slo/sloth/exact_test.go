// Counts against the true number of events, in the real engine.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// always is a prober whose slots all end well.
func always(r result) func(time.Time) result { return func(time.Time) result { return r } }

// between is whether a time is in a span after epoch.
func between(at time.Time, from, to time.Duration) bool {
	since := at.Sub(epoch)
	return since >= from && since < to
}

// scattered fails with a probability, the same every time.
func scattered(seed uint64, p float64, otherwise func(time.Time) result) func(time.Time) result {
	random := rand.New(rand.NewPCG(seed, 1))
	return func(at time.Time) result {
		if random.Float64() < p {
			return bad
		}
		return otherwise(at)
	}
}

// outage fails in a span.
func outage(from, to time.Duration, otherwise func(time.Time) result) func(time.Time) result {
	return func(at time.Time) result {
		if between(at, from, to) {
			return bad
		}
		return otherwise(at)
	}
}

// countsOnly leaves the recordings of counts, evaluated every 4 minutes: the counts are the same, and a day passes fast.
func countsOnly(rules *Rules) *Rules {
	for i := range rules.Groups {
		rules.Groups[i].Rules = slices.DeleteFunc(rules.Groups[i].Rules, func(r rulefmt.Rule) bool {
			return !strings.HasPrefix(r.Record, eventsPrefix) && !strings.HasPrefix(r.Record, badPrefix) && r.Record != metricReplicas && r.Record != metricProbers
		})
	}
	rules.Groups[0].Interval = model.Duration(slowInterval)
	return rules
}

func TestCountsAreExact(t *testing.T) {
	lost := rand.New(rand.NewPCG(7, 7))
	cases := map[string]struct {
		probers []*prober
		scraped func(time.Time) bool
		rules   func(time.Time) bool
	}{
		"steady": {probers: []*prober{{slot: scattered(1, 0.01, always(good))}}},
		"bursty": {probers: []*prober{{slot: outage(time.Hour+50*time.Minute, 2*time.Hour+7*time.Minute, always(good))}}},
		"a prober that slows down while it fails": {probers: []*prober{{slot: func(at time.Time) result {
			if between(at, 2*time.Hour, 4*time.Hour) {
				if at.Second() != 0 {
					return missed
				}
				return bad
			}
			return good
		}}}},
		"a tenth of the scrapes lost": {
			probers: []*prober{{slot: outage(3*time.Hour+50*time.Minute, 4*time.Hour+10*time.Minute, scattered(2, 0.01, always(good)))}},
			scraped: func(time.Time) bool { return lost.Float64() >= 0.1 },
		},
		"40 minutes without scrapes, over a full hour and an outage": {
			probers: []*prober{{slot: outage(3*time.Hour+30*time.Minute, 4*time.Hour+30*time.Minute, always(good))}},
			scraped: func(at time.Time) bool { return !between(at, 3*time.Hour+40*time.Minute, 4*time.Hour+20*time.Minute) },
		},
		"40 minutes without Prometheus, over a full hour and an outage": {
			probers: []*prober{{slot: outage(3*time.Hour+30*time.Minute, 4*time.Hour+30*time.Minute, always(good))}},
			scraped: func(at time.Time) bool { return !between(at, 3*time.Hour+40*time.Minute, 4*time.Hour+20*time.Minute) },
			rules:   func(at time.Time) bool { return !between(at, 3*time.Hour+40*time.Minute, 4*time.Hour+20*time.Minute) },
		},
		"a pod that is replaced in an outage": {probers: []*prober{
			{extra: []string{"instance", "a"}, slot: outage(2*time.Hour, 5*time.Hour, always(good)), up: func(at time.Time) bool { return between(at, 0, 3*time.Hour+20*time.Minute) }},
			{extra: []string{"instance", "b"}, slot: outage(2*time.Hour, 5*time.Hour, always(good)), up: func(at time.Time) bool { return between(at, 3*time.Hour+20*time.Minute, 100*time.Hour) }},
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, countsOnly(generated(t, "testdata/access.yaml", Options{Period: "7d"})), c.probers...)
			w.scraped, w.rules = c.scraped, c.rules
			for _, d := range []time.Duration{50 * time.Minute, 40 * time.Minute, 3 * time.Hour, time.Hour + 31*time.Minute, 29 * time.Minute, time.Hour, time.Hour + 10*time.Minute, 2 * time.Hour} {
				w.run(d)
				if w.rules == nil || w.rules(w.now) {
					w.checkCounts(t)
				}
			}
		})
	}
}

// checkCounts compares every count with the truth.
func (w *world) checkCounts(t *testing.T) {
	t.Helper()
	for suffix, window := range map[string]time.Duration{suffixHourly: time.Hour, "increase6h": 6 * time.Hour, "increase1d": 24 * time.Hour, suffixPeriod: 7 * 24 * time.Hour} {
		wantBad, wantAll := w.truth(window, bad), w.truth(window, good, bad)
		if got := w.value(badPrefix + suffix); got != wantBad {
			t.Errorf("after %s: %s%s is %v, want %v", w.now.Sub(epoch), badPrefix, suffix, got, wantBad)
		}
		if got := w.value(eventsPrefix + suffix); got != wantAll {
			t.Errorf("after %s: %s%s is %v, want %v", w.now.Sub(epoch), eventsPrefix, suffix, got, wantAll)
		}
	}
	for _, line := range w.health {
		t.Error(line)
	}
}

func TestReplicaThatJoinsChangesNoHourBefore(t *testing.T) {
	t.Parallel()
	joins := 3 * time.Hour
	w := newWorldOf(t, countsOnly(generated(t, "testdata/access.yaml", Options{Period: "7d"})),
		&prober{slot: always(good), extra: []string{"pod", "a"}},
		&prober{slot: always(good), extra: []string{"pod", "b"}, up: func(at time.Time) bool { return at.Sub(epoch) >= joins }})
	w.run(6*time.Hour + 10*time.Minute)
	if got, want := w.value("slo:events:period"), w.judged.Sub(epoch).Minutes()*4; math.Abs(got-want) > 3 {
		t.Errorf("%v events of one prober, want %v", got, want)
	}
}

func TestSlotsThatNeverCameAreNotCovered(t *testing.T) {
	t.Parallel()
	w := newSlowWorld(t, Options{}, &prober{slot: func(at time.Time) result {
		if at.Second() > 30 {
			return missed
		}
		return good
	}})
	w.run(70 * time.Minute)
	if got := w.value(metricCoverage); got != 0.5 {
		t.Errorf("%s is %v", metricCoverage, got)
	}
	if got := w.firing(); !slices.Contains(got, "SLOCoverageLow ticket") {
		t.Errorf("%v fire", got)
	}
}
