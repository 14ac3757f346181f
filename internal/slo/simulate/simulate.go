// Package simulate says what would have happened: it runs the generated rules over a scenario in Prometheus' own PromQL engine, and reports when each alert is pending, fires and resolves,
// and what the rules recorded beside what is true.
//
// SPDX-License-Identifier: Apache-2.0
package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// SLO is what a simulation must know of an SLO besides its rules.
type SLO struct {
	ID         string // the label sloth_id of its series
	Objective  slo.Objective
	Period     time.Duration
	Cadence    time.Duration // between two events of one series; 0: 15 s
	ErrorQuery string        // of the spec, with {{.window}}
	TotalQuery string
}

// Run runs rules over a scenario. The error is the caller's mistake or the end of the context; a rule that cannot be evaluated is in the report.
func Run(ctx context.Context, rules Rules, about SLO, scenario *Scenario) (*Report, error) {
	return simulate(ctx, rules, about, scenario, false)
}

// simulate runs rules, instant by instant where that is asked for or cannot be avoided.
func simulate(ctx context.Context, rules Rules, about SLO, scenario *Scenario, instants bool) (*Report, error) {
	s := scenario.withDefaults(about.Cadence)
	if err := s.validate(); err != nil {
		return nil, err
	}
	w, err := s.world(rules, about)
	if err != nil {
		return nil, err
	}
	run, err := w.evaluated(ctx, rules, instants)
	if errors.Is(err, errTwice) { // found out when something was recorded already
		return simulate(ctx, rules, about, scenario, true)
	}
	if err != nil {
		return nil, err
	}
	return newReport(ctx, w, run, about)
}

// world makes the samples of a scenario that the rules need.
func (s *Scenario) world(rules Rules, about SLO) (*world, error) {
	if s.Recording != nil {
		return s.recordedWorld()
	}
	families, err := familiesFor(rules, about, s.Series)
	if err != nil {
		return nil, err
	}
	w := newWorld(s, families, s.end()-about.Period.Milliseconds())
	w.run()
	return w, nil
}

func (w *world) evaluated(ctx context.Context, rules Rules, instants bool) (*run, error) {
	s := w.scenario
	run := newRun(w.store, s.EvaluationInterval, s.EvaluationOffset.Milliseconds(), s.spans(rules))
	if _, err := newPlan(rules); instants || err != nil { // some rules leave no other way
		return run, run.byInstants(ctx)
	}
	return run, run.bySpans(ctx)
}

func (s *Scenario) validate() error {
	switch {
	case s.Duration <= 0:
		return errors.New("running a scenario without a duration: nothing happens in it")
	case s.History < 0:
		return fmt.Errorf("running a scenario with a history of %s: it cannot be negative", s.History)
	}
	return nil
}
