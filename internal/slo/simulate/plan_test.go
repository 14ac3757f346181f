// Tests of rule files: what is read of them, in which order they can be evaluated by spans, and when they cannot.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parsed are rules given as expressions by name, each in the group that its name begins with, in order.
func parsed(t *testing.T, lines ...string) Rules {
	t.Helper()
	var file strings.Builder
	file.WriteString("groups:\n")
	group := ""
	for _, line := range lines {
		name, expr, _ := strings.Cut(line, " = ")
		if in, _, _ := strings.Cut(name, ":"); in != group {
			group = in
			fmt.Fprintf(&file, "- name: %s\n  rules:\n", group)
		}
		fmt.Fprintf(&file, "  - record: %s\n    expr: '%s'\n", name, expr)
	}
	rules, err := ParseRules([]byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		rules     []string
		want, err string
	}{
		"in order":                    {[]string{"a:x = m", "a:y = a:x"}, "a:x a:y", ""},
		"what a later group recorded": {[]string{"a:x = m", "a:y = sum_over_time(b:x[1h] offset 1m)", "b:x = a:x"}, "a:x b:x a:y", ""},
		"the past of a subquery":      {[]string{"a:y = max_over_time(b:x[1h:1m] offset 1m)", "b:x = m"}, "b:x a:y", ""},
		"now, of a later rule":        {[]string{"a:y = b:x", "b:x = m"}, "", "the rule a:y reads b:x, which it or a later rule records at the same instant"},
		"past and now":                {[]string{"a:y = b:x - b:x offset 1m", "b:x = m"}, "", "the rule a:y reads b:x, which it or a later rule records at the same instant"},
		"its own past":                {[]string{"a:x = a:x offset 1m + 1"}, "", "the rule a:x reads what is made of its own results"},
		"a circle through the past":   {[]string{"a:x = a:y offset 1m", "a:y = a:x"}, "", "the rule a:x reads what is made of its own results"},
		"no name":                     {[]string{`a:x = count({job="j"})`}, "", "the rule a:x reads series without a name"},
		"the future":                  {[]string{"a:x = m offset -1m"}, "", "the rule a:x reads at a fixed time, or ahead of its own"},
		"a fixed time":                {[]string{"a:x = m @ 1700000000"}, "", "the rule a:x reads at a fixed time, or ahead of its own"},
		"the end":                     {[]string{"a:x = max_over_time(m[5m:1m] @ end())"}, "", "the rule a:x reads at a fixed time, or ahead of its own"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rules := parsed(t, c.rules...)
			plan, err := newPlan(rules)
			var got []string
			for _, task := range plan {
				got = append(got, rules.groups[task.group].rules[task.rule].name)
			}
			if strings.Join(got, " ") != c.want || (err != nil || c.err != "") && fmt.Sprint(err) != c.err {
				t.Errorf("plan %v, error %v", got, err)
			}
		})
	}
}

