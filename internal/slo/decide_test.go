// Tests of decisions: what is not known, what is bad for certain all the same, and what permits it.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// gateNow is our clock; the rules were evaluated 20 s before, and the newest data is 10 s older.
var gateNow = time.Date(2026, 3, 31, 12, 0, 20, 0, time.UTC)

// prodRelease is a gate with everything but freezes and overrides.
func prodRelease() Gate {
	return Gate{
		Name: "prod-release", SLOs: map[string]string{"cluster": "prod"}, MinBudget: .1, BlockWhile: Page, MinCoverage: .9, MinObserved: .9, MaxAge: 5 * time.Minute,
		Exempt: []string{"reliability", "security"},
	}
}

// month99 is a status of 30 days of a probe every 30 s at 99.9 %: 86,400 events of which 86 may be bad, and 77 for a tenth left.
func month99(t *testing.T, bad int64) Status {
	t.Helper()
	coverage, hour := 0.998, 1.0
	at := gateNow.Add(-20 * time.Second)
	s := Status{
		ID: "eks-access-availability", Service: "eks-access", Name: "availability", Labels: map[string]string{"cluster": "prod"}, Objective: objective(t, "99.9"), Period: 30 * Day,
		At: at, Newest: at.Add(-10 * time.Second), Spent: Counts{Bad: bad, Events: 86_400}, Windows: []Window{{time.Hour, Counts{Events: 120}}, {6 * time.Hour, Counts{Events: 720}}},
		Observed: 1, Coverage: &coverage, CoverageHour: &hour, Steps: Attribute(bad, []Part{{Step: "endpoint", Bad: float64(bad)}}), Causes: Attribute(bad, []Part{{Reason: "dns_not_found", Bad: float64(bad)}}),
	}
	for k := 719; k >= 0; k-- {
		s.Hours = append(s.Hours, Hour{End: at.Add(-time.Duration(k) * time.Hour), Counts: Counts{Events: 120}})
	}
	for i := range s.Hours[240:] { // ten days after the beginning
		took := min(bad, 120)
		s.Hours[240+i].Bad, bad = took, bad-took
	}
	return s
}

// inputs are of these statuses, read just now.
func inputs(statuses ...Status) Inputs {
	return Inputs{At: gateNow, Clock: gateNow, Statuses: statuses}
}

// decideTest changes what is all good.
type decideTest struct {
	change func(t *testing.T, g *Gate, in *Inputs)
	want   Because
	says   string // a part of the message
}

func first(change func(s *Status)) func(*testing.T, *Gate, *Inputs) {
	return func(_ *testing.T, _ *Gate, in *Inputs) { change(&in.Statuses[0]) }
}

func troubled(kind string) func(*testing.T, *Gate, *Inputs) {
	return func(_ *testing.T, _ *Gate, in *Inputs) {
		in.Statuses, in.Trouble = nil, &Trouble{Kind: kind, Message: "asking Prometheus at http://prometheus:9090: it is so"}
	}
}

// young makes a status whose first hours are missing.
func young(hours int64, bad int64) func(s *Status) {
	return func(s *Status) {
		s.Spent = Counts{Bad: bad, Events: hours * 120}
		s.Hours, s.Observed = s.Hours[720-hours:], float64(hours)/720
	}
}

