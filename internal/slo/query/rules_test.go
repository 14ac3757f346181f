// Tests with the generated rules themselves: what they record of counters is what the reader reads.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// groupsOf loads the groups of one SLO from the rule files of the product, those of recordings that others read first.
func (s *server) groupsOf(file, id string) []*rules.Group {
	s.t.Helper()
	manager := rules.NewManager(&rules.ManagerOptions{
		NameValidationScheme: model.UTF8Validation, ExternalURL: &url.URL{}, Context: s.t.Context(), Appendable: s.store, Queryable: s.store,
		QueryFunc: rules.EngineQueryFunc(s.engine, s.store), NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	loaded, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, "../../../deploy/prometheus/rules/"+file)
	if errs != nil {
		s.t.Fatal(errors.Join(errs...))
	}
	var groups []*rules.Group
	for _, group := range loaded {
		if strings.HasSuffix(group.Name(), id) {
			groups = append(groups, group)
			for _, rule := range group.AlertingRules() {
				rule.SetRestored(true) // else no ALERTS are written
			}
		}
	}
	slices.SortFunc(groups, func(a, b *rules.Group) int { return int(a.Interval() - b.Interval()) })
	return groups
}

// scrape stores what the exporter's counters are at times 3 s past the quarter minute.
func (h *history) scrape(s *server) {
	s.t.Helper()
	points := map[string][]promql.FPoint{}
	for at := epoch.Add(3 * time.Second); !at.After(s.now); at = at.Add(15 * time.Second) {
		all := h.truth(epoch, at)
		for name, value := range map[string]int64{"eks_access_slots_total": all.Events, "eks_access_probes_total success": all.Events - all.Bad, "eks_access_probes_total failure": all.Bad} {
			points[name] = append(points[name], promql.FPoint{T: at.UnixMilli(), F: float64(value)})
		}
	}
	for name, values := range points {
		name, result, counts := strings.Cut(name, " ")
		pairs := []string{"__name__", name, "cluster", "prod", "identity", "ci"}
		if counts {
			pairs = append(pairs, "result", result)
		}
		s.add(labels.FromStrings(pairs...), values...)
	}
}

// seen is the history as it is scraped: an event counts from then on.
func (h *history) seen() *history {
	later := func(times []time.Time) (seen []time.Time) {
		for _, at := range times {
			seen = append(seen, at.Add(7*time.Second)) // 11 s past the quarter minute, and scraped 3 s past the next
		}
		return seen
	}
	return &history{later(h.events), later(h.bad)}
}

func TestGeneratedRules(t *testing.T) {
	const length = 4*time.Hour + 34*time.Minute
	s := newServer(t, epoch.Add(length))
	h := newHistory(length, func(at time.Duration) bool {
		return in(2*time.Hour+50*time.Minute, 20*time.Minute)(at) || in(4*time.Hour+31*time.Minute, 2*time.Minute)(at)
	}, nil)
	h.scrape(s)
	groups := s.groupsOf("access.yaml", "eks-access-availability")
	if len(groups) != 2 {
		t.Fatalf("%d groups", len(groups))
	}
	for at := epoch.Add(rulesPhase); !at.After(s.now); at = at.Add(interval) {
		for _, group := range groups {
			if at.Sub(epoch)%group.Interval() < interval {
				group.Eval(t.Context(), at)
			}
		}
	}
	reader := s.reader(ReaderOptions{})
	reading, err := reader.Statuses(t.Context(), nil)
	if err != nil || len(reading.Problems) > 0 || len(reading.Statuses) != 1 {
		t.Fatalf("%v, error %v", reading, err)
	}
	status, truth := reading.Statuses[0], h.seen()
	if !slices.Equal(status.Firing, []slo.Severity{slo.Page, slo.Ticket}) || status.Objective.String() != "99.9" || status.Period != 30*slo.Day || status.CoverageHour == nil {
		t.Errorf("%+v", status)
	}
	if want := truth.truth(epoch, status.At); status.Spent.Bad != want.Bad || status.Spent.Events != want.Events {
		t.Errorf("%+v were spent, want %+v", status.Spent, want)
	}
	var sum slo.Counts
	for _, hour := range status.Hours {
		sum.Bad, sum.Events = sum.Bad+hour.Bad, sum.Events+hour.Events
		want := truth.truth(hour.End.Add(-time.Hour), hour.End)
		if hour.Bad != want.Bad {
			t.Errorf("the hour that ends at %s has %v, want %v", hour.End, hour.Counts, want)
		}
		if hour.Bad == 0 {
			continue
		}
		minutes, err := reader.Look(status)(t.Context(), hour, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range minutes {
			end := hour.End.Add(time.Duration(i-59) * time.Minute)
			if want := truth.truth(end.Add(-time.Minute), end); got != want {
				t.Errorf("the minute that ends at %s has %v, want %v", end, got, want)
			}
		}
	}
	if sum.Bad != status.Spent.Bad || sum.Events != status.Spent.Events {
		t.Errorf("the hours have %v, want %v", sum, status.Spent)
	}
}
