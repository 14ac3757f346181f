// promtool unit tests of a rule file: for each SLO, what its rules must do, as anybody can check with promtool alone.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// unitTests are a file that `promtool test rules` reads.
type unitTests struct {
	RuleFiles          []string   `yaml:"rule_files"`
	EvaluationInterval string     `yaml:"evaluation_interval"`
	Tests              []unitTest `yaml:"tests"`
}

// unitTest is one world: series that are scraped, and what the rules make of them.
type unitTest struct {
	Name     string        `yaml:"name"`
	Interval string        `yaml:"interval"` // between the samples
	Series   []inputSeries `yaml:"input_series"`
	Exprs    []exprTest    `yaml:"promql_expr_test"`
}

// inputSeries are samples in promtool's notation.
type inputSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

// exprTest is what an expression must give at a time.
type exprTest struct {
	Expr    string   `yaml:"expr"`
	At      string   `yaml:"eval_time"`
	Samples []sample `yaml:"exp_samples"`
}

// sample is a value without labels.
type sample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// testEvaluation is how often rules are evaluated in unit tests.
const testEvaluation = time.Minute

// WriteTests writes a promtool unit-test file for rules that were written to rulesFile, a path as seen from the test file.
//
// Alerts are tested by the series ALERTS, so that annotations need no second writing. An SLO whose queries cannot be driven by single counters has only the tests without data.
func WriteTests(w io.Writer, rules *Rules, rulesFile string) error {
	tests := unitTests{RuleFiles: []string{rulesFile}, EvaluationInterval: span(testEvaluation)}
	for _, s := range rules.SLOs {
		tests.Tests = append(tests.Tests, newTester(s, rules.Windows).tests()...)
	}
	if len(rules.SLOs) == 0 {
		tests.Tests = exporterTests()
	}
	return writeYAML(w, header(rules), tests)
}

// tester writes the tests of one SLO.
type tester struct {
	*sloRules

	drive driver
	step  time.Duration // between two slots, which is between two samples too
}

func newTester(s SLO, windows slo.Windows) tester {
	t := tester{sloRules: newSLORules(s, windows), drive: newDriver(s), step: defaultCadence}
	if s.Probes != nil {
		t.step = s.Probes.Cadence
	}
	t.drive.addCauses(t.sloRules)
	return t
}

// phase is some slots that end alike.
type phase struct {
	slots outcome
	lasts time.Duration
}

// The times of the tests.
const (
	calm  = 20 * time.Minute             // before anything happens
	storm = 20 * time.Minute             // of a full outage
	long  = 2*time.Hour + 10*time.Minute // for counts of full hours
)

func (t tester) tests() []unitTest {
	tests := []unitTest{t.noData()}
	if t.drive.good == nil || t.drive.bad == nil {
		return tests
	}
	tests = append(tests, t.outage(), t.oneFailure(), t.restart(), t.replaced(), t.noTraffic())
	if t.covered() {
		tests = append(tests, t.absence())
	}
	if t.covered() && t.drive.slot != nil && t.Probes.Slots != nil {
		tests = append(tests, t.unknown())
	}
	return tests
}

// test is a test with the checks that hold in every world: no NaN, no Inf, and no label of the user on a recording.
func (t tester) test(name string, series []inputSeries, end time.Duration, checks ...exprTest) unitTest {
	checks = append(checks, exprTest{`count({__name__=~"slo:.+"}) - count({__name__=~"slo:.+"} > -Inf < Inf)`, span(end), []sample{{"{}", 0}}})
	for label := range t.Labels {
		checks = append(checks, none(fmt.Sprintf(`count({__name__=~"slo:.+", %s!=""})`, label), end))
	}
	slices.SortStableFunc(checks[len(checks)-len(t.Labels):], func(a, b exprTest) int { return strings.Compare(a.Expr, b.Expr) })
	return unitTest{Name: t.ID() + ": " + name, Interval: span(t.step), Series: series, Exprs: checks}
}

// noData has no series at all: nothing is recorded of them, and nothing fires.
func (t tester) noData() unitTest {
	const at = 10 * time.Minute
	test := t.test("stays quiet on no data", nil, at,
		none(fmt.Sprintf(`count(ALERTS{sloth_id=%q})`, t.ID()), at),
		none(fmt.Sprintf(`count({__name__=~"slo:(sli_error|events|bad_events|coverage|period|current).*", sloth_id=%q})`, t.ID()), at))
	test.Series = []inputSeries{{"up", fmt.Sprintf("1x%d", at/t.step)}}
	return test
}

// noTraffic has counters that stand still.
func (t tester) noTraffic() unitTest {
	series := t.series(nil, phase{slotIdle, calm})
	return t.test("records no ratio of nothing", series, calm,
		none(fmt.Sprintf(`count({__name__=~"slo:sli_error:.*|slo:.*burn_rate.*", sloth_id=%q})`, t.ID()), calm), none(t.burning(slo.Page), calm), none(t.burning(slo.Ticket), calm))
}

// outage is a full outage.
func (t tester) outage() unitTest {
	ends := calm + storm
	severity, alerts := slo.Page, t.alertsOn(slo.Page)
	if !alerts {
		severity, alerts = slo.Ticket, t.alertsOn(slo.Ticket)
	}
	after := ends
	checks := []exprTest{none(t.burning(severity), calm), one(t.own(badPrefix+suffixHourly), ends, float64(storm/t.step)), one(t.own(badPrefix+suffixPeriod), ends, float64(storm/t.step))}
	for _, a := range t.attributions() {
		if len(a.Query.calls) > 0 {
			checks = append(checks, none(byPrefix+a.Label+":"+suffixHourly+t.self, calm), one(t.own(byPrefix+a.Label+":"+suffixHourly), ends, float64(storm/t.step)))
		}
	}
	if alerts {
		checks = append(checks, one(t.burning(severity), ends, 1))
	}
	if alerts && severity == slo.Page {
		after = ends + t.windows.Of(slo.Page)[1].Short + t.keepFiringFor(slo.Page) + 5*time.Minute
		checks = append(checks, none(t.burning(severity), after))
	}
	after = max(after, long)
	checks = append(checks, one("round("+t.own(badPrefix+suffixPeriod)+")", after, float64(storm/t.step)), one("round("+t.own(eventsPrefix+suffixPeriod)+")", after, float64(after/t.step)))
	return t.test("fires on a full outage and resets", t.series(nil, phase{slotGood, calm}, phase{slotBad, storm}, phase{slotGood, after - ends}), after, checks...)
}

