// Gates are counted as they are asked, and shown as they were last judged.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import "maps"

// gateState is one gate.
type gateState struct {
	open       *bool // nil: it could not tell, or was not judged yet
	decisions  map[string]uint64
	exceptions map[string]uint64
}

// The label values of gates, all of which exist at 0.
var (
	gateDecisionValues  = []string{"allow", "block", "unknown"}
	gateExceptionValues = []string{"exempt", "no_data", "override"}
)

// SetGates makes these the gates that have series. Those that stay keep their counts.
func (m *Metrics) SetGates(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.gates
	m.gates = map[string]gateState{}
	for _, name := range names {
		gate, ok := before[clean(name)]
		if !ok {
			gate = gateState{decisions: map[string]uint64{}, exceptions: map[string]uint64{}}
		}
		m.gates[clean(name)] = gate
	}
}

// GateJudged shows whether a gate is open; nil: it cannot tell. Gates that SetGates does not name are dropped.
func (m *Metrics) GateJudged(name string, open *bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if gate, ok := m.gates[clean(name)]; ok {
		gate.open = open
		m.gates[clean(name)] = gate
	}
}

// GateAsked counts an answer to a caller. exception is "" unless something else than the budgets allowed the change: exempt, no_data or override.
func (m *Metrics) GateAsked(name, decision, exception string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gate, ok := m.gates[clean(name)]
	if !ok {
		return
	}
	gate.decisions[decision]++
	if exception != "" {
		gate.exceptions[exception]++
	}
}

// clone copies what later questions change.
func (g gateState) clone() gateState {
	g.decisions, g.exceptions = maps.Clone(g.decisions), maps.Clone(g.exceptions)
	return g
}

func (e emitter) gate(name string, g gateState) {
	if g.open != nil {
		e.emit(gateOpen, number(*g.open), name)
	}
	for _, decision := range gateDecisionValues {
		e.emit(gateDecisions, float64(g.decisions[decision]), name, decision)
	}
	for _, kind := range gateExceptionValues {
		e.emit(gateExceptions, float64(g.exceptions[kind]), name, kind)
	}
}