// decideTests are the whole matrix: each of the reasons is reached at least once.
var decideTests = map[string]decideTest{
	"all good":               {func(*testing.T, *Gate, *Inputs) {}, BecauseWithinBudget, "25 of 86400 events in 30d were bad, and 86 may be at 99.9 %: 71 % of the budget is left, and the gate asks for 10 %; coverage 99.8 %"},
	"the last that may fail": {first(func(s *Status) { s.Spent.Bad = 77 }), BecauseWithinBudget, "10.8 % of the budget is left"},
	"one more":               {first(func(s *Status) { s.Spent.Bad = 78 }), BecauseBudgetSpent, "9.7 % of the budget is left, and the gate asks for 10 %; coverage 99.8 %; most by endpoint (25), for dns_not_found (25)"},
	"unexplained":            {first(func(s *Status) { s.Steps, s.Causes = []Cause{{Bad: 13}, {Step: "sts", Bad: 12}}, nil }), BecauseWithinBudget, "coverage 99.8 %; most by what nothing explains (13)"},
	"overspent":              {first(func(s *Status) { s.Spent.Bad = 130 }), BecauseBudgetSpent, "130 of 86400 events in 30d were bad, and 86 may be at 99.9 %: -50.5 % of the budget is left"},
	"a page":                 {first(func(s *Status) { s.Firing = []Severity{Page, Ticket} }), BecauseAlertFiring, "its page fires; 25 of 86400"},
	"a page, and its tier": {first(func(s *Status) { s.Firing, s.Windows[0].Bad = []Severity{Page}, 6 }), BecauseAlertFiring,
		"its page fires (page quick: 50.0 times an even burn over 1h, and it takes more than 14.4); 25 of 86400"},
	"a ticket": {first(func(s *Status) { s.Firing = []Severity{Ticket} }), BecauseWithinBudget, ""},
	"a ticket that closes": {func(_ *testing.T, g *Gate, in *Inputs) {
		g.BlockWhile, in.Statuses[0].Firing = Ticket, []Severity{Ticket}
	}, BecauseAlertFiring, "its ticket fires"},
	"a page where tickets close": {func(_ *testing.T, g *Gate, in *Inputs) {
		g.BlockWhile, in.Statuses[0].Firing = Ticket, []Severity{Page}
	}, BecauseAlertFiring, "its page fires"},
	"a page that never closes": {func(_ *testing.T, g *Gate, in *Inputs) {
		g.BlockWhile, in.Statuses[0].Firing = SeverityUnknown, []Severity{Page}
	}, BecauseWithinBudget, ""},
	"a freeze":                     {freezing(-time.Hour, time.Hour), BecauseFrozen, "nothing is released until 2026-03-31T13:00:20Z: quarter's end"},
	"a freeze that begins":         {freezing(0, time.Hour), BecauseFrozen, ""},
	"a freeze that ends":           {freezing(-time.Hour, 0), BecauseWithinBudget, ""},
	"unreachable":                  {troubled("unreachable"), BecauseUnreachable, "asking Prometheus at http://prometheus:9090: it is so"},
	"timeout":                      {troubled("timeout"), BecauseTimeout, ""},
	"401":                          {troubled("unauthorized"), BecauseUnauthorized, ""},
	"5xx":                          {troubled("server_error"), BecauseError, ""},
	"HTML":                         {troubled("not_prometheus"), BecauseNotPrometheus, ""},
	"bad query":                    {troubled("bad_query"), BecauseError, ""},
	"nobody waits":                 {troubled("canceled"), BecauseError, ""},
	"a kind that nobody knows":     {troubled("sunspots"), BecauseError, ""},
	"a kind that is a yes":         {troubled("within_budget"), BecauseError, ""},
	"empty vector":                 {troubled("no_data"), BecauseNoData, ""},
	"rules not loaded":             {troubled("rules_not_loaded"), BecauseRulesNotLoaded, ""},
	"no such SLO":                  {troubled("no_such_slo"), BecauseNoSuchSLO, ""},
	"NaN":                          {troubled("not_a_number"), BecauseNotANumber, ""},
	"trouble beside a good status": {func(_ *testing.T, _ *Gate, in *Inputs) { in.Trouble = &Trouble{"timeout", "too late"} }, BecauseTimeout, "too late"},
	"nothing at all":               {func(_ *testing.T, _ *Gate, in *Inputs) { in.Statuses = nil }, BecauseNoData, "no SLO was read"},
	"no events":                    {first(func(s *Status) { s.Spent = Counts{} }), BecauseNoData, "it has no events in 30d"},
	"stale by an hour":             {first(func(s *Status) { s.Newest = gateNow.Add(-time.Hour) }), BecauseStale, "its newest data is 1h old, and it may be 5m"},
	"just not stale":               {first(func(s *Status) { s.Newest = gateNow.Add(-5 * time.Minute) }), BecauseWithinBudget, ""},
	"just stale":                   {first(func(s *Status) { s.Newest = gateNow.Add(-5*time.Minute - 1) }), BecauseStale, ""},
	"no newest":                    {first(func(s *Status) { s.Newest = time.Time{} }), BecauseStale, "no newest data"},
	"rules stopped":                {first(func(s *Status) { s.At = gateNow.Add(-6 * time.Minute) }), BecauseStale, "its rules were evaluated 6m ago, and it may be 5m"},
	"data of the future":           {first(func(s *Status) { s.Newest = gateNow.Add(time.Hour) }), BecauseClockSkew, "later than Prometheus' clock"},
	"no clock":                     {func(_ *testing.T, _ *Gate, in *Inputs) { in.Clock = time.Time{} }, BecauseClockSkew, ""},
	"clock ahead":                  {func(_ *testing.T, _ *Gate, in *Inputs) { in.Skew = time.Minute + 1 }, BecauseClockSkew, "our clock and Prometheus' differ by 1m"},
	"clock behind":                 {func(_ *testing.T, _ *Gate, in *Inputs) { in.Skew = -2 * time.Hour }, BecauseClockSkew, "differ by 2h"},
	"clock just right":             {func(_ *testing.T, _ *Gate, in *Inputs) { in.Skew = -time.Minute }, BecauseWithinBudget, ""},
	"half the period":              {first(young(360, 0)), BecausePartial, "50 % of the period has data, and the gate asks for 90 %; so far, 0 of 43200 events in 30d were bad"},
	"just enough of it":            {first(young(648, 0)), BecauseWithinBudget, "the period has data for 27d of 30d"},
	"just too little of it":        {first(young(647, 0)), BecausePartial, "89.8 % of the period"},
	"half, and spent for it alone": {first(young(360, 40)), BecausePartial, "7.4 % of the budget is left"},
	"half, and the most for all":   {first(young(360, 77)), BecausePartial, "-78.3 % of the budget is left"},
	"half, and too much for all":   {first(young(360, 78)), BecauseBudgetSpent, "that is more than the whole period can allow, although 50 % of the period has data"},
	"an hour alone, all bad":       {first(young(1, 120)), BecausePartial, "0.1 % of the period"},
	"coverage":                     {first(func(s *Status) { *s.Coverage = 0.8999 }), BecauseCoverageLow, "the coverage of the period is 89.9 %, and the gate asks for 90 %; 25 of 86400"},
	"coverage just enough":         {first(func(s *Status) { *s.Coverage = 0.9 }), BecauseWithinBudget, ""},
	"coverage of the hour":         {first(func(s *Status) { *s.CoverageHour = 0.5 }), BecauseCoverageLow, "the coverage of the last hour is 50 %"},
	"half of the coverage":         {first(func(s *Status) { s.CoverageHour = nil }), BecauseCoverageLow, "the coverage of the last hour is not known"},
	"the other half":               {first(func(s *Status) { s.Coverage = nil }), BecauseCoverageLow, "the coverage of the period is not known"},
	"no coverage":                  {first(func(s *Status) { s.Coverage, s.CoverageHour = nil, nil }), BecauseWithinBudget, ""},
	"slots could have been good":   {first(func(s *Status) { *s.Coverage, s.Spent.Slots, s.Spent.Bad = .5, 172_800, 155 }), BecauseCoverageLow, ""},
	"were all slots good":          {first(func(s *Status) { *s.Coverage, s.Spent.Slots, s.Spent.Bad = .5, 172_800, 156 }), BecauseBudgetSpent, "more than the whole period can allow"},
	"half, of half the slots":      {first(func(s *Status) { young(360, 100)(s); s.Spent.Slots = 86_400 }), BecausePartial, ""},
	"half, and just the most": {func(_ *testing.T, g *Gate, in *Inputs) {
		g.MinBudget = 0
		young(360, 90)(&in.Statuses[0])
		in.Statuses[0].Hours[0].Events = 125 // 90,000 in 30 days
	}, BecausePartial, ""},
	"hours that leave much out": {first(func(s *Status) {
		s.Spent.Bad, s.Observed, s.Hours = 60, .5, []Hour{{s.At.Add(-time.Hour), Counts{Events: 9}}, {s.At, Counts{Events: 9}}}
	}), BecausePartial, ""},
	"a page, and stale":          {first(func(s *Status) { s.Firing, s.Newest = []Severity{Page}, time.Time{} }), BecauseAlertFiring, ""},
	"spent, and unscraped":       {first(func(s *Status) { s.Spent.Bad, s.Newest = 200, gateNow.Add(-time.Hour) }), BecauseBudgetSpent, "although its newest data is 1h old"},
	"spent long ago":             {first(func(s *Status) { s.Spent.Bad, s.At = 200, gateNow.Add(-time.Hour) }), BecauseStale, ""},
	"spent, of the future":       {first(func(s *Status) { s.Spent.Bad, s.Newest = 200, gateNow.Add(time.Hour) }), BecauseClockSkew, ""},
	"spent, and skewed":          {func(_ *testing.T, _ *Gate, in *Inputs) { in.Statuses[0].Spent.Bad, in.Skew = 200, time.Hour }, BecauseBudgetSpent, ""},
	"NaN coverage":               {first(func(s *Status) { *s.Coverage = math.NaN() }), BecauseNotANumber, "its share coverage is NaN"},
	"NaN observed":               {first(func(s *Status) { s.Observed = math.NaN() }), BecauseNotANumber, "its share observed is NaN"},
	"infinite coverage":          {first(func(s *Status) { *s.CoverageHour = math.Inf(1) }), BecauseNotANumber, "its share coverage of the last hour is +Inf"},
	"more bad than all":          {first(func(s *Status) { s.Spent = Counts{Bad: 3, Events: 2} }), BecauseNotANumber, "it has 3 bad of 2 events"},
	"the zero status":            {first(func(s *Status) { *s = Status{} }), BecauseNotANumber, "it has no objective"},
	"no objective, and a page":   {first(func(s *Status) { s.Objective, s.Firing = Objective{}, []Severity{Page} }), BecauseAlertFiring, "its page fires; besides, it has no objective"},
	"no period":                  {first(func(s *Status) { s.Period = 0 }), BecauseNotANumber, "its period is 0s"},
	"limits that are no numbers": {func(_ *testing.T, g *Gate, _ *Inputs) { g.MinObserved = math.NaN() }, BecausePartial, "the gate asks for ?"},
	"a minimum that is none":     {func(_ *testing.T, g *Gate, _ *Inputs) { g.MinBudget = math.NaN() }, BecauseBudgetSpent, ""},
	"all of the budget": {func(_ *testing.T, g *Gate, in *Inputs) {
		g.MinBudget = 1
		young(1, 1)(&in.Statuses[0])
	}, BecausePartial, ""},
	"the other is spent":      {second(func(s *Status) { s.Spent.Bad = 100 }), BecauseBudgetSpent, `1 of 2 SLOs is closed; first of all eks-access-latency{cluster="prod"}: 100 of 86400`},
	"both are spent":          {both(func(s *Status) { s.Spent.Bad += 100 }), BecauseBudgetSpent, `2 of 2 SLOs are closed; first of all eks-access-availability{cluster="prod"}: 125 of 86400`},
	"the other is stale":      {second(func(s *Status) { s.Newest = time.Time{} }), BecauseStale, `1 of 2 SLOs is not known; first of all eks-access-latency{cluster="prod"}: it has no newest data`},
	"one stale, one spent":    {stalePlus(func(s *Status) { s.Spent.Bad = 100 }), BecauseBudgetSpent, ""},
	"one stale, one paging":   {stalePlus(func(s *Status) { s.Firing = []Severity{Page} }), BecauseAlertFiring, ""},
	"both are good":           {second(func(*Status) {}), BecauseWithinBudget, `all 2 SLOs are open; the least is left of eks-access-availability{cluster="prod"}: 25 of 86400`},
	"the other has a problem": {problem("not_a_number"), BecauseNotANumber, `1 of 2 SLOs is not known; first of all eks-access-rbac{cluster="prod"}: it is NaN`},
	"spent, and a problem": {func(t *testing.T, g *Gate, in *Inputs) {
		in.Statuses[0].Spent.Bad = 100
		problem("no_data")(t, g, in)
	}, BecauseBudgetSpent, ""},
	"frozen, and unreachable": {func(t *testing.T, g *Gate, in *Inputs) {
		freezing(-time.Hour, time.Hour)(t, g, in)
		troubled("unreachable")(t, g, in)
	}, BecauseFrozen, ""},
	"frozen by our clock, and no data allowed": {func(t *testing.T, g *Gate, in *Inputs) {
		freezing(-time.Hour, time.Hour)(t, g, in)
		in.Skew, g.OnNoData = 2*time.Hour, NoDataAllow
	}, BecauseFrozen, ""},
	"exempt, and good": {func(_ *testing.T, _ *Gate, in *Inputs) { in.Change = "security" }, BecauseWithinBudget, ""},
	"exempt, and a page": {func(_ *testing.T, _ *Gate, in *Inputs) {
		in.Change, in.Statuses[0].Firing = "reliability", []Severity{Page}
	}, BecauseExempt,
		"changes of the class reliability are exempt; without that: block, eks-access-availability"},
	"exempt, and unreachable": {func(t *testing.T, g *Gate, in *Inputs) { in.Change = "security"; troubled("unreachable")(t, g, in) }, BecauseExempt, "without that: cannot tell, asking Prometheus"},
	"exempt, and frozen":      {func(t *testing.T, g *Gate, in *Inputs) { in.Change = "security"; freezing(-1, 1)(t, g, in) }, BecauseExempt, ""},
	"no class is not a class": {func(_ *testing.T, g *Gate, in *Inputs) {
		g.Exempt, in.Statuses[0].Firing = []string{""}, []Severity{Page}
	}, BecauseAlertFiring, ""},
	"a class in capitals is none": {func(_ *testing.T, _ *Gate, in *Inputs) {
		in.Change, in.Statuses[0].Firing = "Security", []Severity{Page}
	}, BecauseAlertFiring, ""},
	"an override":                  {overriding("prod-release", time.Hour, "spent"), BecauseOverride, "Ada has opened the gate until 2026-03-31T13:00:20Z: it mends the probe; without that: block, eks-access"},
	"an override of the unknown":   {overriding("prod-release", time.Hour, "unreachable"), BecauseOverride, "without that: cannot tell"},
	"an override that is not used": {overriding("prod-release", time.Hour, ""), BecauseWithinBudget, ""},
	"an override that has expired": {overriding("prod-release", 0, "spent"), BecauseBudgetSpent, ""},
	"an override of another":       {overriding("dev-release", time.Hour, "spent"), BecauseBudgetSpent, ""},
	"an override by one clock":     {overriding("prod-release", time.Hour, "skew"), BecauseClockSkew, ""},
	"an override by both clocks":   {overriding("prod-release", 3*time.Hour, "skew"), BecauseOverride, ""},
	"no data, allowed":             {allowing("unreachable"), BecauseNoDataAllowed, "NOTHING IS KNOWN, and on_no_data: allow lets it through all the same: asking Prometheus"},
	"no data, allowed, skewed":     {allowing("skew"), BecauseNoDataAllowed, "NOT ALL IS KNOWN, and on_no_data: allow lets it through"},
	"no data, not allowed: spent":  {allowing("spent"), BecauseBudgetSpent, ""},
	"no data, and all good":        {allowing(""), BecauseWithinBudget, ""},
}

