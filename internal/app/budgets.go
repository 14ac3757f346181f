// Budgets answers what is left of error budgets and whether gates let a change through, from what a configuration says is recorded.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/query"
)

// Budgets reads one configuration's SLOs. It is safe for concurrent use.
type Budgets struct {
	reader *query.Reader
	gates  []slo.Gate
}

// NewBudgets reads from the Prometheus of a configuration, or from the embedded engine that this handler is. nil: the configuration names neither.
func NewBudgets(q config.Query, gates []slo.Gate, embedded http.Handler) (*Budgets, error) {
	var options query.Options
	switch {
	case q.Prometheus != nil:
		options = query.Options{URL: q.Prometheus.URL.String(), HTTP: q.Prometheus.HTTP, SigV4: q.Prometheus.SigV4, Timeout: q.Prometheus.Timeout}
	case q.Embedded != nil:
		options = query.Options{URL: "http://embedded" + queryPrefix, Transport: query.HandlerTransport(embedded)}
	default:
		return nil, nil
	}
	api, err := query.New(options)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask Prometheus: %w", err)
	}
	return &Budgets{reader: query.NewReader(api, query.ReaderOptions{}), gates: gates}, nil
}

// Gates are the names of the gates.
func (b *Budgets) Gates() []string {
	var names []string
	for _, g := range b.gates {
		names = append(names, g.Name)
	}
	return names
}

// SLOs are the budgets of all SLOs. The trouble, when there is one, is why none can be told.
func (b *Budgets) SLOs(ctx context.Context) ([]slo.BudgetRow, *slo.Trouble) {
	reading, err := b.reader.Statuses(ctx, nil)
	return slo.BudgetRows(reading.Statuses, problems(reading)), trouble(err)
}

// Decide asks a gate for a class of change, "" for an ordinary one; false: there is no such gate.
func (b *Budgets) Decide(ctx context.Context, name, change string) (slo.Decision, bool) {
	at := slices.IndexFunc(b.gates, func(g slo.Gate) bool { return g.Name == name })
	if at < 0 {
		return slo.Decision{}, false
	}
	gate, now := b.gates[at], time.Now()
	reading, err := b.reader.Statuses(ctx, gate.SLOs)
	in := slo.Inputs{
		At: now, Change: change, Clock: reading.At, Skew: reading.Skew, Statuses: reading.Statuses, Problems: problems(reading), Trouble: trouble(err), Warnings: reading.Warnings,
		Look: b.reader.Look,
	}
	in.Overrides, in.OverrideProblems = b.overrides(gate, now)
	return slo.Decide(ctx, gate, in), true
}

// overrides are those of the gate's file that are in force, and what is wrong with the others.
func (b *Budgets) overrides(gate slo.Gate, now time.Time) ([]slo.Override, []string) {
	if gate.Overrides == "" {
		return nil, nil
	}
	var readers []string // an override in a file that its gate does not read opens nothing
	for _, g := range b.gates {
		if g.Overrides == gate.Overrides {
			readers = append(readers, g.Name)
		}
	}
	all, err := config.LoadOverrides(gate.Overrides, readers, now)
	if found, ok := errors.AsType[config.Problems](err); ok {
		var texts []string
		for _, p := range found {
			texts = append(texts, fmt.Sprintf("%s:%d:%d: %s; %s", p.File, p.Line, p.Column, p.Message, p.Hint))
		}
		return all, texts
	}
	if err != nil {
		return all, []string{err.Error()}
	}
	return all, nil
}

func problems(reading query.Reading) []slo.Problem {
	var all []slo.Problem
	for _, p := range reading.Problems {
		all = append(all, slo.Problem{ID: p.ID, Labels: p.Labels, Trouble: *trouble(p.Err)})
	}
	return all
}

func trouble(err error) *slo.Trouble {
	if err == nil {
		return nil
	}
	return &slo.Trouble{Kind: query.KindOf(err).String(), Message: err.Error()}
}
