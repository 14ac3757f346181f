// Causes and age against what the probers did, in the real engine.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

// only leaves one SLO of a specification.
func only(t *testing.T, file, name string) *Rules {
	t.Helper()
	spec := read(t, file)
	for _, s := range spec.SLOs {
		if s.Name != name {
			continue
		}
		rules, err := Generate(t.Context(), &Spec{File: spec.File, Service: spec.Service, SLOs: []SLO{s}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rules.Groups[0].Interval = model.Duration(time.Minute)
		return rules
	}
	t.Fatalf("%s has no SLO %s", file, name)
	return nil
}

const productSpec = "../../../slo-specs/access.yaml"

func TestCausesAddUpToTheBadEvents(t *testing.T) {
	t.Parallel()
	slot := outage(40*time.Minute, 45*time.Minute, always(good))
	cases := map[string][]*prober{
		"one replica":  {{slot: slot}},
		"two replicas": {{slot: slot, extra: []string{"pod", "a"}}, {slot: slot, extra: []string{"pod", "b"}}},
	}
	for name, probers := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, only(t, productSpec, "availability"), probers...)
			w.run(39 * time.Minute)
			if got := w.query(`{__name__=~"slo:bad_events_by_.+"}`); len(got) != 0 {
				t.Errorf("nothing failed, and it is put down to %v", got)
			}
			w.run(46 * time.Minute)
			got := map[string]float64{}
			for _, sample := range w.query(`{__name__=~"slo:bad_events(_by_.+)?:increase1h"}`) {
				got[strings.Join([]string{sample.Metric.Get("__name__"), sample.Metric.Get("cluster"), sample.Metric.Get("sloth_id"), sample.Metric.Get("step"), sample.Metric.Get("reason")}, " ")] = math.Round(sample.F*1e6) / 1e6
			}
			want := map[string]float64{
				"slo:bad_events:increase1h prod eks-access-availability  ":                          20,
				"slo:bad_events_by_step:increase1h prod eks-access-availability sts ":               20,
				"slo:bad_events_by_reason:increase1h prod eks-access-availability  sts_unreachable": 20,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
			w.checkSamples()
		})
	}
}

func TestCausesOfNoCounterAreWhatTheQueryGives(t *testing.T) {
	rules := only(t, productSpec, "identity-availability")
	for _, rule := range rules.Groups[0].Rules {
		if rule.Record == "slo:bad_events_by_reason:increase1h" {
			want := "(sum by (cluster, identity, reason) (sum_over_time(eks_access_failing[1h])))\n/ on (cluster, identity) group_left ()\n" +
				`last_over_time(slo:replicas:effective1h{sloth_id="eks-access-identity-availability"}[2h]) > 0`
			if diff := cmp.Diff(want, rule.Expr); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Error("the reasons are not recorded")
}

func TestCausesOfOtherGroupsAreNotRecorded(t *testing.T) {
	for _, rule := range generated(t, "testdata/access.yaml", Options{}).Groups[0].Rules {
		if rule.Record == "slo:bad_events_by_reason:increase1h" { // by cluster, where the SLO is by cluster and identity
			t.Errorf("recorded: %s", rule.Expr)
		}
	}
}

func TestNewestIsOfTheLastScrape(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, &prober{slot: always(good)})
	w.run(20 * time.Minute)
	last := w.now.Truncate(w.scrape).Add(scrapePhase)
	if !last.Before(w.now) {
		last = last.Add(-w.scrape)
	}
	if got := w.value(metricNewest); got > float64(last.Unix()) || got < float64(last.Add(-2*interval).Unix()) {
		t.Errorf("%s is %v, want about %d", metricNewest, got, last.Unix())
	}
	w.scraped = func(time.Time) bool { return false }
	w.run(4 * time.Minute)
	if got := w.value(metricNewest); got != float64(last.Unix()) {
		t.Errorf("4 minutes after the last scrape %s is %v, want %d", metricNewest, got, last.Unix())
	}
	w.run(10 * time.Minute)
	if got := w.query(metricNewest); len(got) != 0 {
		t.Errorf("14 minutes after the last scrape there is %v", got)
	}
	if got := w.value("last_over_time(" + metricNewest + "[1d])"); got != float64(last.Unix()) {
		t.Errorf("the newest that was recorded is %v, want %d", got, last.Unix())
	}
}

func TestNewestOfSeveralCounters(t *testing.T) {
	s := read(t, "testdata/access.yaml").SLOs[0]
	s.Total = Query{text: "x * on (cluster) group_left (identity) info", By: []string{"cluster", "identity"}, calls: []call{{selector: "a"}, {selector: "b"}, {selector: "a"}}}
	want := "(max by (cluster, identity) (timestamp(a)) >= max by (cluster, identity) (timestamp(b)) or max by (cluster, identity) (timestamp(b)) or max by (cluster, identity) (timestamp(a)))\n" +
		"and on (cluster, identity)\n" + `slo:events:increase1h{sloth_id="eks-access-availability"}`
	if got := (&sloRules{SLO: s, self: `{sloth_id="eks-access-availability"}`, on: on(s.Total.By)}).newest().Expr; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
