// Decide is the judgement of a gate. What it does not know it does not allow.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxSkew is how far our clock and Prometheus' may be apart: with more, neither freezes and overrides nor the age of data can be trusted.
const MaxSkew = time.Minute

// Inputs are what a decision is made of, besides the gate.
type Inputs struct {
	At     time.Time // now, by our clock: that of freezes and overrides
	Change string    // the class of the change; "" for an ordinary one

	Clock    time.Time     // now, by Prometheus' clock: that of data; zero when it is not known, and then nothing can be told
	Skew     time.Duration // how far it is ahead of ours
	Statuses []Status      // of all SLOs that have the labels of the gate
	Problems []Problem     // and of those of which nothing is known
	Trouble  *Trouble      // why they could not be read; nil when they were
	Warnings []string      // what Prometheus says of its answers

	Overrides        []Override               // of any gate
	OverrideProblems []string                 // what is wrong with the file of overrides, a sentence each
	Look             func(status Status) Look // looks into the hours of a status, for the minute of the reopening; nil when nothing does
}

// Decide says whether a gate lets a change through.
//
//   - What is certainly a block is a block, even when something else is not known: an alert that fires, a freeze, and more bad events than the whole period could allow.
//   - Else what cannot be told is "cannot tell": that one SLO is good says nothing of another.
//   - Else the change is allowed. So what is not known is never good, and never bad either.
//   - An exempt class of change is let through whatever is found and whatever is not: the fix of an outage must be able to go out during the outage. So is every change while an override is in force,
//     since a person has decided. on_no_data: allow lets through what cannot be told, whatever the cause, and never what is blocked.
//   - Each of these three is the reason of the decision only when it was needed, and the decision then holds what would have been answered without it.
//   - A file of overrides that cannot be used opens nothing and closes nothing: its problems are among the notes.
//
// The context ends the looks into hours, without which the time of the reopening is less exact; the answer does not depend on them.
func Decide(ctx context.Context, gate Gate, in Inputs) Decision {
	if _, number := Exact(gate.MinBudget); !number {
		gate.MinBudget = 2 // more than there can be
	}
	j := judging{gate: gate, in: in, clocks: in.clocks()}
	d := Decision{Gate: gate.Name, Change: plain(in.Change), At: inSeconds(in.At), Notes: []string{}, SLOs: []SLODecision{}}
	if !in.Clock.IsZero() {
		seconds := in.Skew.Seconds()
		d.ClockSkew = &seconds
	}
	for _, s := range in.Statuses {
		d.SLOs = append(d.SLOs, j.judge(ctx, s))
	}
	for _, p := range in.Problems {
		d.SLOs = append(d.SLOs, SLODecision{Key: newKey(Key{ID: p.ID, Labels: p.Labels}), Finding: p.finding(), Reopens: cannotForetell(), MinBudget: gate.MinBudget})
	}
	slices.SortStableFunc(d.SLOs, func(a, b SLODecision) int { return a.compare(b.Key) })
	freeze := j.freeze()
	if freeze != nil {
		d.Freeze = &FrozenUntil{Why: plain(freeze.Why), Until: inSeconds(freeze.To)}
	}
	d.Finding = j.weigh(d.SLOs, freeze)
	d.Reopens = j.reopens(d)
	j.permit(&d)
	j.note(&d)
	return d
}

// judging is one decision under way.
type judging struct {
	gate   Gate
	in     Inputs
	clocks []time.Time // that an override must be in force by, all of them
}

// clocks are ours; and Prometheus' as well when they differ by so much that either may be wrong.
func (in Inputs) clocks() []time.Time {
	if in.skewed() {
		return []time.Time{in.At, in.At.Add(in.Skew)}
	}
	return []time.Time{in.At}
}

func (in Inputs) skewed() bool { return in.Skew > MaxSkew || in.Skew < -MaxSkew }

// always says whether something is so by all clocks.
func (j judging) always(so func(now time.Time) bool) bool {
	return !slices.ContainsFunc(j.clocks, func(now time.Time) bool { return !so(now) })
}

func (f Freeze) holds(now time.Time) bool { return !now.Before(f.From) && now.Before(f.To) }

// freeze is the one in force that ends last, by our own clock: that the clocks differ is no reason to end it.
func (j judging) freeze() (last *Freeze) {
	for _, f := range j.gate.Freezes {
		if f.holds(j.in.At) && (last == nil || f.To.After(last.To)) {
			last = &f
		}
	}
	return last
}

