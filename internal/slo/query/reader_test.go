// Tests of readings: every figure against the events themselves, and the reopening against what is read when it has come.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// histories are of every shape that matters: failures in one hour, across full hours, at both ends of the period, always, and hours without events.
var histories = map[string]struct {
	length      time.Duration
	bad, missed func(at time.Duration) bool
}{
	"quiet":              {9 * slo.Day, nil, nil},
	"an outage":          {8*slo.Day + 34*time.Minute, in(3*slo.Day+10*time.Minute, 10*time.Minute), nil},
	"over a full hour":   {8*slo.Day + 34*time.Minute, in(3*slo.Day-5*time.Minute, 10*time.Minute), nil},
	"over the beginning": {8*slo.Day + 34*time.Minute, in(slo.Day+30*time.Minute, 10*time.Minute), nil},
	"now":                {8*slo.Day + 34*time.Minute, in(8*slo.Day+30*time.Minute, 10*time.Minute), nil},
	"an hour ago":        {8*slo.Day + 4*time.Minute, in(8*slo.Day-10*time.Minute, 7*time.Minute), nil},
	"just past the hour": {8*slo.Day + 5*time.Second, in(8*slo.Day-20*time.Minute, 25*time.Minute), nil},
	"always some":        {8*slo.Day + 34*time.Minute, func(at time.Duration) bool { return at/(15*time.Second)%50 == 7 }, nil},
	"young":              {5*time.Hour + 34*time.Minute, in(2*time.Hour+50*time.Minute, 5*time.Minute), nil},
	"the first hour":     {34 * time.Minute, in(10*time.Minute, 5*time.Minute), nil},
	"two missing":        {8*slo.Day + 34*time.Minute, nil, in(slo.Day+10*time.Minute, 30*time.Second)},
	"with a gap":         {8*slo.Day + 34*time.Minute, in(3*slo.Day+10*time.Minute, 10*time.Minute), in(4*slo.Day+40*time.Minute, 3*time.Hour)},
}

func in(from, length time.Duration) func(time.Duration) bool {
	return func(at time.Duration) bool { return at >= from && at < from+length }
}

func TestHistories(t *testing.T) {
	for name, test := range histories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := epoch.Add(test.length)
			h := newHistory(test.length, test.bad, test.missed)
			s := newServer(t, now)
			h.record(t, s, 1, prod...)
			reading, err := s.reader(ReaderOptions{}).Statuses(t.Context(), nil)
			if err != nil || len(reading.Statuses) != 1 || len(reading.Problems) > 0 {
				t.Fatalf("%v, error %v", reading, err)
			}
			status := reading.Statuses[0]
			if at := now.Add(-rulesPhase).Truncate(interval).Add(rulesPhase); !status.At.Equal(at) {
				t.Errorf("it is as of %s, want %s", status.At, at)
			}
			h.check(t, status)
		})
	}
}

// check compares a status with the events.
func (h *history) check(t *testing.T, s slo.Status) {
	t.Helper()
	want := h.truth(s.At.Add(-s.Period), s.At)
	var sum slo.Counts
	for i, hour := range s.Hours {
		sum.Bad, sum.Events = sum.Bad+hour.Bad, sum.Events+hour.Events
		truth := h.truth(hour.End.Add(-time.Hour), hour.End)
		exact := truth.Bad > 0 || i == 0
		if off := hour.Events - truth.Events; hour.Bad != truth.Bad || off < -2 || off > 2 || (exact && off != 0) {
			t.Errorf("the hour that ends at %s has %v, want %v", hour.End, hour.Counts, truth)
		}
	}
	spent := s.Spent
	spent.Slots = 0
	if spent != want || sum != want || !s.Hours[len(s.Hours)-1].End.Equal(s.At) {
		t.Errorf("%v were spent, and are in %d hours until %s: %v; want %v until %s", spent, len(s.Hours), s.Hours[len(s.Hours)-1].End, sum, want, s.At)
	}
	for _, w := range s.Windows {
		w.Slots = 0
		if want := h.truth(s.At.Add(-w.Length), s.At); w.Counts != want {
			t.Errorf("%s has %v, want %v", w.Length, w.Counts, want)
		}
	}
	var steps []slo.Cause
	if want.Bad > 0 {
		steps = []slo.Cause{{Step: "sts", Bad: want.Bad}}
	}
	if diff := cmp.Diff(steps, s.Steps); diff != "" {
		t.Errorf("by step, want - and got +:\n%s", diff)
	}
}

