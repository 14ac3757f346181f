// Failure cases that users of SLO rules have met in public, each a test named after its case.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// checkSamples checks that nothing was recorded that is no number, and that no rule had an error.
func (w *world) checkSamples() {
	w.t.Helper()
	n := 0
	w.recorded(func(series labels.Labels, at time.Time, v float64) {
		n++
		if math.IsNaN(v) || math.IsInf(v, 0) {
			w.t.Errorf("%s is %v at %s", series, v, at.Sub(epoch))
		}
	})
	if n == 0 {
		w.t.Error("nothing was recorded")
	}
	for _, line := range w.health {
		w.t.Error(line)
	}
}

// transitions lets time pass and notes when the set of firing alerts changes.
func (w *world) transitions(d time.Duration) []string {
	w.t.Helper()
	var changes []string
	before := strings.Join(w.firing(), ", ")
	for end := w.now.Add(d); w.now.Before(end); {
		w.run(interval)
		if now := strings.Join(w.firing(), ", "); now != before {
			changes, before = append(changes, now), now
		}
	}
	return changes
}

func TestS01QuietHoursRecordNoNaN(t *testing.T) {
	t.Parallel()
	w := newSlowWorld(t, Options{}, &prober{slot: outage(10*time.Minute, 12*time.Minute, func(at time.Time) result {
		if between(at, 30*time.Minute, 100*time.Minute) {
			return missed
		}
		return good
	})})
	w.run(31 * time.Minute)
	before := w.value("slo:period_error_budget_remaining:ratio")
	w.run(65 * time.Minute)
	if got := w.query(`{__name__=~"slo:sli_error:ratio_rate(5m|30m|1h)"}`); len(got) != 0 {
		t.Errorf("without traffic there are ratios: %v", got)
	}
	if after := w.value("slo:period_error_budget_remaining:ratio"); after != before || math.IsNaN(after) {
		t.Errorf("the budget went from %v to %v in quiet hours", before, after)
	}
	w.run(10 * time.Minute)
	w.checkSamples()
}

func TestS02UnevenTrafficCountsByEvents(t *testing.T) {
	t.Parallel()
	rules := generated(t, "testdata/access.yaml", Options{})
	rules.SLOs[0].Probes = nil // plain traffic has no cadence
	spec := &Spec{Service: rules.Service, SLOs: rules.SLOs}
	plain, err := Generate(t.Context(), spec, Options{Period: "7d"})
	if err != nil {
		t.Fatal(err)
	}
	busy := func(at time.Time) bool { return between(at, time.Hour, 3*time.Hour) }
	w := newWorldOf(t, countsOnly(plain), &prober{
		slot: outage(90*time.Minute, 2*time.Hour, always(good)),
		each: func(at time.Time) int {
			if busy(at) {
				return 100
			}
			return 1
		},
	})
	w.run(10*time.Hour + 20*time.Minute)
	w.checkCounts(t)
	if got := w.value("slo:bad_events:period / slo:events:period"); math.Abs(got-0.24) > 0.001 { // 12,000 of 48,000 and 2,000 more; a mean of ratios is 0.05
		t.Errorf("the ratio is %v", got)
	}
}

func TestS04FullOutageBurnsAndAnUnscrapedProberIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, &prober{slot: outage(time.Hour, 9*time.Hour, always(good))})
	w.run(time.Hour)
	if got := w.firing(); len(got) != 0 {
		t.Errorf("%v fire in calm", got)
	}
	started := w.now
	for !slices.Contains(w.firing(), "EKSAccessBudgetBurn page") && w.now.Sub(started) < time.Hour {
		w.run(time.Second)
	}
	if got := w.now.Sub(started); got > time.Minute+interval {
		t.Errorf("a full outage pages after %s", got)
	}
	w.run(10 * time.Minute)
	gone := w.now
	w.scraped = func(time.Time) bool { return false }
	for !slices.Contains(w.firing(), "SLODataAbsent page") && w.now.Sub(gone) < time.Hour {
		w.run(time.Second)
	}
	if got := w.now.Sub(gone); got > 5*time.Minute {
		t.Errorf("an unscraped prober is told after %s", got)
	}
	w.checkSamples()
}

func TestS05MissingErrorSeriesIsNoError(t *testing.T) {
	t.Parallel()
	w := newSlowWorld(t, Options{}, &prober{slot: always(good), clean: true})
	w.run(130 * time.Minute)
	for _, window := range []string{"5m", "30m", "1h", "2h", "6h", "1d", "3d", "30d"} {
		if got := w.value("slo:sli_error:ratio_rate" + window); got != 0 {
			t.Errorf("without an error series the error ratio over %s is %v", window, got)
		}
	}
	if got := w.value("slo:period_error_budget_remaining:ratio"); got != 1 {
		t.Errorf("the budget left is %v", got)
	}
	w.checkSamples()
}

func TestS07FirstFailureIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, &prober{slot: outage(3*time.Minute, 3*time.Minute+15*time.Second, always(good))})
	if changes := w.transitions(13 * time.Minute); len(changes) != 0 {
		t.Errorf("one failure in the first minutes: %v", changes)
	}
	for _, suffix := range []string{"increase1h", "increase6h", "increase1d", "increase3d", "period"} {
		if got := w.value(badPrefix + suffix); got != 1 {
			t.Errorf("%s%s is %v", badPrefix, suffix, got)
		}
	}
	if got := w.value("slo:sli_error:ratio_rate5m"); !math.IsNaN(got) && got != 0 {
		t.Errorf("the failure is still in the last 5 minutes: %v", got)
	}
	w.checkSamples()
}

