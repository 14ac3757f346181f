// Tests of the gates' series.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestGates(t *testing.T) {
	m, registry := newMetrics(t)
	m.SetGates([]string{"prod", "staging"})
	m.GateAsked("prod", "allow", "")
	m.GateAsked("prod", "allow", "override")
	m.GateAsked("nowhere", "allow", "")
	m.GateJudged("nowhere", new(true))
	m.GateJudged("prod", new(true))
	m.GateJudged("staging", new(false))
	check := func(open string) {
		t.Helper()
		want := `# HELP eks_slo_gate_open 1 while the gate lets ordinary changes through, 0 while it blocks them; no series while it cannot tell.
# TYPE eks_slo_gate_open gauge
` + open
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "eks_slo_gate_open"); err != nil {
			t.Error(err)
		}
	}
	check("eks_slo_gate_open{gate=\"prod\"} 1\neks_slo_gate_open{gate=\"staging\"} 0\n")
	m.GateJudged("prod", nil) // it cannot tell: not open, and not closed
	check("eks_slo_gate_open{gate=\"staging\"} 0\n")
	m.SetGates([]string{"prod"})
	want := `# HELP eks_slo_gate_decisions_total Callers' questions to the gate by its answer: allow, block or unknown, which is cannot tell.
# TYPE eks_slo_gate_decisions_total counter
eks_slo_gate_decisions_total{decision="allow",gate="prod"} 2
eks_slo_gate_decisions_total{decision="block",gate="prod"} 0
eks_slo_gate_decisions_total{decision="unknown",gate="prod"} 0
# HELP eks_slo_gate_exceptions_total Answers of allow for another reason than the budgets: an override, an exempt class of change, or no data where the gate is told to allow it.
# TYPE eks_slo_gate_exceptions_total counter
eks_slo_gate_exceptions_total{gate="prod",kind="exempt"} 0
eks_slo_gate_exceptions_total{gate="prod",kind="no_data"} 0
eks_slo_gate_exceptions_total{gate="prod",kind="override"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "eks_slo_gate_open", "eks_slo_gate_decisions_total", "eks_slo_gate_exceptions_total"); err != nil {
		t.Error(err)
	}
}