func TestStatus(t *testing.T) {
	s := newServer(t, epoch.Add(3*time.Hour))
	s.warn = []string{"a store did not answer", "a store did not answer"}
	h := newHistory(3*time.Hour, in(2*time.Hour, time.Minute), nil)
	h.record(t, s, 1, prod...)
	s.record(metricByReasons, 3, append([]string{"reason", "sts_unreachable"}, prod...)...)
	alert := append([]string{"alertstate", "firing", "alertname", "Burn", "team", "core"}, prod...)
	s.record("ALERTS", 1, append([]string{"sloth_severity", "ticket"}, alert...)...)
	s.record("ALERTS", 1, append([]string{"sloth_severity", "page"}, alert...)...)
	elsewhere := append([]string{"sloth_severity", "page"}, alert...)
	elsewhere[len(elsewhere)-1] = "dev"
	s.record("ALERTS", 1, elsewhere...)
	reading, err := s.reader(ReaderOptions{Now: func() time.Time { return s.now.Add(-time.Minute) }}).Statuses(t.Context(),
		map[string]string{"id": "eks-access-availability", "service": "eks-access", "slo": "availability", "cluster": "prod"})
	if err != nil {
		t.Fatal(err)
	}
	if reading.Skew != time.Minute || !reading.At.Equal(s.now) || len(reading.Warnings) != 1 || reading.Warnings[0] != "a store did not answer" {
		t.Errorf("skew %s, at %s, warnings %q", reading.Skew, reading.At, reading.Warnings)
	}
	at := epoch.Add(3*time.Hour - interval + rulesPhase)
	objective, _ := slo.ParseObjective("99.9")
	period, hour := .5, .75
	last := slo.Counts{Bad: 4, Events: 240}
	want := []slo.Status{{
		ID: "eks-access-availability", Service: "eks-access", Name: "availability", Labels: map[string]string{"cluster": "prod"}, Objective: objective, Period: testPeriod,
		At: at, Newest: at.Add(-3 * time.Second), Spent: slo.Counts{Bad: 4, Events: 719, Slots: 1438},
		Windows: []slo.Window{
			{Length: time.Hour, Counts: slo.Counts{Bad: 4, Events: 240, Slots: 240}}, {Length: 2 * time.Hour, Counts: slo.Counts{Bad: 4, Events: 480}},
			{Length: 6 * time.Hour, Counts: slo.Counts{Bad: 4, Events: 719}}, {Length: slo.Day, Counts: slo.Counts{Bad: 4, Events: 719}}, {Length: 3 * slo.Day, Counts: slo.Counts{Bad: 4, Events: 719}},
		},
		Hours:    []slo.Hour{{End: at.Add(-2 * time.Hour), Counts: slo.Counts{Events: 239}}, {End: at.Add(-time.Hour), Counts: slo.Counts{Events: 240}}, {End: at, Counts: last}},
		Observed: 1, Coverage: &period, CoverageHour: &hour, Firing: []slo.Severity{slo.Page, slo.Ticket},
		Steps: []slo.Cause{{Step: "sts", Bad: 4}}, Causes: []slo.Cause{{Reason: "sts_unreachable", Bad: 3}, {Bad: 1}},
	}}
	if diff := cmp.Diff(want, reading.Statuses, cmp.Comparer(func(a, b slo.Objective) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("want - and got +:\n%s", diff)
	}
}

// What two replicas counted is halved: the hours must add up to the period all the same, also where a half is rounded.
func TestHalves(t *testing.T) {
	const length = 8*slo.Day + 34*time.Minute
	s := newServer(t, epoch.Add(length))
	h := newHistory(length, func(at time.Duration) bool { return at/(15*time.Second)%1201 == 7 }, nil)
	h.record(t, s, 2, prod...)
	reading, err := s.reader(ReaderOptions{}).Statuses(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	status := reading.Statuses[0]
	truth := h.truth(status.At.Add(-testPeriod), status.At)
	var bad, events int64
	for _, hour := range status.Hours {
		bad, events = bad+hour.Bad, events+hour.Events
	}
	if status.Spent.Bad != (truth.Bad+1)/2 || bad != status.Spent.Bad || events != status.Spent.Events {
		t.Errorf("%v of %v, in hours %d of %d", status.Spent, truth, bad, events)
	}
}

// The gate opens at the predicted minute, and not a minute before: at both, a later reading says so.
func TestReopening(t *testing.T) {
	for name, bad := range map[string]func(time.Duration) bool{
		"in an hour":       in(3*slo.Day+10*time.Minute, 25*time.Minute),
		"over a full hour": in(3*slo.Day-12*time.Minute, 25*time.Minute),
		"twice": func(at time.Duration) bool {
			return in(3*slo.Day, 8*time.Minute)(at) || in(4*slo.Day+50*time.Minute, 17*time.Minute)(at)
		},
		"some": func(at time.Duration) bool { return in(3*slo.Day, 8*time.Hour)(at) && at/(15*time.Second)%20 == 3 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const length = 8*slo.Day + 34*time.Minute
			h := newHistory(20*slo.Day, bad, nil)
			status, reader := h.read(t, epoch.Add(length))
			minimum := big.NewRat(1, 10)
			reopening := status.Reopens(t.Context(), slo.Terms{Minimum: minimum, Look: reader.Look(status)})
			if reopening.Kind != slo.ReopeningAt || reopening.Doubt != nil {
				t.Fatalf("%s, doubt %v", reopening.Kind, reopening.Doubt)
			}
			for _, after := range []time.Duration{-time.Minute, 0} {
				then, _ := h.read(t, reopening.At.Add(after+time.Second))
				if enough, _ := then.Budget().AtLeast(minimum); enough != (after == 0) || !then.At.Equal(reopening.At.Add(after)) {
					t.Errorf("at %s, %s after the reopening: %v of %v, enough: %v", then.At, after, then.Spent, status.Spent, enough)
				}
			}
		})
	}
}

// read is the status at a time, and who read it.
func (h *history) read(t *testing.T, now time.Time) (slo.Status, *Reader) {
	t.Helper()
	s := newServer(t, now)
	h.record(t, s, 1, prod...)
	reader := s.reader(ReaderOptions{})
	reading, err := reader.Statuses(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return reading.Statuses[0], reader
}

func TestLook(t *testing.T) {
	const length = 8*slo.Day + 34*time.Minute
	h := newHistory(length, func(at time.Duration) bool { return at/(15*time.Second)%50 == 7 }, nil)
	status, reader := h.read(t, epoch.Add(length))
	look := reader.Look(status)
	for _, hour := range []slo.Hour{status.Hours[0], status.Hours[80], status.Hours[167]} {
		counts, err := look(t.Context(), hour, time.Minute)
		if err != nil || len(counts) != 60 {
			t.Fatalf("%d steps, error %v", len(counts), err)
		}
		for i, got := range counts {
			end := hour.End.Add(time.Duration(i-59) * time.Minute)
			if want := h.truth(end.Add(-time.Minute), end); got != want {
				t.Errorf("the minute that ends at %s has %v, want %v", end, got, want)
			}
		}
	}
	long := slo.Hour{End: status.At.Add(-30 * slo.Day), Counts: slo.Counts{Bad: 1, Events: 240}}
	if _, err := look(t.Context(), long, time.Minute); KindOf(err) != KindNoData {
		t.Errorf("nothing is kept, and the error is %v", err)
	}
	wrong := slo.Hour{End: status.At.Add(-slo.Day), Counts: slo.Counts{Bad: 1, Events: 100}}
	if _, err := look(t.Context(), wrong, time.Minute); KindOf(err) != KindNoData {
		t.Errorf("the minutes have more than the hour, and the error is %v", err)
	}
}