func TestS08IncreaseIsTakenBeforeTheSum(t *testing.T) {
	for _, file := range specFiles {
		for _, group := range generated(t, file, Options{}).Groups {
			for _, rule := range group.Rules {
				expr, err := parser.ParseExpr(rule.Expr)
				if err != nil {
					t.Fatal(err)
				}
				parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
					if call, ok := node.(*parser.Call); ok && (call.Func.Name == "increase" || call.Func.Name == "rate" || call.Func.Name == "resets") && strings.Contains(call.Args.String(), "sum") {
						t.Errorf("%s%s takes the increase of a sum: %s", rule.Record, rule.Alert, call)
					}
					return nil
				})
			}
		}
	}
}

func TestS10ReplicasCountAsOne(t *testing.T) {
	t.Parallel()
	slot := outage(70*time.Minute, 75*time.Minute, always(good))
	cases := map[string]struct {
		probers  []*prober
		coverage float64
	}{
		"one":                             {[]*prober{{slot: slot}}, 1},
		"two":                             {[]*prober{{slot: slot, extra: []string{"pod", "a"}}, {slot: slot, extra: []string{"pod", "b"}}}, 1},
		"two, of which one knows nothing": {[]*prober{{slot: slot, extra: []string{"pod", "a"}}, {slot: always(unknown), extra: []string{"pod", "b"}}}, 0.5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSlowWorld(t, Options{}, c.probers...)
			w.run(3*time.Hour + 10*time.Minute)
			got := map[string]float64{}
			for _, metric := range []string{"slo:bad_events:period", "slo:events:period", "slo:bad_events:increase6h", "slo:events:increase1h", "slo:sli_error:ratio_rate30d", metricCoverage} {
				got[metric] = math.Round(w.value(metric)*1e6) / 1e6
			}
			want := map[string]float64{
				"slo:bad_events:period": 20, "slo:events:period": 756, "slo:bad_events:increase6h": 20, "slo:events:increase1h": 240,
				"slo:sli_error:ratio_rate30d": 0.026455, metricCoverage: c.coverage,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
			w.checkSamples()
		})
	}
}

func TestS14OneFailureAlertsNobodyAtAnyCadence(t *testing.T) {
	t.Parallel()
	for _, cadence := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute} {
		t.Run(cadence.String(), func(t *testing.T) {
			t.Parallel()
			spec := read(t, "testdata/access.yaml")
			spec.SLOs[0].Probes.Cadence = cadence
			rules, err := Generate(t.Context(), spec, Options{})
			if err != nil {
				t.Fatal(err)
			}
			rules.Groups[0].Interval = model.Duration(time.Minute)
			w := newWorldOf(t, rules, &prober{slot: outage(40*time.Minute, 40*time.Minute+2*cadence, always(good))}) // two, even
			w.cadence = cadence
			if changes := w.transitions(70 * time.Minute); len(changes) != 0 {
				t.Errorf("alerts: %v", changes)
			}
			if got := w.value("slo:bad_events:increase1h"); got != 2 {
				t.Errorf("%v failures were counted", got)
			}
		})
	}
}

func TestS16RecordingsPrecedeTheAlertsThatReadThem(t *testing.T) {
	for _, file := range specFiles {
		for _, group := range generated(t, file, Options{}).Groups {
			recorded := map[string]bool{}
			for _, rule := range group.Rules {
				if rule.Record != "" {
					recorded[rule.Record] = true
					continue
				}
				expr, err := parser.ParseExpr(rule.Expr)
				if err != nil {
					t.Fatal(err)
				}
				parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
					if selector, ok := node.(*parser.VectorSelector); ok && strings.HasPrefix(selector.Name, "slo:") && !recorded[selector.Name] {
						t.Errorf("alert %s reads %s, which group %s has not recorded before", rule.Alert, selector.Name, group.Name)
					}
					return nil
				})
			}
			if group.Interval == 0 {
				t.Errorf("group %s has no interval", group.Name)
			}
		}
	}
}

func TestS17RestartOfPrometheusKeepsAlertsFiring(t *testing.T) {
	t.Parallel()
	rules := generated(t, "testdata/access.yaml", Options{})
	w := newWorldOf(t, rules, &prober{slot: outage(20*time.Minute, 9*time.Hour, always(good))})
	w.run(40 * time.Minute)
	w.load(rules) // all state of alerts is gone
	w.run(interval)
	if got := w.firing(); !slices.Contains(got, "EKSAccessBudgetBurn page") {
		t.Errorf("after a restart in an incident these fire: %v", got)
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "EKSAccessBudgetBurn" && rule.For != 0 {
				t.Errorf("%s waits for %s", rule.Alert, rule.For)
			}
		}
	}
}

func TestS20YoungPeriodIsVisible(t *testing.T) {
	t.Parallel()
	w := newSlowWorld(t, Options{Period: "7d"}, &prober{slot: always(good)})
	w.run(5*time.Hour + 10*time.Minute)
	if got, want := w.value(metricObserved), 4.0/168; got != want { // the fifth hour is kept when the sixth has passed
		t.Errorf("%s is %v, want %v", metricObserved, got, want)
	}
	if got := w.value(metricPeriodCoverage); got < 0.99 || got > 1 {
		t.Errorf("%s is %v", metricPeriodCoverage, got)
	}
	w.checkSamples()
}
