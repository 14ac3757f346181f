// The tables of docs/slo.md are computed: this test writes them with -update, and fails when the file says something else.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the tables of docs/slo.md")

func TestDocumentedTables(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "slo.md")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for name, table := range map[string]string{"failures": failuresTable(t), "times": timesTable(t), "alarms": alarmsTable(t), "periods": periodsTable(t), "comparison": comparisonTable(t)} {
		before, rest, begins := strings.Cut(text, "<!-- table "+name+":")
		head, rest, lines := strings.Cut(rest, "-->\n")
		got, after, ends := strings.Cut(rest, "<!-- end -->")
		if !begins || !lines || !ends {
			t.Fatalf("%s has no place for the table %s", file, name)
		}
		if got != table && !*update {
			t.Errorf("the table %s is stale; run go test ./internal/slo -update. It is\n%s\nand should be\n%s", name, got, table)
		}
		text = before + "<!-- table " + name + ":" + head + "-->\n" + table + "<!-- end -->" + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// markdown writes a table.
func markdown(header []string, rows [][]string) string {
	var b strings.Builder
	b.WriteString("\n| " + strings.Join(header, " | ") + " |\n|---" + strings.Repeat("|--:", len(header)-1) + "|\n")
	for _, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	b.WriteString("\n")
	return b.String()
}

func failuresTable(t *testing.T) string {
	cadences := []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}
	header := []string{"objective"}
	for _, cadence := range cadences {
		header = append(header, "every "+FormatDuration(cadence))
	}
	var rows [][]string
	for _, text := range []string{"95", "99", "99.5", "99.9", "99.95", "99.99"} {
		row := []string{text + " %"}
		for _, cadence := range cadences {
			p := plan(t, text, cadence)
			_, bad := p.Budget()
			row = append(row, strings.ReplaceAll(each(p, func(tier Tier) string {
				if p.Needed(tier) > p.ByRatio(tier) {
					return fmt.Sprintf("%d(%d),", p.Needed(tier), p.ByRatio(tier))
				}
				return fmt.Sprintf("%d,", p.Needed(tier))
			})+fmt.Sprintf(" of %d", bad), ", of", " of"))
		}
		rows = append(rows, row)
	}
	return markdown(header, rows)
}

func timesTable(t *testing.T) string {
	p := plan(t, "99.9", 15*time.Second)
	shares := []struct {
		name  string
		ratio *big.Rat
	}{{"all fail", big.NewRat(1, 1)}, {"10 % fail", big.NewRat(1, 10)}, {"2 % fail", big.NewRat(1, 50)}, {"0.5 % fail", big.NewRat(1, 200)}}
	header := []string{"tier", "long/short", "burn rate", "failures"}
	for _, share := range shares {
		header = append(header, share.name)
	}
	var rows [][]string
	for _, tier := range p.Windows.Tiers {
		row := []string{tier.String(), FormatDuration(tier.Long) + "/" + FormatDuration(tier.Short), Decimal(tier.Burn), strconv.FormatInt(p.Needed(tier), 10)}
		for _, share := range shares {
			fires, ok := p.Detection(tier, share.ratio)
			resets, _ := p.Reset(tier, share.ratio)
			if !ok {
				row = append(row, "never")
				continue
			}
			row = append(row, FormatDuration(fires)+", ends after "+FormatDuration(resets))
		}
		rows = append(rows, row)
	}
	return markdown(header, rows)
}

func alarmsTable(t *testing.T) string {
	var rows [][]string
	for _, at := range []struct {
		objective string
		cadence   time.Duration
	}{{"99.9", 10 * time.Second}, {"99.9", 15 * time.Second}, {"99.9", 30 * time.Second}, {"99.9", time.Minute}, {"99", 15 * time.Second}} {
		p := plan(t, at.objective, at.cadence)
		row := []string{fmt.Sprintf("%s %% every %s", at.objective, FormatDuration(at.cadence))}
		for _, severity := range []Severity{Page, Ticket} {
			for _, burn := range []float64{0.5, 1} {
				row = append(row, alarmText(p.FalseAlarms(severity, burn, p.KeepFiringFor(severity)))+" ("+alarmText(p.Unguarded().FalseAlarms(severity, burn, 0))+")")
			}
		}
		rows = append(rows, row)
	}
	return markdown([]string{"", "pages, half the budget", "pages, all of it", "tickets, half the budget", "tickets, all of it"}, rows)
}

// alarmText writes an estimate with as many digits as it is worth.
func alarmText(e Estimate) string {
	switch {
	case e.PerMonth == 0:
		return "< " + strconv.FormatFloat(e.Error, 'g', 1, 64)
	case e.PerMonth >= 10:
		return strconv.FormatFloat(e.PerMonth, 'f', 0, 64)
	case e.PerMonth >= 1:
		return strconv.FormatFloat(e.PerMonth, 'f', 1, 64)
	}
	return strconv.FormatFloat(e.PerMonth, 'f', 2, 64)
}

// comparisonTable is the one that the engine's comparison of ours with plain Sloth's rules writes and checks.
func comparisonTable(t *testing.T) string {
	table, err := os.ReadFile(filepath.Join("simulate", "testdata", "table.golden"))
	if err != nil {
		t.Fatal(err)
	}
	return "\n" + string(table) + "\n"
}

func periodsTable(t *testing.T) string {
	header := []string{"period"}
	for _, tier := range windows(t, "30d").Tiers {
		header = append(header, fmt.Sprintf("%s, %s/%s", tier, FormatDuration(tier.Long), FormatDuration(tier.Short)))
	}
	var rows [][]string
	for _, period := range Periods() {
		w := windows(t, period)
		row := []string{period}
		for _, tier := range w.Tiers {
			burn, _ := tier.Burn.Float64()
			spent, _ := new(big.Rat).Mul(tier.Spent(w.Period), big.NewRat(100, 1)).Float64()
			row = append(row, strconv.FormatFloat(burn, 'g', 3, 64)+", "+strconv.FormatFloat(spent, 'g', 3, 64)+" % spent")
		}
		rows = append(rows, row)
	}
	return markdown(header, rows)
}
