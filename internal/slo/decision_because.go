// Why a gate answers as it does is one closed list; docs, metrics and callers go by its words.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"fmt"
	"slices"
)

// Because is why an answer is given. The words are part of the API: changing one breaks callers.
type Because string

// Why a gate blocks. All of it is known for certain.
const (
	BecauseAlertFiring Because = "alert_firing" // a burn alert fires that is as urgent as block_while says
	BecauseBudgetSpent Because = "budget_spent" // less of a budget is left than min_budget
	BecauseFrozen      Because = "frozen"       // a freeze is in force
)

// Why a gate cannot tell.
const (
	BecauseUnreachable    Because = "prometheus_unreachable"  // there is no connection to Prometheus
	BecauseTimeout        Because = "prometheus_timeout"      // Prometheus does not answer in time
	BecauseUnauthorized   Because = "prometheus_unauthorized" // Prometheus does not accept the credentials
	BecauseNotPrometheus  Because = "not_prometheus"          // what answers is no Prometheus
	BecauseError          Because = "prometheus_error"        // Prometheus answers with an error, or asking it ends in one that is none of the others
	BecauseRulesNotLoaded Because = "rules_not_loaded"        // Prometheus does not evaluate the generated rules
	BecauseNoSuchSLO      Because = "no_such_slo"             // no SLO has the labels of the gate
	BecauseClockSkew      Because = "clock_skew"              // our clock and Prometheus' differ by more than a minute
	BecauseNotANumber     Because = "not_a_number"            // a recorded value is none that its name allows, such as NaN
	BecauseNoData         Because = "no_data"                 // there are no events
	BecauseStale          Because = "stale"                   // the newest data is older than max_data_age
	BecausePartial        Because = "partial"                 // a smaller share of the period than min_observed has data
	BecauseCoverageLow    Because = "coverage_low"            // a smaller share of the slots than min_coverage ended in an event
)

// Why a gate allows. Only the first is an answer of the budgets.
const (
	BecauseWithinBudget  Because = "within_budget"   // all is known and good
	BecauseExempt        Because = "exempt"          // the class of the change is exempt
	BecauseOverride      Because = "override"        // somebody has opened the gate
	BecauseNoDataAllowed Because = "no_data_allowed" // the gate cannot tell, and is told to allow that
)

// becauses are all of them by their answers, worst first: of several findings the first is the answer.
var becauses = []struct {
	because Because
	answer  Answer
	meaning string // as docs/gating.md has it
}{
	{BecauseAlertFiring, Block, "a burn alert fires that is as urgent as `block_while` says"},
	{BecauseBudgetSpent, Block, "less of a budget is left than `min_budget`; or, when not all is known, more is spent than the whole period could allow"},
	{BecauseFrozen, Block, "a freeze is in force"},
	{BecauseUnreachable, CannotTell, "there is no connection to Prometheus"},
	{BecauseTimeout, CannotTell, "Prometheus does not answer in time"},
	{BecauseUnauthorized, CannotTell, "Prometheus does not accept the credentials"},
	{BecauseNotPrometheus, CannotTell, "what answers is no Prometheus: a login page, another API"},
	{BecauseError, CannotTell, "Prometheus answers with an error, or asking it ends in one that is none of the others here"},
	{BecauseRulesNotLoaded, CannotTell, "Prometheus does not evaluate the generated rules"},
	{BecauseNoSuchSLO, CannotTell, "no SLO has the labels of the gate"},
	{BecauseClockSkew, CannotTell, "our clock and Prometheus' differ by more than a minute: freezes, overrides and ages cannot be trusted"},
	{BecauseNotANumber, CannotTell, "a recorded value is none that its name allows, such as NaN"},
	{BecauseNoData, CannotTell, "there are no events"},
	{BecauseStale, CannotTell, "the newest data is older than `max_data_age`"},
	{BecausePartial, CannotTell, "a smaller share of the period than `min_observed` has data"},
	{BecauseCoverageLow, CannotTell, "a smaller share of the slots than `min_coverage` ended in an event, in the period or in the last hour"},
	{BecauseWithinBudget, Allow, "all is known and good: enough of every budget is left, no alert fires, nothing is frozen"},
	{BecauseExempt, Allow, "the class of the change is exempt"},
	{BecauseOverride, Allow, "somebody has opened the gate, and it is not over yet"},
	{BecauseNoDataAllowed, Allow, "the gate cannot tell, and `on_no_data: allow` lets that through"},
}

// rank is the place in the list; what is not in it comes first, as the worst.
func (b Because) rank() int {
	for i, each := range becauses {
		if each.because == b {
			return i
		}
	}
	return -1
}

// UnmarshalText reads a word of the list. Everything else is an error: what an answer is made of is never foreign text.
func (b *Because) UnmarshalText(text []byte) error {
	if Because(text).rank() < 0 {
		return fmt.Errorf("reading the reason %q of a decision: this version knows none of that name", text)
	}
	*b = Because(text)
	return nil
}

// Check finds a decision whose answer is not that of its reason, as one that was tampered with or cut off is.
func (d Decision) Check() error {
	findings := []Finding{d.Finding}
	for _, s := range d.SLOs {
		findings = append(findings, s.Finding)
	}
	for _, f := range findings {
		if at := f.Because.rank(); at < 0 || becauses[at].answer != f.Answer {
			return fmt.Errorf("reading a decision: %s because of %q is none that a gate gives", f.Answer, string(f.Because))
		}
	}
	return nil
}

// found is a finding for one of the list's reasons, whose answer the list knows.
func found(because Because, message string) Finding {
	f := Finding{Because: because, Message: plain(message)}
	if i := because.rank(); i >= 0 {
		f.Answer = becauses[i].answer
	}
	return f
}

// Trouble is why something is not known.
type Trouble struct {
	Kind    string `json:"kind"`    // a word of the query package's Kind, such as "unreachable"; every other word is an error
	Message string `json:"message"` // for people, without credentials
}

// kinds say what the words of a Trouble come to.
var kinds = map[string]Because{
	"unreachable": BecauseUnreachable, "timeout": BecauseTimeout, "unauthorized": BecauseUnauthorized, "not_prometheus": BecauseNotPrometheus,
	"rules_not_loaded": BecauseRulesNotLoaded, "no_data": BecauseNoData, "no_such_slo": BecauseNoSuchSLO, "not_a_number": BecauseNotANumber,
}

// finding is that something cannot be told.
func (t Trouble) finding() Finding {
	because, ok := kinds[t.Kind]
	if !ok {
		because = BecauseError
	}
	return found(because, t.Message)
}

// worst is the index of the finding that decides; -1 when there is none.
func worst(findings []Finding) int {
	at := -1
	for i := range findings {
		if at < 0 || findings[i].Because.rank() < findings[at].Because.rank() {
			at = i
		}
	}
	return at
}

// exempts says whether a class of change is let through whatever the gate finds.
func (g Gate) exempts(change string) bool { return change != "" && slices.Contains(g.Exempt, change) }
