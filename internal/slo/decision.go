// A decision is a gate's answer to one question, with everything that it was made of.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"fmt"
	"net/http"
	"time"
)

// Answer is what a gate says to a change.
type Answer int

// The answers.
const (
	CannotTell Answer = iota // not enough is known; no caller may take it for a yes
	Allow
	Block
)

var answers = map[Answer]struct {
	text   string
	exit   int
	status int
}{
	CannotTell: {"unknown", 3, http.StatusServiceUnavailable},
	Allow:      {"allow", 0, http.StatusOK},
	Block:      {"block", 1, http.StatusPreconditionFailed},
}

// String is the answer as it is written: allow, block or unknown.
func (a Answer) String() string {
	if known, ok := answers[a]; ok {
		return known.text
	}
	return answers[CannotTell].text
}

// ExitCode is that of the command gate: 0 for allow, 1 for block, 3 for what cannot be told.
func (a Answer) ExitCode() int {
	if known, ok := answers[a]; ok {
		return known.exit
	}
	return answers[CannotTell].exit
}

// HTTPStatus is that of the answer to a POST: 200 for allow, 412 for block, 503 for what cannot be told. A GET that finds the gate has 200 whatever the answer is.
func (a Answer) HTTPStatus() int {
	if known, ok := answers[a]; ok {
		return known.status
	}
	return answers[CannotTell].status
}

// MarshalText is String.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what String writes. Everything else is an error: no answer is taken for another.
func (a *Answer) UnmarshalText(text []byte) error {
	for answer, known := range answers {
		if known.text == string(text) {
			*a = answer
			return nil
		}
	}
	return fmt.Errorf("reading the decision %q: it is allow, block or unknown", text)
}

// Finding is an answer and why it is given.
type Finding struct {
	Answer  Answer  `json:"decision"`
	Because Because `json:"because"`
	Message string  `json:"message"` // a sentence for people, on one line
}

// Decision is the answer of one gate to one question. Its JSON is that of /api/v1/gates/NAME, and everything that is shown of a decision is made of it. Times are UTC, in whole seconds.
type Decision struct {
	Gate string `json:"gate"`
	Finding
	Change    string        `json:"change"`             // the class that the caller gave; "" for an ordinary change
	At        time.Time     `json:"at"`                 // by our clock
	ClockSkew *float64      `json:"clock_skew_seconds"` // how far Prometheus' clock is ahead of ours; null when it is not known
	Otherwise *Finding      `json:"otherwise"`          // what would be answered without the exemption, the override or on_no_data: allow that allows it; null when nothing of that was needed
	Reopens   Outlook       `json:"reopens"`            // for ordinary changes
	Freeze    *FrozenUntil  `json:"freeze"`             // that is in force
	Override  *InForce      `json:"override"`           // that is in force, needed or not
	Notes     []string      `json:"notes"`              // what people should know besides; sentences on one line each
	SLOs      []SLODecision `json:"slos"`               // by id and labels
}

// FrozenUntil is a freeze that is in force.
type FrozenUntil struct {
	Why   string    `json:"why"`
	Until time.Time `json:"until"`
}

// InForce is an override that is in force.
type InForce struct {
	By    string    `json:"by"`
	Why   string    `json:"why"`
	Until time.Time `json:"until"`
}

// SLODecision is what the gate makes of one SLO. Where nothing is known of the SLO, there are no figures.
type SLODecision struct {
	Key
	Finding
	Reopens   Outlook `json:"reopens"`
	MinBudget float64 `json:"min_budget"` // the share of the budget that the gate asks for
	Tier      string  `json:"tier"`       // of the alert that closes the gate: the one whose burn rate is exceeded, such as "page quick"; "" when none is, or no alert closes it
	*Figures
}

// Open says whether the gate lets this change through; nil when it cannot tell.
func (d Decision) Open() *bool {
	if d.Answer == CannotTell {
		return nil
	}
	open := d.Answer == Allow
	return &open
}

// exceptions are the permissions, as they are counted.
var exceptions = map[Because]string{BecauseExempt: "exempt", BecauseOverride: "override", BecauseNoDataAllowed: "no_data"}

// Exception is what allowed a change that the budgets did not allow: exempt, override or no_data; "" when they did, or nothing allowed it.
func (d Decision) Exception() string { return exceptions[d.Because] }

// inSeconds is a time as a decision writes it.
func inSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// known is inSeconds of a time that may be the zero one, which is null.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = inSeconds(t)
	return &t
}
