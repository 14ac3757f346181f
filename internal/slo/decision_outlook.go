// An outlook says when a gate is open again, as far as that can be told: budgets come back by the clock, freezes end, alerts have no end that anybody knows.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Outlook is when a gate or an SLO is open for ordinary changes, if no event is bad from now on.
type Outlook struct {
	Kind      string       `json:"kind"`       // open, at, never (not within a period from now) or unknown
	At        *time.Time   `json:"at"`         // null unless the kind is at
	NotBefore *time.Time   `json:"not_before"` // when the kind is unknown: it is closed until then in any case; null when nothing is known of that either
	Why       string       `json:"why"`        // it cannot be told, or not to the minute: then the time is the latest; "" when it is exact
	WithMore  *MoreOutlook `json:"with_more"`  // the same if some more events are bad; null when nothing is spent of a budget
}

// MoreOutlook is an outlook with bad events on top, all of them now: a twentieth of what is allowed of an SLO, and at least one.
type MoreOutlook struct {
	Bad  int64      `json:"bad"`  // how many; those of a gate are those of all its SLOs that are closed
	Kind string     `json:"kind"` // as of an outlook
	At   *time.Time `json:"at"`
}

// moreShare of the allowed events are what an outlook has on top.
const moreShare = 20

// The kinds of outlooks.
var (
	kindOpen, kindAt    = ReopeningOpen.String(), ReopeningAt.String()
	kindNever, kindDark = ReopeningNever.String(), ReopeningUnknown.String()
)

func cannotForetell() Outlook {
	return Outlook{Kind: kindDark, Why: "what is not known now cannot be foretold"}
}

// String is the outlook as a clause, such as "it reopens at 2026-04-10T12:46:00Z".
func (o Outlook) String() string {
	text := "when it reopens cannot be told"
	switch o.Kind {
	case kindOpen:
		return "it is open"
	case kindAt:
		text = "it reopens at " + stamp(*o.At)
		if o.Why != "" {
			text = "it reopens by " + stamp(*o.At)
		}
	case kindNever:
		text = "it does not reopen within a period from now"
	}
	if o.NotBefore != nil {
		text += ", but not before " + stamp(*o.NotBefore)
	}
	if o.Why != "" {
		text += " (" + o.Why + ")"
	}
	return text
}

// outlook is that of an SLO.
func (j judging) outlook(ctx context.Context, s Status, f Finding, unsure bool) Outlook {
	switch {
	case f.Answer == Allow:
		return Outlook{Kind: kindOpen}
	case f.Answer == CannotTell:
		return cannotForetell()
	case unsure:
		o := cannotForetell()
		if f.Because == BecauseAlertFiring {
			o.Why = alertEnds
		}
		return o
	}
	budget := j.budgetOutlook(ctx, s)
	if f.Because != BecauseAlertFiring || budget.Kind == kindNever {
		return budget
	}
	return Outlook{Kind: kindDark, NotBefore: budget.At, Why: alertEnds, WithMore: budget.WithMore}
}

const alertEnds = "an alert has no end that can be foretold"

// budgetOutlook is when enough of the budget is left.
func (j judging) budgetOutlook(ctx context.Context, s Status) Outlook {
	terms := Terms{Minimum: j.minimum()}
	if j.in.Look != nil {
		terms.Look = j.in.Look(s)
	}
	r := s.Reopens(ctx, terms)
	o := Outlook{Kind: r.Kind.String(), At: known(r.At)}
	if r.Doubt != nil {
		o.Why = plain(r.Doubt.Error())
	}
	if r.Kind == ReopeningOpen {
		return o
	}
	twentieth := new(big.Rat).Mul(s.Budget().Allowed(), big.NewRat(1, moreShare))
	terms.More = max(1, floor(twentieth))
	r = s.Reopens(ctx, terms)
	o.WithMore = &MoreOutlook{Bad: terms.More, Kind: r.Kind.String(), At: known(r.At)}
	return o
}

