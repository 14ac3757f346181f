// The judgement of one SLO: what is certainly bad first, then what is not known, then what is left.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"context"
	"fmt"
	"math/big"
	"time"
)

// judge is what the gate makes of a status.
func (j judging) judge(ctx context.Context, s Status) SLODecision {
	d := SLODecision{Key: s.Key(), MinBudget: j.gate.MinBudget, Figures: s.figures(), Reopens: cannotForetell()}
	if why := s.unsound(); why != "" {
		d.Finding = found(BecauseNotANumber, why)
		if severity := j.closing(s); severity != SeverityUnknown {
			d.Finding = found(BecauseAlertFiring, fmt.Sprintf("its %s fires; besides, %s", severity, why))
		}
		return d
	}
	unknown := j.unknown(s)
	d.Finding = j.find(s, unknown)
	if severity := j.closing(s); severity != SeverityUnknown {
		if tier, _, ok := s.tier(severity); ok {
			d.Tier = tier.String()
		}
	}
	d.Reopens = j.outlook(ctx, s, d.Finding, unknown != nil)
	if d.Answer == Block {
		d.Message += "; " + d.Reopens.String()
	}
	return d
}

// find is the finding, given what cannot be told.
func (j judging) find(s Status, unknown *Finding) Finding {
	spending := s.spending(j.gate.MinBudget)
	enough, _ := s.Budget().AtLeast(j.minimum())
	switch severity := j.closing(s); {
	case severity != SeverityUnknown:
		return found(BecauseAlertFiring, s.alerting(severity)+"; "+spending)
	case unknown == nil && !enough:
		return found(BecauseBudgetSpent, spending)
	case unknown != nil && unknown.Because != BecauseClockSkew && j.spentFor(s):
		return found(BecauseBudgetSpent, fmt.Sprintf("%s; that is more than the whole period can allow, although %s", spending, unknown.Message))
	case unknown != nil:
		return *unknown
	}
	return found(BecauseWithinBudget, spending)
}

// minimum is the share of the budget that must remain.
func (j judging) minimum() *big.Rat {
	exact, _ := Exact(j.gate.MinBudget)
	return exact
}

// closing is the most urgent alert that fires and closes the gate, SeverityUnknown when none does. An alert is what Prometheus says of now: it needs no other figure.
func (j judging) closing(s Status) (most Severity) {
	for _, severity := range s.Firing {
		if severity != SeverityUnknown && severity <= j.gate.BlockWhile && (most == SeverityUnknown || severity < most) {
			most = severity
		}
	}
	return most
}

// unknown is the first reason for which the budget cannot be told, nil when there is none. The gate asks for at least so much, so a limit that is no number is not kept.
func (j judging) unknown(s Status) *Finding {
	age, aged := s.Age(j.in.Clock)
	evaluated := j.in.Clock.Sub(s.At)
	limit := FormatDuration(j.gate.MaxAge)
	var f Finding
	switch {
	case s.Spent.Events == 0:
		f = found(BecauseNoData, "it has no events in "+FormatDuration(s.Period))
	case !aged:
		f = found(BecauseStale, "it has no newest data: how old it is cannot be told")
	case evaluated > j.gate.MaxAge:
		f = found(BecauseStale, fmt.Sprintf("its rules were evaluated %s ago, and it may be %s", FormatDuration(evaluated), limit))
	case age > j.gate.MaxAge:
		f = found(BecauseStale, fmt.Sprintf("its newest data is %s old, and it may be %s", FormatDuration(age), limit))
	case age < -MaxSkew || evaluated < -MaxSkew:
		f = found(BecauseClockSkew, fmt.Sprintf("its newest data is of %s, which is later than Prometheus' clock, %s", stamp(s.Newest), stamp(j.in.Clock)))
	case !(s.Observed >= j.gate.MinObserved):
		f = found(BecausePartial, fmt.Sprintf("%s of the period has data, and the gate asks for %s; so far, %s", Percent(s.Observed), asked(j.gate.MinObserved), s.spending(j.gate.MinBudget)))
	default:
		why := j.uncovered(s)
		if why == "" {
			return nil
		}
		f = found(BecauseCoverageLow, fmt.Sprintf("%s, and the gate asks for %s; %s", why, asked(j.gate.MinCoverage), s.spending(j.gate.MinBudget)))
	}
	return &f
}

// uncovered says what is wrong with the coverage, "" when nothing is. A specification that counts no slots has none at all, and cannot be judged by it; one that counts them has both.
func (j judging) uncovered(s Status) string {
	switch {
	case s.Coverage == nil && s.CoverageHour == nil:
		return ""
	case s.Coverage == nil:
		return "the coverage of the period is not known"
	case s.CoverageHour == nil:
		return "the coverage of the last hour is not known"
	case !(*s.Coverage >= j.gate.MinCoverage):
		return "the coverage of the period is " + Percent(*s.Coverage)
	case !(*s.CoverageHour >= j.gate.MinCoverage):
		return "the coverage of the last hour is " + Percent(*s.CoverageHour)
	}
	return ""
}

// spentFor says whether more is spent than the gate would allow of the whole period, had every other event of it been good. It is so only of counts that are of now: bad events leave a period with time.
func (j judging) spentFor(s Status) bool {
	if j.in.Clock.Sub(s.At) > j.gate.MaxAge {
		return false
	}
	capacity, ok := s.capacity()
	if !ok {
		return false
	}
	may := new(big.Rat).Sub(big.NewRat(1, 1), j.minimum())
	may.Mul(may, s.Objective.Budget())
	may.Mul(may, capacity)
	return new(big.Rat).SetInt64(s.Spent.Bad).Cmp(may) > 0
}

// capacity is the most events that the period can have: as if each of its hours were like the fullest, and every slot of it had ended in an event. It is false without two hours that have events: one alone
// may be the beginning of an hour.
func (s Status) capacity() (events *big.Rat, ok bool) {
	fullest, seen := int64(0), 0
	for _, h := range s.Hours {
		if h.Events > 0 {
			fullest, seen = max(fullest, h.Events, h.Slots), seen+1
		}
	}
	if seen < 2 || s.Spent.Events <= 0 {
		return nil, false
	}
	events = new(big.Rat).Mul(big.NewRat(int64(s.Period), int64(time.Hour)), new(big.Rat).SetInt64(fullest))
	if s.Spent.Slots > s.Spent.Events {
		events.Mul(events, big.NewRat(s.Spent.Slots, s.Spent.Events))
	}
	if all := new(big.Rat).SetInt64(max(s.Spent.Events, s.Spent.Slots)); all.Cmp(events) > 0 {
		events = all
	}
	return events, true
}