// alertsOn says whether a full outage after a calm as long must fire an alert.
func (t tester) alertsOn(severity slo.Severity) bool {
	alert := t.Alerting.TicketAlert
	if severity == slo.Page {
		alert = t.Alerting.PageAlert
	}
	return !alert.Disable && slices.ContainsFunc(t.windows.Of(severity), func(tier slo.Tier) bool {
		threshold, _ := tier.Threshold(t.Objective).Float64()
		return threshold < 0.45 && storm/t.step >= slo.MinFailures
	})
}

// oneFailure is one failed probe.
func (t tester) oneFailure() unitTest {
	at := calm + 5*time.Minute
	return t.test("counts the first failure and alerts nobody", t.series(nil, phase{slotGood, calm}, phase{slotBad, t.step}, phase{slotGood, at - calm}), at,
		one(t.own(badPrefix+suffixHourly), at, 1), none(t.burning(slo.Page), at), none(t.burning(slo.Ticket), at))
}

// restart is an exporter whose counters begin again at 0.
func (t tester) restart() unitTest {
	at := 2*calm + t.step
	return t.test("survives a restart", t.series(nil, phase{slotGood, calm}, phase{slotRestart, t.step}, phase{slotGood, calm}), at,
		one(t.own(badPrefix+suffixHourly), at, 0), one(t.own(ratioOver(t.windows.Tiers[0].Short)), at, 0), none(t.burning(slo.Page), at), none(t.burning(slo.Ticket), at), none(t.absent(), at))
}

// replaced is an exporter that is replaced by another, whose series have another label.
func (t tester) replaced() unitTest {
	at := 2 * calm
	series := t.series(map[string]string{"pod": "a"}, phase{slotGood, calm}, phase{slotGone, calm})
	series = append(series, t.series(map[string]string{"pod": "b"}, phase{slotUnborn, calm - t.step}, phase{slotRestart, t.step}, phase{slotGood, calm})...)
	return t.test("survives a change of labels", series, at,
		one(t.own(badPrefix+suffixHourly), at, 0), one("round("+t.own(eventsPrefix+suffixHourly)+")", at, float64(2*calm/t.step)), none(t.burning(slo.Page), at), none(t.absent(), at))
}

// absence is a prober that is no longer scraped.
func (t tester) absence() unitTest {
	at := calm + max(5*time.Minute, t.absentWindow()+2*testEvaluation)
	return t.test("tells that nothing is measured", t.series(nil, phase{slotGood, calm}, phase{slotGone, at - calm}), at, none(t.absent(), calm), one(t.absent(), at, 1),
		one(t.own(metricNewest), calm, calm.Seconds()), one(fmt.Sprintf("sum(last_over_time(%s%s[1h]))", metricNewest, t.self), at, calm.Seconds()))
}

// unknown are slots that end in neither success nor failure.
func (t tester) unknown() unitTest {
	at := 2 * calm
	return t.test("counts unknown as coverage alone", t.series(nil, phase{slotGood, calm}, phase{slotUnknown, calm}), at,
		one(t.own(badPrefix+suffixHourly), at, 0), one(t.own(eventsPrefix+suffixHourly), at, float64(calm/t.step)), none(t.burning(slo.Page), at), none(t.burning(slo.Ticket), at), none(t.absent(), at),
		one(fmt.Sprintf("count(%s{sloth_id=%q} < %s)", metricCoverage, t.ID(), minCoverage), at, 1))
}

// own is a recording of the SLO without its labels.
func (t tester) own(name string) string { return "sum(" + name + t.self + ")" }

// burning counts the alerts of a severity that fire on a burn rate.
func (t tester) burning(severity slo.Severity) string {
	return fmt.Sprintf(`count(ALERTS{alertname=%q, alertstate="firing", sloth_id=%q, sloth_severity=%q})`, t.Alerting.Name, t.ID(), severity)
}

// absent counts the alerts that say that nothing is measured.
func (t tester) absent() string {
	return fmt.Sprintf(`count(ALERTS{alertname=%q, alertstate="firing", sloth_id=%q})`, alertDataAbsent, t.ID())
}

// none is an expression without a result.
func none(expr string, at time.Duration) exprTest { return exprTest{expr, span(at), []sample{}} }

// one is an expression with one result.
func one(expr string, at time.Duration, value float64) exprTest {
	return exprTest{expr, span(at), []sample{{"{}", value}}}
}

// exporterTests are the tests of ExporterRules.
func exporterTests() []unitTest {
	down := fmt.Sprintf(`count(ALERTS{alertname=%q, alertstate="firing"})`, alertExporterDown)
	return []unitTest{{
		Name: "tells that no exporter is scraped", Interval: "1m", Series: []inputSeries{{buildInfo, "1x10 _x10"}},
		Exprs: []exprTest{none(down, 10*time.Minute), one(down, 20*time.Minute, 1), one(fmt.Sprintf(`count(ALERTS{alertname=%q, alertstate="firing"})`, alertWatchdog), 0, 1)},
	}}
}
