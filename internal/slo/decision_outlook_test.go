// Tests of outlooks: the last of budgets and freezes, and what nobody can foretell.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"
)

// inTenth looks into an hour whose bad events all were in its tenth minute.
func inTenth(Status) Look {
	return func(_ context.Context, hour Hour, _ time.Duration) ([]Counts, error) {
		steps := make([]Counts, 60)
		for i := range steps {
			steps[i].Events = 2
		}
		steps[9].Bad, steps[9].Events = hour.Bad, hour.Bad
		rest := hour.Events - hour.Bad - 2*59
		for i := range steps { // as many good events must go as the tenth minute has too many
			if i != 9 && rest < 0 {
				take := min(2, -rest)
				steps[i].Events -= take
				rest += take
			}
		}
		return steps, nil
	}
}

// spent is a month in which 100 events of one hour were bad, which leaves it in the hour that begins in 240 hours.
func spent(t *testing.T) Status { return month99(t, 100) }

// at is the outlook for a time after the status'.
func at(after time.Duration) *time.Time { return known(gateNow.Add(after - 20*time.Second)) }

func TestOutlook(t *testing.T) {
	hour := time.Hour
	noLook := ErrNoLook.Error()
	later := func(t *testing.T) Status { // the same, two hours later
		s := spent(t)
		s.ID = "eks-access-latency"
		s.Hours[240].Bad, s.Hours[242].Bad = 0, 100
		return s
	}
	stale := func(t *testing.T) Status {
		s := month99(t, 0)
		s.ID, s.Newest = "eks-access-rbac", time.Time{}
		return s
	}
	paging := func(t *testing.T, bad int64) Status {
		s := month99(t, bad)
		s.Firing = []Severity{Page}
		return s
	}
	freeze := func(from, to time.Duration) Freeze { return Freeze{*at(from), *at(to), "x"} }
	tests := map[string]struct {
		statuses []Status
		freezes  []Freeze
		change   func(g *Gate, in *Inputs)
		want     Outlook
		says     string
	}{
		"open": {statuses: []Status{month99(t, 25)}, want: Outlook{Kind: "open"}, says: "it is open"},
		"by the hour": {statuses: []Status{spent(t)}, want: Outlook{Kind: "at", At: at(241 * hour), Why: noLook, WithMore: &MoreOutlook{4, "at", at(241 * hour)}},
			says: "it reopens by 2026-04-10T13:00:00Z (nothing is known within the hours)"},
		"by the minute": {statuses: []Status{spent(t)}, change: func(_ *Gate, in *Inputs) { in.Look = inTenth },
			want: Outlook{Kind: "at", At: at(240*hour + 10*time.Minute), WithMore: &MoreOutlook{4, "at", at(240*hour + 10*time.Minute)}}, says: "it reopens at 2026-04-10T12:10:00Z"},
		"the last of two": {statuses: []Status{later(t), spent(t)}, want: Outlook{Kind: "at", At: at(243 * hour), Why: noLook, WithMore: &MoreOutlook{8, "at", at(243 * hour)}}},
		"not before": {statuses: []Status{spent(t), stale(t)}, want: Outlook{Kind: "unknown", NotBefore: at(241 * hour), Why: cannotForetell().Why, WithMore: &MoreOutlook{4, "unknown", nil}},
			says: "when it reopens cannot be told, but not before 2026-04-10T13:00:00Z (what is not known now cannot be foretold)"},
		"nor with trouble": {statuses: []Status{spent(t)}, change: func(_ *Gate, in *Inputs) { in.Trouble = &Trouble{"timeout", "x"} },
			want: Outlook{Kind: "unknown", NotBefore: at(241 * hour), Why: cannotForetell().Why, WithMore: &MoreOutlook{4, "unknown", nil}}},
		"cannot tell":        {statuses: []Status{stale(t)}, want: cannotForetell()},
		"a page":             {statuses: []Status{paging(t, 25)}, want: Outlook{Kind: "unknown", Why: alertEnds}, says: "when it reopens cannot be told (an alert has no end that can be foretold)"},
		"a page, and spent":  {statuses: []Status{paging(t, 100)}, want: Outlook{Kind: "unknown", NotBefore: at(241 * hour), Why: alertEnds, WithMore: &MoreOutlook{4, "unknown", nil}}},
		"a page, and unsure": {statuses: []Status{paging(t, 100)}, change: func(_ *Gate, in *Inputs) { in.Statuses[0].Observed = .1 }, want: Outlook{Kind: "unknown", Why: alertEnds}},
		"spent, and unsure":  {statuses: []Status{spent(t)}, change: func(_ *Gate, in *Inputs) { in.Statuses[0].Observed = .1 }, want: cannotForetell()},
		"never": {statuses: []Status{spent(t)}, change: func(g *Gate, _ *Inputs) { g.MinBudget = 2 }, want: Outlook{Kind: "never", Why: noLook, WithMore: &MoreOutlook{4, "never", nil}},
			says: "it does not reopen within a period from now (nothing is known within the hours)"},
		"never, and stale":        {statuses: []Status{spent(t), stale(t)}, change: func(g *Gate, _ *Inputs) { g.MinBudget = 2 }, want: Outlook{Kind: "never", Why: noLook, WithMore: &MoreOutlook{4, "never", nil}}},
		"never, whatever a page":  {statuses: []Status{paging(t, 100)}, change: func(g *Gate, _ *Inputs) { g.MinBudget = 2 }, want: Outlook{Kind: "never", Why: noLook, WithMore: &MoreOutlook{4, "never", nil}}},
		"frozen":                  {statuses: []Status{month99(t, 25)}, freezes: []Freeze{freeze(-hour, hour)}, want: Outlook{Kind: "at", At: at(hour)}},
		"frozen, and again":       {statuses: []Status{month99(t, 25)}, freezes: []Freeze{freeze(3*hour, 4*hour), freeze(2*hour, 3*hour), freeze(-hour, 2*hour), freeze(5*hour, 6*hour)}, want: Outlook{Kind: "at", At: at(4 * hour)}},
		"a freeze to come":        {statuses: []Status{month99(t, 25)}, freezes: []Freeze{freeze(hour, 2*hour)}, want: Outlook{Kind: "open"}},
		"frozen, and stale":       {statuses: []Status{stale(t)}, freezes: []Freeze{freeze(-hour, hour)}, want: Outlook{Kind: "unknown", NotBefore: at(hour), Why: cannotForetell().Why}},
		"frozen, spent longer":    {statuses: []Status{spent(t)}, freezes: []Freeze{freeze(-hour, hour)}, want: Outlook{Kind: "at", At: at(241 * hour), Why: noLook, WithMore: &MoreOutlook{4, "at", at(241 * hour)}}},
		"spent, then frozen":      {statuses: []Status{spent(t)}, freezes: []Freeze{freeze(240*hour, 300*hour)}, want: Outlook{Kind: "at", At: at(300 * hour), Why: noLook, WithMore: &MoreOutlook{4, "at", at(300 * hour)}}},
		"for ordinary changes":    {statuses: []Status{spent(t)}, change: func(_ *Gate, in *Inputs) { in.Change = "security" }, want: Outlook{Kind: "at", At: at(241 * hour), Why: noLook, WithMore: &MoreOutlook{4, "at", at(241 * hour)}}},
		"nothing was read, a day": {freezes: []Freeze{freeze(-hour, hour)}, want: Outlook{Kind: "unknown", NotBefore: at(hour), Why: cannotForetell().Why}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g, in := prodRelease(), inputs(test.statuses...)
			g.Freezes = test.freezes
			if test.change != nil {
				test.change(&g, &in)
			}
			got := Decide(t.Context(), g, in).Reopens
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("the outlook is %+v (with more %+v), want %+v (%+v)", got, got.WithMore, test.want, test.want.WithMore)
			}
			if test.says != "" && got.String() != test.says {
				t.Errorf("it says %q, want %q", got, test.says)
			}
		})
	}
}

