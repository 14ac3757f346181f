// Section gates: policies that let a release through or not, by the budgets of some SLOs.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Defaults of a gate.
const (
	defaultMinCoverage = 0.9
	defaultMinObserved = 0.9
	defaultMaxAge      = 5 * time.Minute // Prometheus' own lookback: older data is not shown as present either
)

var gateKeys = []string{"name", "slos", "min_budget", "block_while", "min_coverage", "min_observed", "max_data_age", "on_no_data", "exempt", "freezes", "overrides_file"}

// gates reads the section, sorted by name.
func (d *decoder) gates(root diag.Fields) []slo.Gate {
	gates := declare(d, root, "gates", "gate", d.gate).values
	if len(gates) > 0 && !root.Has("query") {
		d.Report(root.AtKey("gates"), gatesWithoutQuery)
	}
	var sorted []slo.Gate
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		sorted = append(sorted, gates[name])
	}
	return sorted
}

// blockWhile and onNoData are the words of the file.
type (
	blockWhile string
	onNoData   string
)

func (d *decoder) gate(item *yaml.Node, i int) (diag.Fields, string, slo.Gate) {
	f := d.Mapping(item, fmt.Sprintf("gates[%d]", i), gateKeys...)
	f.Require("name", "callers ask the gate by its name")
	f.Require("slos", "labels of the SLOs whose budgets the gate looks at, such as {cluster: prod}")
	gate := slo.Gate{
		Name: f.Text("name"), SLOs: d.selector(f), MinBudget: d.share(f, "min_budget", 0),
		BlockWhile:  map[blockWhile]slo.Severity{"page": slo.Page, "ticket": slo.Ticket}[diag.Choice(f, "block_while", []blockWhile{"page", "ticket", "never"}, "page")],
		MinCoverage: d.share(f, "min_coverage", defaultMinCoverage), MinObserved: d.share(f, "min_observed", defaultMinObserved),
		Exempt: d.classes(f), Freezes: d.freezes(f), Overrides: d.path(f.Text("overrides_file")),
	}
	if gate.Name == "." || gate.Name == ".." {
		d.Report(f.At("name"), dotGate, gate.Name)
	}
	if diag.Choice(f, "on_no_data", []onNoData{"block", "allow"}, "block") == "allow" {
		gate.OnNoData = slo.NoDataAllow
	}
	var given bool
	if gate.MaxAge, given = f.Duration("max_data_age", defaultMaxAge); given {
		d.atLeast(f, "max_data_age", gate.MaxAge, limit{time.Minute, "rules are evaluated every 30s, and samples scraped every 15s or more"})
	}
	return f, gate.Name, gate
}

// selector reads the labels that say which SLOs are meant. Never empty: a gate over nothing would always be open.
func (d *decoder) selector(f diag.Fields) map[string]string {
	entries, given := f.Entries("slos")
	if given && len(entries) == 0 {
		d.Report(f.At("slos"), diag.NoValue, "slos")
	}
	labels := map[string]string{}
	for _, e := range entries {
		if !model.LegacyValidation.IsValidLabelName(e.Name) {
			d.Report(d.At(e.Key), badLabelName, e.Name)
		}
		labels[e.Name] = d.Text(e.Value, "slos."+e.Name)
	}
	return labels
}

// classes reads classes of change. Callers name them in URLs, so that they look as names do.
func (d *decoder) classes(f diag.Fields) []string {
	var classes []string
	d.eachText(f, "exempt", func(item *yaml.Node, class string) {
		if !nameShape.MatchString(class) {
			d.Report(d.At(item), badClass, class)
		}
		classes = append(classes, class)
	})
	return classes
}

// share reads a number from 0 to 1.
func (d *decoder) share(f diag.Fields, key string, otherwise float64) float64 {
	text := f.Number(key)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || value < 0 || value > 1 {
		d.Report(f.At(key), badShare, key)
		return otherwise
	}
	return value
}

func (d *decoder) freezes(gate diag.Fields) []slo.Freeze {
	var all []slo.Freeze
	for i, item := range gate.List("freezes") {
		f := d.Mapping(item, fmt.Sprintf("freezes[%d]", i), "from", "to", "why")
		f.Require("from", "when the freeze begins, such as 2026-12-20T00:00:00Z")
		f.Require("to", "when it ends, such as 2027-01-04T08:00:00Z")
		f.Require("why", "whoever is held up reads it")
		freeze := slo.Freeze{From: d.moment(f, "from"), To: d.moment(f, "to"), Why: f.Text("why")}
		if !freeze.From.IsZero() && !freeze.To.IsZero() && !freeze.To.After(freeze.From) {
			d.Report(f.At("to"), freezeEndsFirst, f.Scalar("to").Value, f.Scalar("from").Value)
		}
		all = append(all, freeze)
	}
	return all
}

// moment reads a time with its offset; the zero time when it is not given or wrong.
func (d *decoder) moment(f diag.Fields, key string) time.Time {
	n := f.Scalar(key)
	if n == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, n.Value)
	if err != nil {
		d.Report(d.At(n), badMoment, key, n.Value)
		return time.Time{}
	}
	return at
}
