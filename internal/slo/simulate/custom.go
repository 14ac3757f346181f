// Which metrics a world serves: the product's that the rules read, and any others that an SLI is made of.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// familiesFor returns what the rules read. Metrics that are not the product's are found in the queries of the SLI, or named by the scenario; it is an error when there are others.
func familiesFor(rules Rules, about SLO, named map[string]string) ([]family, error) {
	mentioned := rules.mentioned()
	raw := map[string]bool{"up": false}
	for _, name := range rules.raw() {
		raw[name] = name != "up"
	}
	var families []family
	for _, f := range productFamilies {
		if raw[f.name] || mentioned[f.name] {
			families = append(families, f)
			raw[f.name] = false
		}
	}
	custom, err := customFamilies(about, named)
	if err != nil {
		return nil, err
	}
	for _, f := range custom {
		if need, ok := raw[f.name]; ok && (need || len(named) > 0) {
			families = append(families, f)
		}
	}
	for _, f := range custom {
		raw[f.name] = false
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if raw[name] {
			return nil, fmt.Errorf("making the samples of %s, which the rules read: the queries of the SLI do not say which of its series there are; name them under series in the scenario", name)
		}
	}
	return families, nil
}

// what a series of another metric counts.
const slots = "slots"

// customFamilies are the series of metrics that are not the product's: those that a scenario names, else those of the queries of the SLI.
func customFamilies(about SLO, given map[string]string) ([]family, error) {
	named := map[string][]string{}
	for result, series := range given {
		named[result] = []string{series}
	}
	if len(given) == 0 {
		bad, total := seriesOf(about.ErrorQuery), seriesOf(about.TotalQuery)
		var good []string
		for _, series := range total {
			if !slices.Contains(bad, series) {
				good = append(good, series)
			}
		}
		named = map[string][]string{failure: bad, success: good}
	}
	var families []family
	for _, result := range slices.Sorted(maps.Keys(named)) {
		for _, series := range named[result] {
			f, err := customFamily(result, series)
			if err != nil {
				return nil, err
			}
			families = append(families, f)
		}
	}
	return families, nil
}

func customFamily(result, series string) (family, error) {
	lset, err := parser.ParseMetric(series)
	if err != nil {
		return family{}, fmt.Errorf("reading the series %q: %w", series, err)
	}
	f := family{name: lset.Get(model.MetricNameLabel)}
	var row []string
	lset.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel {
			f.labels, row = append(f.labels, l.Name), append(row, l.Value)
		}
	})
	rows := [][]string{row}
	f.primed = func(string) [][]string { return rows }
	f.counts = func(_ string, e event) [][]string {
		if result == slots || e.result == result {
			return rows
		}
		return nil
	}
	return f, nil
}

// seriesOf are the series that a query selects, as far as its matchers name them: equal to a value, or to one of a few.
func seriesOf(query string) []string {
	expr, err := parser.ParseExpr(withWindow(query, "5m"))
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	for _, selector := range parser.ExtractSelectors(expr) {
		all := []map[string]string{{}}
		for _, m := range selector {
			values := m.SetMatches()
			if m.Type == labels.MatchEqual {
				values = []string{m.Value}
			}
			if len(values) == 0 && m.Matches("") {
				continue // an absent label matches
			}
			var more []map[string]string
			for _, lset := range all {
				for _, value := range values {
					with := maps.Clone(lset)
					with[m.Name] = value
					more = append(more, with)
				}
			}
			all = more
		}
		for _, lset := range all {
			found[labels.FromMap(lset).String()] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
