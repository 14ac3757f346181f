// The verdict on a plan: whether its objective can be measured at its cadence at all, and what its owner should know.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Alerts says which alerts a specification asks for, and what its author has allowed.
type Alerts struct {
	Page, Ticket      bool
	SingleFailurePage bool // a page tier whose burn rate one failed probe exceeds is no reason to refuse
}

// Verdict is what speaks against a plan. A sentence of it says what is so and, where something can be done, what to do.
type Verdict struct {
	Refusals []string // the rules would not keep what the objective promises
	Warnings []string // they do, but in another way than one may think
}

// Refused says whether the plan should not be used.
func (v Verdict) Refused() bool { return len(v.Refusals) > 0 }

// Judge refuses a plan whose page has a tier that a single failed probe carries over its burn rate, unless that is allowed, and an alert of which no tier can ever fire.
// It warns of single tiers that cannot fire, and of those that the floor of failures decides and not the burn rate.
func (p Plan) Judge(alerts Alerts) Verdict {
	var v Verdict
	for _, severity := range []Severity{Page, Ticket} {
		if (severity == Page && alerts.Page) || (severity == Ticket && alerts.Ticket) {
			p.judge(severity, alerts, &v)
		}
	}
	return v
}

func (p Plan) judge(severity Severity, alerts Alerts, v *Verdict) {
	tiers := p.Windows.Of(severity)
	if !slices.ContainsFunc(tiers, p.CanFire) {
		v.Refusals = append(v.Refusals, fmt.Sprintf("the %s can never fire: %s; raise the objective, or disable the alert (alerting.%s_alert.disable: true)",
			severity, p.impossible(tiers[0]), severity))
		return
	}
	for _, t := range tiers {
		byRatio := p.ByRatio(t)
		switch {
		case !p.CanFire(t):
			v.Warnings = append(v.Warnings, fmt.Sprintf("%s can never fire: %s", t, p.impossible(t)))
		case byRatio == 1 && severity == Page && !alerts.SingleFailurePage:
			v.Refusals = append(v.Refusals, p.single(t))
		case byRatio < p.MinFailures:
			v.Warnings = append(v.Warnings, fmt.Sprintf("%s is decided by the floor of %d failures: its burn rate is exceeded by %d in %s already", t, p.MinFailures, byRatio, FormatDuration(t.Long)))
		}
	}
}

// impossible says why a tier cannot fire.
func (p Plan) impossible(t Tier) string {
	threshold := t.Threshold(p.Objective)
	if threshold.Cmp(big.NewRat(1, 1)) >= 0 {
		return fmt.Sprintf("%s times the budget of %s is a failure ratio of %s, which more than all probes would have to exceed",
			Decimal(t.Burn), Decimal(p.Objective.Budget()), Decimal(threshold))
	}
	return fmt.Sprintf("it needs %d failures in %s, which holds %d probes", p.Needed(t), FormatDuration(t.Long), p.within(t.Long)+1)
}

// single says that one failed probe is too much for a tier, and from which cadence on it would not be.
func (p Plan) single(t Tier) string {
	return fmt.Sprintf("one failed probe exceeds the burn rate of %s (1 of %d is more than %s): the objective is finer than probes every %s can tell; probe at least every %s, "+
		"or lower the objective",
		t, p.Events(t.Long), Decimal(t.Threshold(p.Objective)), FormatDuration(p.Cadence), FormatDuration(p.CadenceFor(t, 2)))
}

// CadenceFor is the slowest cadence, in whole seconds, at which the tier's burn rate takes this many failures to exceed; a second where none does.
func (p Plan) CadenceFor(t Tier, failures int64) time.Duration {
	seconds := big.NewRat(int64(t.Long/time.Second), failures-1)
	return time.Duration(max(1, floor(seconds.Mul(seconds, t.Threshold(p.Objective))))) * time.Second
}