// TestOutlookOfAFew: at least one bad event comes on top.
func TestOutlookOfAFew(t *testing.T) {
	s := month99(t, 3)
	s.Spent.Events = 2_000
	s.Hours = s.Hours[len(s.Hours)-1:]
	s.Hours[0].Counts = s.Spent
	j := judging{gate: prodRelease(), in: inputs(s)}
	if got := j.budgetOutlook(t.Context(), s).WithMore; got == nil || got.Bad != 1 {
		t.Errorf("with more: %+v", got)
	}
	j.in.Look = func(Status) Look {
		return func(context.Context, Hour, time.Duration) ([]Counts, error) { return nil, errors.New("two\nlines") }
	}
	if got, want := j.budgetOutlook(t.Context(), spent(t)).Why, "looking into the hour that ends at 2026-03-11T13:00:00Z: two lines"; got != want {
		t.Errorf("the doubt is %q, want %q", got, want)
	}
}

func TestLater(t *testing.T) {
	early, late := at(0), at(time.Hour)
	for _, test := range []struct{ a, b, want *time.Time }{{nil, nil, nil}, {early, nil, early}, {nil, early, early}, {early, late, late}, {late, early, late}} {
		if got := laterOf(test.a, test.b); got != test.want {
			t.Errorf("the later of %v and %v is %v", test.a, test.b, got)
		}
	}
}
