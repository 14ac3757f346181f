// Figures are what is shown of an SLO's budget: in decisions, on pages, in the API and in the terminal.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Key tells an SLO of one group apart.
type Key struct {
	ID      string            `json:"id"`      // Sloth's, such as eks-access-availability
	Service string            `json:"service"` // "" when only the id is known
	Name    string            `json:"slo"`     // and so here
	Labels  map[string]string `json:"labels"`  // the group; {} when there is none
}

// Key is that of the status.
func (s Status) Key() Key { return newKey(Key{s.ID, s.Service, s.Name, s.Labels}) }

func newKey(k Key) Key {
	k.Labels = maps.Clone(k.Labels)
	if k.Labels == nil {
		k.Labels = map[string]string{}
	}
	return k
}

// String names the SLO and its group, such as eks-access-availability{cluster="prod"}.
func (k Key) String() string {
	if len(k.Labels) == 0 {
		return k.ID
	}
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(k.Labels)) {
		labels = append(labels, fmt.Sprintf("%s=%q", name, k.Labels[name]))
	}
	return k.ID + "{" + strings.Join(labels, ", ") + "}"
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.ID, other.ID), cmp.Compare(k.String(), other.String()))
}

// Problem says why nothing is known of an SLO that is there.
type Problem struct {
	ID     string
	Labels map[string]string // the group
	Trouble
}

// Figures are those of one budget. Shares are of 1, and null when they are not known.
type Figures struct {
	Objective    string     `json:"objective"` // per cent, exactly: "99.9"
	PeriodDays   float64    `json:"period_days"`
	AsOf         time.Time  `json:"as_of"`         // by Prometheus' clock, as all times here
	Newest       *time.Time `json:"newest"`        // the newest data
	Bad          int64      `json:"bad"`           // of the events
	Events       int64      `json:"events"`        // in the period
	Allowed      float64    `json:"allowed"`       // how many of them may be bad: 86.4 of 86,400
	Left         int64      `json:"left"`          // how many more of them could have been bad, in whole events; negative when the budget is overspent
	Remaining    *float64   `json:"remaining"`     // the share of the budget that is left
	Coverage     *float64   `json:"coverage"`      // the share of the slots that ended in an event; null also when the specification counts no slots
	CoverageHour *float64   `json:"coverage_hour"` // and in the last hour
	Observed     float64    `json:"observed"`      // the share of the period's hours that have data
	Partial      bool       `json:"partial"`       // it is less than all: the figures are those of a part of the period
	BurnRate     *float64   `json:"burn_rate"`     // of the last hour: how many times faster than evenly over the period the budget goes
	Exhaustion   Exhausted  `json:"exhaustion"`
	Firing       []string   `json:"firing"`  // burn alerts that fire, "page" before "ticket"
	Layers       []Cause    `json:"layers"`  // the bad events by layer, most first; they add up. One without a step is what nothing explains
	Reasons      []Cause    `json:"reasons"` // and by reason
}

// Exhausted is when the budget is spent at the burn rate of the last hour.
type Exhausted struct {
	Kind string     `json:"kind"` // in, never, spent or unknown
	At   *time.Time `json:"at"`   // null unless the kind is in
}

// BudgetRow is one SLO of the command budget and of /api/v1/slos. It has figures, or the problem because of which there are none.
type BudgetRow struct {
	Key
	Problem *Trouble `json:"problem"`
	*Figures
}

// BudgetRows are the rows of what was read, by id and labels. A status that holds what its fields do not allow is a problem.
func BudgetRows(statuses []Status, problems []Problem) []BudgetRow {
	rows := make([]BudgetRow, 0, len(statuses)+len(problems))
	for _, s := range statuses {
		row := BudgetRow{Key: s.Key(), Figures: s.figures()}
		if why := s.unsound(); why != "" {
			row.Problem = &Trouble{Kind: string(BecauseNotANumber), Message: why}
		}
		rows = append(rows, row)
	}
	for _, p := range problems {
		rows = append(rows, BudgetRow{Key: newKey(Key{ID: p.ID, Labels: p.Labels}), Problem: &Trouble{p.Kind, plain(p.Message)}})
	}
	slices.SortStableFunc(rows, func(a, b BudgetRow) int { return a.compare(b.Key) })
	return rows
}

// unsound says what in a status cannot be; "" when it can be used.
func (s Status) unsound() string {
	shares := map[string]float64{"observed": s.Observed}
	if s.Coverage != nil {
		shares["coverage"] = *s.Coverage
	}
	if s.CoverageHour != nil {
		shares["coverage of the last hour"] = *s.CoverageHour
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if x := shares[name]; !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Sprintf("its share %s is %v", name, x)
		}
	}
	switch c := s.Spent; {
	case s.Objective.percent == nil:
		return "it has no objective"
	case s.Period < time.Hour:
		return fmt.Sprintf("its period is %s", s.Period)
	case c.Bad < 0 || c.Events < 0 || c.Bad > c.Events:
		return fmt.Sprintf("it has %d bad of %d events", c.Bad, c.Events)
	}
	return ""
}

// figures are those of a status, nil when it is unsound.
func (s Status) figures() *Figures {
	if s.unsound() != "" {
		return nil
	}
	budget := s.Budget()
	f := &Figures{
		Objective: s.Objective.String(), PeriodDays: s.Period.Hours() / 24, AsOf: inSeconds(s.At), Newest: known(s.Newest),
		Bad: budget.Bad, Events: budget.Events, Left: budget.Left(), Coverage: s.Coverage, CoverageHour: s.CoverageHour, Observed: s.Observed, Partial: s.Partial(),
		Firing: []string{}, Layers: append([]Cause{}, s.Steps...), Reasons: append([]Cause{}, s.Causes...),
	}
	f.Allowed, _ = budget.Allowed().Float64()
	f.Remaining = nearest(budget.Remaining())
	f.BurnRate = nearest(s.Burn(BurnNow))
	exhaustion := s.Exhaustion(BurnNow)
	f.Exhaustion.Kind = exhaustion.Kind.String()
	if exhaustion.Kind == ExhaustionIn {
		f.Exhaustion.At = known(s.At.Add(exhaustion.In))
	}
	for _, severity := range s.Firing {
		f.Firing = append(f.Firing, severity.String())
	}
	return f
}

// nearest is the float that is nearest to a number, nil when it is not known.
func nearest(x *big.Rat, known bool) *float64 {
	if !known {
		return nil
	}
	f, _ := x.Float64()
	return &f
}
