// Tests of what is said when there is nothing, or nothing that can be used.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// sloOf are the labels of an SLO of one cluster.
func sloOf(id, cluster string, more ...string) []string {
	return append([]string{"sloth_id", id, "sloth_service", "eks-access", "sloth_slo", "s", "cluster", cluster}, more...)
}

// recorded stores the least that makes a status.
func (s *server) recorded(pairs ...string) {
	s.t.Helper()
	s.record(eventsPrefix+suffixPeriod, 1000, pairs...)
	s.record(badPrefix+suffixPeriod, 1, pairs...)
}

func TestAbsent(t *testing.T) {
	loaded := func(rules string) string {
		return `{"groups":[{"name":"sloth-slo-a","rules":[` + rules + `]},{"name":"other","rules":[]}]}`
	}
	const counting = `{"type":"recording","name":"slo:events:period","health":"ok"}`
	failing := strings.Replace(counting, `"ok"`, `"err","lastError":"found duplicate series","labels":{"sloth_id":"a"}`, 1)
	for name, test := range map[string]struct {
		fill     func(s *server)
		rules    string
		selector map[string]string
		kind     Kind
		want     string
	}{
		"no rules": {rules: `{"groups":[{"name":"other","rules":[]}]}`, kind: KindRulesNotLoaded,
			want: "none of the rules are loaded: of its 1 rule groups, none is named sloth-slo-…; " + KindRulesNotLoaded.hint()},
		"plain Sloth's": {rules: loaded(`{"type":"recording","name":"slo:sli_error:ratio_rate5m","health":"ok"}`), kind: KindRulesNotLoaded,
			want: "it has rules of SLOs, such as the group sloth-slo-a, but none that counts events: they are not those that slogen writes; " + KindRulesNotLoaded.hint()},
		"no data":        {rules: loaded(counting), kind: KindNoData, want: "1 rule groups of SLOs are loaded, and recorded nothing in the last minutes; " + KindNoData.hint()},
		"a rule fails":   {rules: loaded(failing), kind: KindNoData, want: "its rule slo:events:period of a fails: found duplicate series; " + KindNoData.hint()},
		"no rules' page": {rules: "", kind: KindNoData, want: "it has no series of any SLO, and does not tell its rules: they are not loaded, not evaluated, or record elsewhere; " + KindNoData.hint()},
		"stale": {rules: loaded(counting), kind: KindNoData, want: "1 rule groups of SLOs are loaded, and recorded nothing in the last minutes; " + KindNoData.hint(),
			fill: func(s *server) {
				now := s.now
				s.now = now.Add(-time.Hour)
				s.recorded(sloOf("a", "prod")...)
				s.now = now
			}},
		"no events": {kind: KindNoData, want: "the rules of a are evaluated, and count no events; " + KindNoData.hint(), fill: func(s *server) { meta(s, sloOf("a", ""), .999, 7) },
			selector: map[string]string{"id": "a"}},
		"no such id": {kind: KindNoSuchSLO, want: `no SLO is {id="c"}; there are a{cluster="prod"}, b{cluster="prod"}`, selector: map[string]string{"id": "c"}, fill: func(s *server) {
			s.recorded(sloOf("b", "prod")...)
			s.recorded(sloOf("a", "prod")...)
		}},
		"no such cluster": {kind: KindNoSuchSLO, want: `no SLO is {cluster="a.c", id="a", service="eks-access"}; there are a{cluster="abc"}`,
			selector: map[string]string{"id": "a", "cluster": "a.c", "service": "eks-access"}, fill: func(s *server) {
				s.recorded(sloOf("a", "abc")...)
				meta(s, sloOf("a", "abc"), .999, 7)
			}},
		"many": {kind: KindNoSuchSLO, selector: map[string]string{"id": "c"}, fill: func(s *server) {
			for i := range 12 {
				s.recorded(sloOf(fmt.Sprintf("a%02d", i), "p")...)
			}
		}, want: `no SLO is {id="c"}; there are a00{cluster="p"}, a01{cluster="p"}, a02{cluster="p"}, a03{cluster="p"}, a04{cluster="p"}, a05{cluster="p"}, a06{cluster="p"}, a07{cluster="p"}, ` +
			`a08{cluster="p"}, a09{cluster="p"}, and 2 more`},
		"no label": {kind: KindBadQuery, selector: map[string]string{`a="} or {`: "b"}, want: `"a=\"} or {", by which SLOs are selected, is no name of a label`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, epoch.Add(time.Hour))
			s.rules = test.rules
			if test.fill != nil {
				test.fill(s)
			}
			reader := s.reader(ReaderOptions{})
			reading, err := reader.Statuses(t.Context(), test.selector)
			from := ""
			if test.kind != KindBadQuery {
				from = " at " + reader.api.(*client).server
			}
			if got, want := fmt.Sprint(err), "asking Prometheus"+from+": "+test.want; got != want || KindOf(err) != test.kind || len(reading.Statuses) > 0 {
				t.Errorf("%s: the error is\n%s\nwant\n%s", KindOf(err), got, want)
			}
		})
	}
}

