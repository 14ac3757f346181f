// Tests of the verdict on plans.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"slices"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	both := Alerts{Page: true, Ticket: true}
	tests := map[string]struct {
		objective string
		cadence   time.Duration
		alerts    Alerts
		want      Verdict
	}{
		"99.9 every 15s is good": {"99.9", 15 * time.Second, both, Verdict{}},
		"99.9 every 30s: the floor decides": {"99.9", 30 * time.Second, both, Verdict{Warnings: []string{
			"page quick is decided by the floor of 3 failures: its burn rate is exceeded by 2 in 1h already"}}},
		"99.9 every minute is refused": {"99.9", time.Minute, both, Verdict{Refusals: []string{
			"one failed probe exceeds the burn rate of page quick (1 of 60 is more than 0.0144): the objective is finer than probes every 1m can tell; " +
				"probe at least every 51s, or lower the objective"}}},
		"unless it is allowed": {"99.9", time.Minute, Alerts{Page: true, Ticket: true, SingleFailurePage: true}, Verdict{Warnings: []string{
			"page quick is decided by the floor of 3 failures: its burn rate is exceeded by 1 in 1h already"}}},
		"or there is no page": {"99.9", time.Minute, Alerts{Ticket: true}, Verdict{}},
		"a ticket for one failure is a warning": {"99.99", 30 * time.Second, Alerts{Ticket: true}, Verdict{Warnings: []string{
			"ticket quick is decided by the floor of 3 failures: its burn rate is exceeded by 1 in 1d already",
			"ticket slow is decided by the floor of 3 failures: its burn rate is exceeded by 1 in 3d already"}}},
		"a tier that cannot fire": {"90", 15 * time.Second, both, Verdict{Warnings: []string{
			"page quick can never fire: 14.4 times the budget of 0.1 is a failure ratio of 1.44, which more than all probes would have to exceed"}}},
		"a page that cannot fire": {"50", 15 * time.Second, both, Verdict{
			Refusals: []string{"the page can never fire: 14.4 times the budget of 0.5 is a failure ratio of 7.2, which more than all probes would have to exceed; " +
				"raise the objective, or disable the alert (alerting.page_alert.disable: true)"},
			Warnings: []string{"ticket quick can never fire: 3 times the budget of 0.5 is a failure ratio of 1.5, which more than all probes would have to exceed"}}},
		"and need not": {"50", 15 * time.Second, Alerts{Ticket: true}, Verdict{
			Warnings: []string{"ticket quick can never fire: 3 times the budget of 0.5 is a failure ratio of 1.5, which more than all probes would have to exceed"}}},
		"nothing to judge": {"50", 15 * time.Second, Alerts{}, Verdict{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := plan(t, test.objective, test.cadence).Judge(test.alerts)
			if !slices.Equal(got.Refusals, test.want.Refusals) {
				t.Errorf("refusals:\n%q\nwant\n%q", got.Refusals, test.want.Refusals)
			}
			if !slices.Equal(got.Warnings, test.want.Warnings) {
				t.Errorf("warnings:\n%q\nwant\n%q", got.Warnings, test.want.Warnings)
			}
			if got.Refused() != (len(test.want.Refusals) > 0) {
				t.Errorf("refused is %t", got.Refused())
			}
		})
	}
}

func TestJudgeTooFewProbes(t *testing.T) {
	p := plan(t, "99.9", 5*time.Minute)
	p.MinFailures = 13
	want := "page quick can never fire: it needs 13 failures in 1h, which holds 12 probes"
	if got := p.Judge(Alerts{Page: true}); !slices.Contains(got.Warnings, want) {
		t.Errorf("got %q, want %q", got.Warnings, want)
	}
}

// TestCadenceFor: at the cadence that is recommended the failures are needed, and a second more is too slow.
func TestCadenceFor(t *testing.T) {
	for _, text := range []string{"99", "99.5", "99.9", "99.95", "99.99"} {
		for failures := int64(2); failures <= 5; failures++ {
			p := plan(t, text, time.Second)
			tier := p.Windows.Tiers[0]
			p.Cadence = p.CadenceFor(tier, failures)
			if got := p.ByRatio(tier); got < failures {
				t.Errorf("%s every %s: %d failures, want %d", text, p.Cadence, got, failures)
			}
			p.Cadence += time.Second
			if got := p.ByRatio(tier); got >= failures {
				t.Errorf("%s: %s would still need %d failures", text, p.Cadence, got)
			}
		}
	}
}