// reopens is the outlook of the gate: that of the SLO that is open last, and then of the freezes.
func (j judging) reopens(d Decision) Outlook {
	if d.Answer == CannotTell {
		return cannotForetell()
	}
	all := Outlook{Kind: kindOpen}
	for _, s := range d.SLOs {
		all = all.and(s.Reopens)
	}
	if j.in.Trouble != nil || j.in.skewed() || len(d.SLOs) == 0 {
		all = all.and(cannotForetell())
	}
	at := j.in.At
	if last := all.latest(); last != nil {
		at = *last
	}
	thawed := j.thawed(at)
	switch {
	case !thawed.After(at):
	case all.Kind == kindOpen || all.Kind == kindAt:
		all.Kind, all.At = kindAt, known(thawed)
	case all.Kind == kindDark:
		all.NotBefore = known(thawed)
	}
	switch more := all.WithMore; {
	case more == nil:
	case darkness[all.Kind] > darkness[more.Kind]:
		more.Kind, more.At = all.Kind, nil
	case more.At != nil:
		more.At = known(j.thawed(*more.At))
	}
	return all
}

// thawed is the first time from this one on that is in no freeze.
func (j judging) thawed(at time.Time) time.Time {
	for range j.gate.Freezes { // each ends once
		for _, f := range j.gate.Freezes {
			if f.holds(at) {
				at = f.To
			}
		}
	}
	return at
}

// latest is the time of the outlook, nil when it has none.
func (o Outlook) latest() *time.Time {
	if o.Kind == kindAt {
		return o.At
	}
	return o.NotBefore
}

// darkness orders kinds: what is never is so whatever else is not known.
var darkness = map[string]int{kindOpen: 0, kindAt: 1, kindDark: 2, kindNever: 3}

// and is when both are open.
func (o Outlook) and(other Outlook) Outlook {
	both := o
	if darkness[other.Kind] > darkness[o.Kind] {
		both.Kind, both.Why = other.Kind, other.Why
	} else if both.Why == "" && other.Kind == both.Kind {
		both.Why = other.Why
	}
	last := laterOf(o.latest(), other.latest())
	both.At, both.NotBefore = nil, nil
	switch both.Kind {
	case kindAt:
		both.At = last
	case kindDark:
		both.NotBefore = last
	}
	both.WithMore = o.WithMore.and(other.WithMore)
	return both
}

func (m *MoreOutlook) and(other *MoreOutlook) *MoreOutlook {
	if m == nil || other == nil {
		if m == nil {
			m = other
		}
		if m == nil {
			return nil
		}
		alone := *m
		return &alone
	}
	both := MoreOutlook{Bad: m.Bad + other.Bad, Kind: m.Kind}
	if darkness[other.Kind] > darkness[m.Kind] {
		both.Kind = other.Kind
	}
	if both.Kind == kindAt {
		both.At = laterOf(m.At, other.At)
	}
	return &both
}

// laterOf is the later of two times, of which each may be missing.
func laterOf(a, b *time.Time) *time.Time {
	if a == nil || (b != nil && b.After(*a)) {
		return b
	}
	return a
}

// note adds what people should know besides.
func (j judging) note(d *Decision) {
	if d.Change != "" && !j.gate.exempts(j.in.Change) {
		d.Notes = append(d.Notes, fmt.Sprintf("changes of the class %s are not exempt here; exempt are %s", d.Change, cmp.Or(strings.Join(j.gate.Exempt, ", "), "none")))
	}
	if j.gate.MinCoverage > 0 {
		for _, s := range d.SLOs {
			if s.Figures != nil && s.Coverage == nil && s.CoverageHour == nil {
				d.Notes = append(d.Notes, fmt.Sprintf("the coverage of %s is not judged: its specification counts no slots", s.Key))
			}
		}
	}
	for _, problem := range j.in.OverrideProblems {
		d.Notes = append(d.Notes, "the file of overrides: "+problem)
	}
	for _, warning := range j.in.Warnings {
		d.Notes = append(d.Notes, "Prometheus says: "+warning)
	}
	for i := range d.Notes {
		d.Notes[i] = plain(d.Notes[i])
	}
}
