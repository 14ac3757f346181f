// The comparison of our rules with plain Sloth's for the same specification: what docs/slo.md shows, measured in the real engine.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
	"io"
	"math"
)

// Row is one measure of two sets of rules.
type Row struct {
	Measure string
	Bound   string // that ours keeps
	Ours    string
	Plain   string
	Kept    bool
}

// measure is a row as it is taken: a number of a set of rules, how to write it, and the bound.
type measure struct {
	name  string
	bound string
	most  float64 // NaN: ours is held to the share of plain Sloth's below
	share float64
	write func(float64) string
	take  func(context.Context, Comparison, Rules) (float64, error)

	uneven bool // taken of the rules for events that have no cadence
}

// Comparison is what is compared: the rules of one SLO of probes whose labels have team="first".
type Comparison struct {
	SLO

	Ours   Rules
	Uneven Rules // ours for the same queries when nothing is known of a cadence
	Plain  Rules // what plain Sloth writes
	Months int   // of 30 days, that false pages are counted over
}

// Compare takes all measures.
func Compare(ctx context.Context, c Comparison) ([]Row, error) {
	var rows []Row
	for _, m := range measures {
		var values [2]float64
		ours := c.Ours
		if m.uneven {
			ours = c.Uneven
		}
		for i, rules := range []Rules{ours, c.Plain} {
			value, err := m.take(ctx, c, rules)
			if err != nil {
				return nil, fmt.Errorf("measuring %q: %w", m.name, err)
			}
			values[i] = value
		}
		most := m.most
		if math.IsNaN(most) {
			most = m.share * values[1]
		}
		rows = append(rows, Row{m.name, m.bound, m.write(values[0]), m.write(values[1]), values[0] <= most})
	}
	return rows, nil
}

// WriteRows writes the rows as a table in Markdown.
func WriteRows(w io.Writer, rows []Row) error {
	if _, err := fmt.Fprintf(w, "| measured in the PromQL engine of Prometheus | ours | plain Sloth | ours must be |\n|---|--:|--:|---|\n"); err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s |\n", r.Measure, r.Ours, r.Plain, r.Bound); err != nil {
			return err
		}
	}
	return nil
}

// measures are the rows of the table, in its order.
var measures = []measure{
	periodError("steady failures and a short outage", steady),
	unevenLoad(periodError("100 times the load by day, of events without a cadence", bursty)),
	periodError("the prober slowed down by failures", slowed),
	periodError("10 % of the scrapes lost", lost),
	periodError("a restart of the prober every day", restarted),
	{name: "NaN and infinite samples recorded while no event happens for an hour", bound: "0", write: number, take: notFiniteIn},
	{name: "rules that fail while the prober starts, restarts and is not scraped", bound: "0", write: number, take: failuresIn},
	{name: "false pages a month at p = 0.0005", bound: "at most 0.2", most: .2, write: decimal, take: falsePages},
	{name: "full outage to page", bound: "at most 60 s and an evaluation", most: 90, write: seconds, take: outageToPage},
	{name: "page resolved and fired again while 2 % fail for 3 hours", bound: "0", write: number, take: pageFlaps},
	{name: "alerts of one failure in the first ten minutes of an SLO (four tries)", bound: "0", write: number, take: firstMinutes},
	{name: "longest gap in a recorded series in the 2 hours after a label of the spec changes", bound: "0 s", write: seconds, take: labelGap},
	{name: "everything down and the prober not scraped: first page", bound: "at most 300 s", most: 300, write: seconds, take: blindness},
	{name: "what a second replica changes of the budget left", bound: "at most 0.1 % of the budget", most: .001, write: share, take: replicaError},
	{name: "what a second replica that sees nothing changes of the budget left", bound: "0 %", write: share, take: blindReplicaError},
	{name: "samples read by the rules of an SLO a minute, after a month", bound: "at most half of Sloth's", most: math.NaN(), share: .5, write: thousands, take: samplesRead},
}

func unevenLoad(m measure) measure {
	m.uneven = true
	return m
}

func number(x float64) string  { return fmt.Sprintf("%.0f", x) }
func decimal(x float64) string { return fmt.Sprintf("%.2f", x) }

func seconds(x float64) string {
	if math.IsInf(x, 1) {
		return "never"
	}
	return fmt.Sprintf("%.0f s", x)
}

func share(x float64) string {
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x):
		return "no value"
	case x < 1e-9: // what is left of floating point
		return "0 %"
	case x < 1e-5:
		return "less than 0.001 %"
	}
	return fmt.Sprintf("%.3g %%", 100*x)
}

func thousands(x float64) string { return fmt.Sprintf("%.0f 000", x/1000) }
