// A gate is a policy that lets a release through or not, by the budgets of some SLOs.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import "time"

// NoData says what a gate does when it cannot tell.
type NoData int

// The answers to no data.
const (
	NoDataBlock NoData = iota // the decision is "cannot tell", which no caller may take for a yes
	NoDataAllow               // the release is let through, and the decision says loudly that nothing is known
)

// Gate is a policy. It is data: Decide judges by it.
type Gate struct {
	Name        string
	SLOs        map[string]string // labels of the SLOs that it looks at: those of their groups, and id, service and slo; all must be equal
	MinBudget   float64           // of each SLO, at least this share must be left: 0.1 is 10 %
	BlockWhile  Severity          // an alert as urgent as this that fires closes the gate: Page, Ticket (which includes pages), or SeverityUnknown for never
	MinCoverage float64           // below this the budget is not known
	MinObserved float64           // and below this share of the period with data
	MaxAge      time.Duration     // of the newest data
	OnNoData    NoData
	Exempt      []string // classes of change that a spent budget does not hold up: reliability, security
	Freezes     []Freeze
	Overrides   string // a file of overrides; "" for none
}

// Freeze is a time in which nothing is released but exempt changes.
type Freeze struct {
	From, To time.Time
	Why      string
}

// Override opens a gate by somebody's decision, until it expires.
type Override struct {
	Gate  string
	By    string
	Why   string
	Until time.Time
}
