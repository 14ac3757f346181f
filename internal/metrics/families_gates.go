// The families of release gates: whether they are open, and what they were asked.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

var gateFamilies = map[family]Family{
	gateOpen: {"eks_slo_gate_open", Gauge,
		"1 while the gate lets ordinary changes through, 0 while it blocks them; no series while it cannot tell.", []string{"gate"}, nil, Stable},
	gateDecisions: {"eks_slo_gate_decisions_total", Counter,
		"Callers' questions to the gate by its answer: allow, block or unknown, which is cannot tell.", []string{"gate", "decision"}, nil, Stable},
	gateExceptions: {"eks_slo_gate_exceptions_total", Counter,
		"Answers of allow for another reason than the budgets: an override, an exempt class of change, or no data where the gate is told to allow it.", []string{"gate", "kind"}, nil, Stable},
}