// weigh is the worst of what was found, of the gate as a whole and of its SLOs.
func (j judging) weigh(slos []SLODecision, freeze *Freeze) Finding {
	var whole []Finding
	if freeze != nil {
		whole = append(whole, found(BecauseFrozen, fmt.Sprintf("nothing is released until %s: %s", stamp(freeze.To), freeze.Why)))
	}
	if j.in.Trouble != nil {
		whole = append(whole, j.in.Trouble.finding())
	}
	if j.in.skewed() {
		whole = append(whole, found(BecauseClockSkew, fmt.Sprintf("our clock and Prometheus' differ by %s, so that neither freezes nor ages can be trusted", FormatDuration(j.in.Skew.Abs()))))
	}
	if len(slos) == 0 && j.in.Trouble == nil {
		whole = append(whole, found(BecauseNoData, "no SLO was read"))
	}
	findings := whole
	for _, s := range slos {
		findings = append(findings, s.Finding)
	}
	at := worst(findings) // never -1: without an SLO there is something of the whole
	if at < len(whole) {
		return findings[at]
	}
	return summed(slos, findings[at])
}

// summed is the finding of several SLOs whose worst is of this kind: it tells the one that has the least left, and how many there are.
func summed(slos []SLODecision, decisive Finding) Finding {
	var chosen *SLODecision
	alike := 0
	for i := range slos {
		s := &slos[i]
		if s.Answer == decisive.Answer {
			alike++
		}
		if s.Because == decisive.Because && (chosen == nil || s.left() < chosen.left()) {
			chosen = s
		}
	}
	message := chosen.String() + ": " + chosen.Message
	switch {
	case len(slos) == 1:
	case decisive.Answer == Allow:
		message = fmt.Sprintf("all %d SLOs are open; the least is left of %s", alike, message)
	default:
		verb := map[bool]string{true: "is", false: "are"}[alike == 1]
		message = fmt.Sprintf("%d of %d SLOs %s %s; first of all %s", alike, len(slos), verb, map[Answer]string{Block: "closed", CannotTell: "not known"}[decisive.Answer], message)
	}
	return found(decisive.Because, message)
}

// left is what remains of the budget; 1 when that is not known.
func (s SLODecision) left() float64 {
	if s.Figures == nil || s.Remaining == nil {
		return 1
	}
	return *s.Remaining
}

// permit allows what was not, when something permits that.
func (j judging) permit(d *Decision) {
	override := j.override(d)
	if d.Answer == Allow {
		return
	}
	was := d.Finding
	without := fmt.Sprintf("without that: %s, %s", strings.Replace(was.Answer.String(), "unknown", "cannot tell", 1), was.Message)
	switch {
	case j.gate.exempts(j.in.Change):
		d.Finding = found(BecauseExempt, fmt.Sprintf("changes of the class %s are exempt; %s", j.in.Change, without))
	case override != nil:
		d.Finding = found(BecauseOverride, fmt.Sprintf("%s has opened the gate until %s: %s; %s", override.By, stamp(override.Until), override.Why, without))
	case was.Answer == CannotTell && j.gate.OnNoData == NoDataAllow:
		d.Finding = found(BecauseNoDataAllowed, d.ignorance()+", and on_no_data: allow lets it through all the same: "+was.Message)
	default:
		return
	}
	d.Otherwise = &was
}

// ignorance says loudly how little is known.
func (d *Decision) ignorance() string {
	if slices.ContainsFunc(d.SLOs, func(s SLODecision) bool { return s.Answer != CannotTell }) {
		return "NOT ALL IS KNOWN"
	}
	return "NOTHING IS KNOWN"
}

// override is the one of the gate that is in force and ends last. Those that are not are noted.
func (j judging) override(d *Decision) (last *Override) {
	for _, o := range j.in.Overrides {
		inForce := func(now time.Time) bool { return now.Before(o.Until) }
		switch {
		case o.Gate != j.gate.Name:
		case j.always(inForce):
			if last == nil || o.Until.After(last.Until) {
				last = &o
			}
		case slices.ContainsFunc(j.clocks, inForce):
			d.Notes = append(d.Notes, fmt.Sprintf("whether the override of %s until %s is in force cannot be told, since the clocks differ: it is not applied", o.By, stamp(o.Until)))
		default:
			d.Notes = append(d.Notes, fmt.Sprintf("the override of %s has expired at %s, and opens nothing: remove it, or give it a new end", o.By, stamp(o.Until)))
		}
	}
	if last != nil {
		d.Override = &InForce{By: plain(last.By), Why: plain(last.Why), Until: inSeconds(last.Until)}
	}
	return last
}
