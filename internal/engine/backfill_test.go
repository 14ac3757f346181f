// Back-filled rules are what PromQL computes from the raw counters at the same instants.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
)

const rawRules = `groups: [{name: g, labels: {team: t}, rules: [
  {record: "c:rate", expr: "rate(c_total[10m])", labels: {kind: raw}},
  {record: "c:sum", expr: "sum(c:rate)"},
  {record: "c:left_out", expr: "sum(c:rate)"},
  {alert: A, expr: "c:sum > 0"}]}]`

// gaps writes counters with random growth and random gaps over four days.
func gaps(t *testing.T, dir string, random *rand.Rand) {
	t.Helper()
	err := WriteHistory(dir, start.Add(-96*time.Hour), start, func(add Add) error {
		for i := range 3 {
			total, gap := 0.0, 0
			for at := start.Add(-96 * time.Hour); at.Before(start); at = at.Add(time.Minute) {
				total += float64(random.IntN(5))
				if gap--; gap < 0 && random.IntN(200) == 0 {
					gap = random.IntN(300)
				}
				if gap > 0 {
					continue
				}
				if err := add(counter(i), at, total); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBackfilledRulesAreTheRawOnes(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	gaps(t, dir, random)
	err := BackfillRules(t.Context(), Backfill{
		Dir: dir, Rules: files(rawRules), From: start.Add(-90 * time.Hour), To: start, Step: 5 * time.Minute,
		Filter: func(record string) bool { return record != "c:left_out" },
	})
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, options(dir, prometheus.NewRegistry()))
	for range 300 {
		at := start.Add(-90*time.Hour + time.Duration(random.IntN(90*12))*5*time.Minute)
		for record, raw := range map[string]string{
			`c:rate{kind="raw",team="t"}`: "rate(c_total[10m])", "c:sum": "sum(rate(c_total[10m]))", "c:left_out": "c_none",
		} {
			got := query(t, e, fmt.Sprintf("sum by (series) (%s)", record), at)
			want := query(t, e, fmt.Sprintf("sum by (series) (%s)", raw), at)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s at %s: %v, raw %v", record, at, got, want)
			}
		}
	}
}

func TestBackfillOfWrongRules(t *testing.T) {
	err := BackfillRules(t.Context(), Backfill{Dir: t.TempDir(), Rules: files("groups: [{name: g, rules: [{record: r, expr: (}]}]")})
	if err == nil || !strings.HasPrefix(err.Error(), "rule file a.yaml:1:") {
		t.Errorf("got %v", err)
	}
}

func TestLevels(t *testing.T) {
	rules, err := readRules(files(rawRules))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Backfill{}.recordings(rules)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range all {
		got += fmt.Sprintf("%s=%d%v ", r.name, r.level, labels.FromMap(r.labels))
	}
	if want := `c:rate=0{kind="raw", team="t"} c:sum=1{team="t"} c:left_out=1{team="t"} `; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