func TestPlanOfGroups(t *testing.T) {
	for file, want := range map[string]string{
		"groups: [{name: g, limit: 5, rules: [{record: r, expr: m}]}]":                                          "the group g has a limit or an offset",
		"groups: [{name: g, query_offset: 1m, rules: [{record: r, expr: m}]}]":                                  "the group g has a limit or an offset",
		"groups: [{name: g, rules: [{alert: A, expr: m, labels: {v: '{{ $value }}'}}]}]":                        "the alert A asks for values in the templates of its labels",
		"groups: [{name: g, rules: [{alert: A, expr: m, labels: {v: '{{ with query \"m\" }}x{{ end }}'}}]}]":    "the alert A asks for values in the templates of its labels",
		"groups: [{name: g, rules: [{alert: A, expr: m}, {record: r, expr: 'ALERTS{alertstate=\"firing\"}'}]}]": "<nil>",
	} {
		rules, err := ParseRules([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newPlan(rules); fmt.Sprint(err) != want {
			t.Errorf("%s: error %v, want %s", file, err, want)
		}
	}
}

// Rules that cannot be planned are evaluated all the same.
func TestUnplannedRules(t *testing.T) {
	rules, err := ParseRules([]byte(`groups: [{name: g, rules: [{record: "total", expr: "total + 1 or vector(1)"}, {alert: Many, expr: "total > 10", annotations: {n: "{{ $value }}"}}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), rules, access(t), &Scenario{Duration: 10 * time.Minute, Cadence: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Alerts) != 1 || r.Alerts[0].Episodes[0].FiringAt.Sub(r.Start) != 5*time.Minute || r.Alerts[0].Episodes[0].Annotations["n"] != "11" {
		t.Errorf("alerts %+v", r.Alerts)
	}
}

func TestParseRulesErrors(t *testing.T) {
	for file, want := range map[string]string{
		"groups: [{name: g, rules: [{record: r, expr: 'sum('}]}]": "could not parse expression",
		"groups: [{name: g, ruels: []}]":                          "field ruels not found",
	} {
		if _, err := ParseRules([]byte(file)); err == nil || !strings.Contains(err.Error(), "reading the rules: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", file, err, want)
		}
	}
}

func TestNeeded(t *testing.T) {
	rules := parsed(t, "a:one = m", "a:two = a:one", "a:three = n", "b:four = sum_over_time(a:three[1h]) + a:two", "b:five = m")
	names := func(r Rules) (names []string) {
		for _, rule := range r.all() {
			names = append(names, rule.name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"a:one", "a:two", "a:three", "b:four"}, names(rules.needed(func(r rule) bool { return r.name == "b:four" }))); diff != "" {
		t.Errorf("want - and got +:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a:three"}, names(rules.keep(rules.readOverTime()))); diff != "" {
		t.Errorf("read over time, want - and got +:\n%s", diff)
	}
}

func TestCustomSeries(t *testing.T) {
	rules := parsed(t, `a:x = sum(increase(requests_total{code=~"200|500",app="shop"}[5m]))`)
	about := SLO{
		Period: time.Hour, ErrorQuery: `sum(increase(requests_total{code="500",app="shop"}[{{.window}}]))`,
		TotalQuery: `sum(increase(requests_total{code=~"200|500",app="shop"}[{{.window}}]))`,
	}
	scenario := Scenario{Duration: 10 * time.Minute, Cadence: time.Minute, Events: []Event{{Kind: Outage, At: 2 * time.Minute, For: 3 * time.Minute}}}
	count := func(about SLO, scenario Scenario) (string, error) {
		s := scenario.withDefaults(0)
		w, err := s.world(rules, about)
		if err != nil {
			return "", err
		}
		counts, err := w.counts(t.Context(), about)
		return fmt.Sprint(counts), err
	}
	if got, err := count(about, scenario); got != "[{map[] 3 10}]" || err != nil {
		t.Errorf("counts by the queries' matchers: %s, error %v", got, err)
	}
	about.ErrorQuery = `sum(increase(requests_total{code=~"5..",app="shop"}[{{.window}}]))`
	about.TotalQuery = `sum(increase(requests_total{app="shop"}[{{.window}}]))`
	scenario.Series = map[string]string{failure: `requests_total{code="503",app="shop"}`, success: `requests_total{code="200",app="shop"}`}
	if got, err := count(about, scenario); got != "[{map[] 3 10}]" || err != nil {
		t.Errorf("counts by the scenario's series: %s, error %v", got, err)
	}
	about.ErrorQuery, about.TotalQuery, scenario.Series = `sum(increase(others_total[{{.window}}]))`, `sum(increase(others_total[{{.window}}]))`, nil
	want := "making the samples of requests_total, which the rules read: the queries of the SLI do not say which of its series there are; name them under series in the scenario"
	if _, err := count(about, scenario); fmt.Sprint(err) != want {
		t.Errorf("error %v", err)
	}
}