func freezing(from, to time.Duration) func(*testing.T, *Gate, *Inputs) {
	return func(_ *testing.T, g *Gate, _ *Inputs) {
		g.Freezes = []Freeze{{From: gateNow.Add(from), To: gateNow.Add(to), Why: "quarter's\nend"}}
	}
}

func second(change func(s *Status)) func(*testing.T, *Gate, *Inputs) {
	return func(t *testing.T, _ *Gate, in *Inputs) {
		s := month99(t, 5)
		s.ID, s.Name = "eks-access-latency", "latency"
		change(&s)
		in.Statuses = append(in.Statuses, s)
	}
}

func both(change func(s *Status)) func(*testing.T, *Gate, *Inputs) {
	return func(t *testing.T, g *Gate, in *Inputs) {
		second(change)(t, g, in)
		change(&in.Statuses[0])
	}
}

func stalePlus(change func(s *Status)) func(*testing.T, *Gate, *Inputs) {
	return func(t *testing.T, g *Gate, in *Inputs) {
		second(change)(t, g, in)
		in.Statuses[0].Newest = time.Time{}
	}
}

func problem(kind string) func(*testing.T, *Gate, *Inputs) {
	return func(_ *testing.T, _ *Gate, in *Inputs) {
		in.Problems = []Problem{{ID: "eks-access-rbac", Labels: map[string]string{"cluster": "prod"}, Trouble: Trouble{kind, "it is NaN"}}}
	}
}