// The problem of one SLO does not hide another, and is told.
func TestProblems(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(s *server, pairs []string)
		kind  Kind
		want  string
	}{
		"NaN": {func(s *server, pairs []string) { s.record(metricCoverage, math.NaN(), pairs...) }, KindNotANumber,
			`slo:coverage:ratio1h of broken{cluster="prod"} is NaN; ` + KindNotANumber.hint()},
		"infinite": {func(s *server, pairs []string) { s.record(eventsPrefix+"increase6h", math.Inf(1), pairs...) }, KindNotANumber,
			`slo:events:increase6h of broken{cluster="prod"} is +Inf; ` + KindNotANumber.hint()},
		"negative": {func(s *server, pairs []string) { s.record(metricSlots, -1, pairs...) }, KindNotANumber, `slo:slots:increase1h of broken{cluster="prod"} is -1; ` + KindNotANumber.hint()},
		"NaN in an hour": {func(s *server, pairs []string) {
			s.add(labels.FromStrings(append([]string{"__name__", badPrefix + suffixHours}, pairs...)...), promql.FPoint{T: s.now.Add(-30*time.Hour - 30*time.Minute).UnixMilli(), F: math.NaN()})
		}, KindNotANumber, `slo:bad_events:hours of broken{cluster="prod"} is NaN; ` + KindNotANumber.hint()},
		"NaN of a cause": {func(s *server, pairs []string) { s.record(metricBySteps, math.NaN(), append(pairs, "step", "sts")...) }, KindNotANumber,
			`slo:bad_events_by_step:increase1h of broken{cluster="prod"} is NaN; ` + KindNotANumber.hint()},
		"the objective": {func(s *server, pairs []string) { s.record(metricObjective, 1, pairs[:6]...) }, KindNotANumber, "slo:objective:ratio of broken is 1, which is no objective; " + KindNotANumber.hint()},
		"the period":    {func(s *server, pairs []string) { s.record(metricPeriodDays, 7.5, pairs[:6]...) }, KindNotANumber, "slo:time_period:days of broken is 7.5, which is no period; " + KindNotANumber.hint()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, epoch.Add(36*time.Hour))
			for _, id := range []string{"broken", "fine"} {
				s.recorded(sloOf(id, "prod")...)
				meta(s, sloOf(id, "prod"), .999, 7)
			}
			test.spoil(s, sloOf("broken", "prod"))
			reading, err := s.reader(ReaderOptions{}).Statuses(t.Context(), nil)
			if err != nil || len(reading.Statuses) != 1 || reading.Statuses[0].ID != "fine" || len(reading.Problems) != 1 {
				t.Fatalf("%v, error %v", reading, err)
			}
			p := reading.Problems[0]
			if p.ID != "broken" || p.Labels["cluster"] != "prod" || p.Err.Kind != test.kind || p.Err.Why+"; "+p.Err.Kind.hint() != test.want {
				t.Errorf("the problem is %v", p)
			}
			if alone, err := s.reader(ReaderOptions{}).Statuses(t.Context(), map[string]string{"id": "broken"}); KindOf(err) != test.kind || len(alone.Problems) != 1 {
				t.Errorf("alone it is %v, error %v", alone, err)
			}
		})
	}
}

// What is missing is no zero.
func TestMissing(t *testing.T) {
	for name, missing := range map[string]string{"bad events": badPrefix + suffixPeriod, "events": eventsPrefix + suffixPeriod, "objective": metricObjective, "period": metricPeriodDays} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, epoch.Add(time.Hour))
			pairs := sloOf("a", "prod")
			for _, name := range []string{eventsPrefix + suffixPeriod, badPrefix + suffixPeriod, eventsPrefix + "increase1h"} {
				if name != missing {
					s.record(name, 1, pairs...)
				}
			}
			for name, value := range map[string]float64{metricObjective: .999, metricPeriodDays: 7} {
				if name != missing {
					s.record(name, value, pairs[:6]...)
				}
			}
			if _, err := s.reader(ReaderOptions{}).Statuses(t.Context(), nil); KindOf(err) != KindNoData || !strings.Contains(err.Error(), "there is no "+missing+" of a") {
				t.Error(err)
			}
		})
	}
}