// otherwise makes something not good.
func otherwise(what string, t *testing.T, g *Gate, in *Inputs) {
	switch what {
	case "spent":
		in.Statuses[0].Spent.Bad = 100
	case "skew":
		in.Skew = 2 * time.Hour
	case "unreachable":
		troubled(what)(t, g, in)
	}
}

func overriding(gate string, until time.Duration, what string) func(*testing.T, *Gate, *Inputs) {
	return func(t *testing.T, g *Gate, in *Inputs) {
		in.Overrides = []Override{{Gate: gate, By: "Ada", Why: "it mends\nthe probe", Until: gateNow.Add(until)}}
		otherwise(what, t, g, in)
	}
}

func allowing(what string) func(*testing.T, *Gate, *Inputs) {
	return func(t *testing.T, g *Gate, in *Inputs) {
		g.OnNoData = NoDataAllow
		otherwise(what, t, g, in)
	}
}

// run decides a test.
func (test decideTest) run(t *testing.T) (Gate, Inputs, Decision) {
	t.Helper()
	g, in := prodRelease(), inputs(month99(t, 25))
	test.change(t, &g, &in)
	return g, in, Decide(t.Context(), g, in)
}

func TestDecide(t *testing.T) {
	for name, test := range decideTests {
		t.Run(name, func(t *testing.T) {
			g, in, d := test.run(t)
			want := becauses[max(0, test.want.rank())].answer
			if d.Because != test.want || d.Answer != want || !strings.Contains(d.Message, test.says) || d.Message == "" {
				t.Errorf("%s because %s: %s; want %s because %s: …%s…", d.Answer, d.Because, d.Message, want, test.want, test.says)
			}
			if d.Gate != g.Name || !d.At.Equal(gateNow) || d.Change != in.Change || len(d.SLOs) != len(in.Statuses)+len(in.Problems) {
				t.Errorf("the decision of %s at %s on %q has %d SLOs", d.Gate, d.At, d.Change, len(d.SLOs))
			}
			if strings.ContainsAny(d.Message, "\n\r") {
				t.Errorf("the message has several lines: %q", d.Message)
			}
			if (d.Otherwise != nil) != (d.Exception() != "") || (d.Otherwise != nil && d.Otherwise.Answer == Allow) {
				t.Errorf("%s, and otherwise %+v", d.Because, d.Otherwise)
			}
		})
	}
}

// TestBecauses: every reason is reached by the matrix, and they are in the order of their answers.
func TestBecauses(t *testing.T) {
	reached := map[Because]bool{}
	for _, test := range decideTests {
		reached[test.want] = true
	}
	order := []Answer{}
	for _, each := range becauses {
		if !reached[each.because] {
			t.Errorf("nothing ends in %s", each.because)
		}
		delete(reached, each.because)
		if len(order) == 0 || order[len(order)-1] != each.answer {
			order = append(order, each.answer)
		}
		if f := found(each.because, " two\nlines\x1b "); f != (Finding{each.answer, each.because, "two lines"}) {
			t.Errorf("%s is found as %+v", each.because, f)
		}
	}
	if left := slices.Collect(maps.Keys(reached)); len(left) > 0 {
		t.Errorf("the list has no %s", left)
	}
	if !slices.Equal(order, []Answer{Block, CannotTell, Allow}) {
		t.Errorf("answers come in the order %v", order)
	}
	if f := found("no such word", "x"); f.Answer != CannotTell {
		t.Errorf("an unknown reason is %s", f.Answer)
	}
}