// A store that does not merge replicas has every series twice: the groups stay what they are, and the larger value counts.
func TestReplicasOfPrometheus(t *testing.T) {
	s := newServer(t, epoch.Add(8*24*time.Hour))
	full := newHistory(8*24*time.Hour, in(7*24*time.Hour, 10*time.Minute), nil)
	gap := newHistory(8*24*time.Hour, in(7*24*time.Hour, 5*time.Minute), in(6*24*time.Hour, 5*time.Hour))
	for replica, h := range map[string]*history{"a": full, "b": gap} {
		pairs := slices.Clone(prod)
		pairs = append(pairs[:6], append([]string{"replica", replica, "prometheus", "monitoring/k8s"}, pairs[6:]...)...)
		h.record(t, s, 1, pairs...)
		meta(s, append(prod[:4:4], "sloth_slo", "availability"), .999, 7)
	}
	reading, err := s.reader(ReaderOptions{}).Statuses(t.Context(), map[string]string{"cluster": "prod"})
	if err != nil || len(reading.Statuses) != 1 {
		t.Fatalf("%v, error %v", reading, err)
	}
	if got := reading.Statuses[0].Labels; len(got) != 1 || got["cluster"] != "prod" {
		t.Errorf("the group is %v", got)
	}
	full.check(t, reading.Statuses[0])
	apart, err := s.reader(ReaderOptions{IgnoreLabels: []string{"prometheus"}}).Statuses(t.Context(), nil)
	if err != nil || len(apart.Statuses) != 2 {
		t.Errorf("%d statuses, error %v", len(apart.Statuses), err)
	}
}

// Data that is an hour old is old, and not absent. The alert that says so is no burn, and one of another group is not this one's.
func TestOldData(t *testing.T) {
	s := newServer(t, epoch.Add(3*time.Hour))
	now := s.now
	s.now = now.Add(-time.Hour)
	s.record(metricNewest, 1234.5, sloOf("a", "prod")...)
	s.now = now
	s.recorded(sloOf("a", "prod")...)
	meta(s, sloOf("a", "prod"), .999, 7)
	s.record("ALERTS", 1, sloOf("a", "prod", "alertname", "SLODataAbsent", "alertstate", "firing", "sloth_severity", "page")...)
	s.record("ALERTS", 1, sloOf("a", "dev", "alertname", "Burn", "alertstate", "firing", "sloth_severity", "page")...)
	reading, err := s.reader(ReaderOptions{}).Statuses(t.Context(), nil)
	if err != nil || !reading.Statuses[0].Newest.Equal(time.UnixMilli(1234500)) || len(reading.Statuses[0].Firing) > 0 {
		t.Errorf("%v, error %v", reading.Statuses, err)
	}
}

// A selector finds what it names, and not what it would match as an expression.
func TestSelectors(t *testing.T) {
	s := newServer(t, epoch.Add(3*time.Hour))
	for _, pairs := range [][]string{sloOf("a", "prod"), sloOf("a", "dev"), sloOf("b", "p.od"), sloOf("b", `"prod`), {"sloth_id", "c", "sloth_service", "other", "sloth_slo", "alone"}} {
		s.recorded(pairs...)
		meta(s, pairs, .999, 7)
	}
	for name, test := range map[string]struct {
		selector map[string]string
		want     string
	}{
		"all":        {nil, `[a{cluster="dev"} a{cluster="prod"} b{cluster="\"prod"} b{cluster="p.od"} c{}]`},
		"id":         {map[string]string{"id": "a"}, `[a{cluster="dev"} a{cluster="prod"}]`},
		"cluster":    {map[string]string{"cluster": "prod"}, `[a{cluster="prod"}]`},
		"expression": {map[string]string{"cluster": "p.od"}, `[b{cluster="p.od"}]`},
		"quote":      {map[string]string{"cluster": `"prod`}, `[b{cluster="\"prod"}]`},
		"service":    {map[string]string{"service": "other"}, `[c{}]`},
		"slo":        {map[string]string{"slo": "alone", "id": "c"}, `[c{}]`},
	} {
		t.Run(name, func(t *testing.T) {
			reading, err := s.reader(ReaderOptions{}).Statuses(t.Context(), test.selector)
			var found []string
			for _, status := range reading.Statuses {
				found = append(found, status.ID+written(status.Labels))
			}
			if got := fmt.Sprint(found); got != test.want || err != nil {
				t.Errorf("found %s, want %s; error %v", got, test.want, err)
			}
		})
	}
}
