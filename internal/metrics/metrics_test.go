// Tests of the metrics: exact exposition, sums at every scrape, removal, hostile values and the cost of a target.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var epoch = time.Unix(1_750_000_000, 0)

func target(cluster, identity string) chain.Target {
	return chain.Target{
		Name: chain.AccessName(identity, cluster), Kind: chain.KindAccess,
		Identity: chain.Identity{Name: identity}, Cluster: chain.Cluster{Name: cluster, Region: "eu-west-1"},
	}
}

// run is a run of two seconds that ends as the verdict says: earlier steps succeeded, later ones are skipped.
func run(target chain.Target, v chain.Verdict) chain.Run {
	r := chain.Run{Target: target, Started: epoch, Duration: 2 * time.Second, Verdict: v}
	over := false
	for _, step := range target.Kind.Steps() {
		result := chain.StepResult{Step: step, Outcome: chain.OutcomeSuccess, Duration: 100 * time.Millisecond}
		switch {
		case over:
			result.Outcome = chain.OutcomeSkipped
		case step == v.Step:
			result.Outcome, over = v.Outcome, true
		}
		r.Steps = append(r.Steps, result)
	}
	return r
}

var (
	success   = chain.Verdict{Outcome: chain.OutcomeSuccess}
	denied    = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRBAC, Reason: chain.ReasonDenied}
	notMapped = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepAccessEntry, Reason: chain.ReasonNotMapped}
	throttled = chain.Verdict{Outcome: chain.OutcomeUnknown, Step: chain.StepSTS, Reason: chain.ReasonSTSThrottled}
)

func missed(target chain.Target) chain.Run {
	return chain.UnknownRun("x", target, epoch, chain.ReasonMissedSlot, "lost")
}

func newMetrics(t *testing.T, targets ...chain.Target) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	m, err := New(Options{Registry: registry, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	m.SetTargets(targets)
	return m, registry
}

// lines gathers and returns the exposition's sample lines (classic buckets left out) of families whose name has one of the prefixes.
func lines(t *testing.T, registry *prometheus.Registry, prefixes ...string) []string {
	t.Helper()
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range gathered {
		for _, prefix := range prefixes {
			if strings.HasPrefix(f.GetName(), prefix) {
				for _, m := range f.GetMetric() {
					list = append(list, line(f, m))
				}
			}
		}
	}
	return list
}

func line(f *dto.MetricFamily, m *dto.Metric) string {
	var pairs []string
	for _, l := range m.GetLabel() {
		pairs = append(pairs, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
	if h := m.GetHistogram(); h != nil {
		value = float64(h.GetSampleCount())
	}
	return fmt.Sprintf("%s{%s} %v", f.GetName(), strings.Join(pairs, ","), value)
}

func compare(t *testing.T, registry *prometheus.Registry, want string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestNewNeedsARegistry(t *testing.T) {
	if _, err := New(Options{}); err == nil || err.Error() != "metrics: Options.Registry is not set" {
		t.Errorf("got %v", err)
	}
	registry := prometheus.NewRegistry()
	if _, err := New(Options{Registry: registry}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Registry: registry}); err == nil || !strings.HasPrefix(err.Error(), "registering the metrics: ") {
		t.Errorf("a second time: got %v", err)
	}
}

func TestRuntimeMetricsAreApart(t *testing.T) {
	_, registry := newMetrics(t)
	if got := lines(t, registry, "go_", "process_"); got != nil {
		t.Errorf("product metrics hold %v", got)
	}
	if err := RegisterRuntime(registry); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, registry, "go_goroutines", "process_start_time_seconds"); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if err := RegisterRuntime(registry); err == nil {
		t.Error("a second registration passed")
	}
}

const oneTarget = `
# HELP eks_access_failing 1 while the latest verdict is a failure, with the blamed step and its reason; no series otherwise.
# TYPE eks_access_failing gauge
eks_access_failing{cluster="prod",identity="ci",reason="denied",step="rbac"} 1
# HELP eks_access_failures_total Failures by the one step that is blamed. They add up to eks_access_probes_total of the result failure.
# TYPE eks_access_failures_total counter
eks_access_failures_total{cluster="prod",identity="ci",step="access_entry"} 1
eks_access_failures_total{cluster="prod",identity="ci",step="credentials"} 0
eks_access_failures_total{cluster="prod",identity="ci",step="endpoint"} 0
eks_access_failures_total{cluster="prod",identity="ci",step="rbac"} 2
eks_access_failures_total{cluster="prod",identity="ci",step="sts"} 0
eks_access_failures_total{cluster="prod",identity="ci",step="token"} 0
# HELP eks_access_last_probe_timestamp_seconds When the latest run ended in which at least one step was exercised; no series before the first.
# TYPE eks_access_last_probe_timestamp_seconds gauge
eks_access_last_probe_timestamp_seconds{cluster="prod",identity="ci"} 1.750000062e+09
# HELP eks_access_last_success_timestamp_seconds When the latest successful run ended; no series before the first.
# TYPE eks_access_last_success_timestamp_seconds gauge
eks_access_last_success_timestamp_seconds{cluster="prod",identity="ci"} 1.750000002e+09
# HELP eks_access_probes_total Events by result: success, failure or unknown (the prober could not tell). They add up to eks_access_slots_total.
# TYPE eks_access_probes_total counter
eks_access_probes_total{cluster="prod",identity="ci",result="failure"} 3
eks_access_probes_total{cluster="prod",identity="ci",result="success"} 1
eks_access_probes_total{cluster="prod",identity="ci",result="unknown"} 2
# HELP eks_access_slots_total Slots of the schedule that ended in an event.
# TYPE eks_access_slots_total counter
eks_access_slots_total{cluster="prod",identity="ci"} 6
# HELP eks_access_step_results_total What each step showed: success, failure or unknown. Skipped steps are not counted.
# TYPE eks_access_step_results_total counter
eks_access_step_results_total{cluster="prod",result="failure",step="access_entry"} 1
eks_access_step_results_total{cluster="prod",result="failure",step="credentials"} 0
eks_access_step_results_total{cluster="prod",result="failure",step="endpoint"} 0
eks_access_step_results_total{cluster="prod",result="failure",step="rbac"} 2
eks_access_step_results_total{cluster="prod",result="failure",step="sts"} 0
eks_access_step_results_total{cluster="prod",result="failure",step="token"} 0
eks_access_step_results_total{cluster="prod",result="success",step="access_entry"} 3
eks_access_step_results_total{cluster="prod",result="success",step="credentials"} 5
eks_access_step_results_total{cluster="prod",result="success",step="endpoint"} 4
eks_access_step_results_total{cluster="prod",result="success",step="rbac"} 1
eks_access_step_results_total{cluster="prod",result="success",step="sts"} 4
eks_access_step_results_total{cluster="prod",result="success",step="token"} 4
eks_access_step_results_total{cluster="prod",result="unknown",step="access_entry"} 0
eks_access_step_results_total{cluster="prod",result="unknown",step="credentials"} 0
eks_access_step_results_total{cluster="prod",result="unknown",step="endpoint"} 0
eks_access_step_results_total{cluster="prod",result="unknown",step="rbac"} 0
eks_access_step_results_total{cluster="prod",result="unknown",step="sts"} 1
eks_access_step_results_total{cluster="prod",result="unknown",step="token"} 0
# HELP eks_access_target_info 1 for every target, with the labels configured on its cluster and identity, for joins. Every configured label name is on every series, empty where it is not set.
# TYPE eks_access_target_info gauge
eks_access_target_info{cluster="prod",identity="ci"} 1
# HELP eks_access_unknown_reasons_total Unknown events by reason: why the prober could not tell. They add up to eks_access_probes_total of the result unknown by cluster, as failure reasons do.
# TYPE eks_access_unknown_reasons_total counter
eks_access_unknown_reasons_total{cluster="prod",reason="eks_api_throttled"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="eks_auth_throttled"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="missed_slot"} 1
eks_access_unknown_reasons_total{cluster="prod",reason="not_measurable"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="observer_denied"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="observer_unavailable"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="overrun"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="read_failed"} 0
eks_access_unknown_reasons_total{cluster="prod",reason="sts_throttled"} 1
# HELP eks_access_up Whether the identity gets into the cluster by the latest verdict: 1 success, 0 failure; no series while it is unknown.
# TYPE eks_access_up gauge
eks_access_up{cluster="prod",identity="ci"} 0
`

func TestExpositionOfOneTarget(t *testing.T) {
	ci := target("prod", "ci")
	m, registry := newMetrics(t, ci)
	for _, r := range []chain.Run{run(ci, success), missed(ci), run(ci, throttled), run(ci, notMapped), run(ci, denied)} {
		m.Record(r)
	}
	last := run(ci, denied)
	last.Started = epoch.Add(time.Minute)
	m.Record(last)
	compare(t, registry, oneTarget,
		"eks_access_slots_total", "eks_access_probes_total", "eks_access_failures_total", "eks_access_unknown_reasons_total", "eks_access_step_results_total",
		"eks_access_failing", "eks_access_up", "eks_access_last_probe_timestamp_seconds", "eks_access_last_success_timestamp_seconds", "eks_access_target_info")
	counted := slices.DeleteFunc(lines(t, registry, "eks_access_failure_reasons_total"), func(l string) bool { return strings.HasSuffix(l, " 0") })
	want := []string{
		`eks_access_failure_reasons_total{cluster="prod",reason="denied",step="rbac"} 2`,
		`eks_access_failure_reasons_total{cluster="prod",reason="not_mapped",step="access_entry"} 1`,
	}
	if diff := cmp.Diff(want, counted); diff != "" {
		t.Error(diff)
	}
}

// What the latest verdict shows: up and failing.
func TestLatestVerdict(t *testing.T) {
	ci := target("prod", "ci")
	const up, failing = `eks_access_up{cluster="prod",identity="ci"}`, `eks_access_failing{cluster="prod",identity="ci",reason=%q,step=%q} 1`
	for name, c := range map[string]struct {
		runs []chain.Run
		want []string
	}{
		"before the first run":     {nil, nil},
		"success":                  {[]chain.Run{run(ci, success)}, []string{up + " 1"}},
		"failure":                  {[]chain.Run{run(ci, denied)}, []string{fmt.Sprintf(failing, "denied", "rbac"), up + " 0"}},
		"another failure":          {[]chain.Run{run(ci, denied), run(ci, notMapped)}, []string{fmt.Sprintf(failing, "not_mapped", "access_entry"), up + " 0"}},
		"unknown after a success":  {[]chain.Run{run(ci, success), run(ci, throttled)}, nil},
		"unknown after a failure":  {[]chain.Run{run(ci, denied), missed(ci)}, nil},
		"success after a failure":  {[]chain.Run{run(ci, denied), run(ci, success)}, []string{up + " 1"}},
		"somebody else's failure":  {[]chain.Run{run(ci, success), run(target("prod", "other"), denied)}, []string{up + " 1"}},
		"a target that is no more": {[]chain.Run{run(target("gone", "ci"), denied)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, registry := newMetrics(t, ci)
			for _, r := range c.runs {
				m.Record(r)
			}
			if got := lines(t, registry, "eks_access_up", "eks_access_failing"); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// sums adds up a gathered family's values by the given labels.
func sums(gathered []*dto.MetricFamily, name string, match map[string]string, by ...string) map[string]float64 {
	total := map[string]float64{}
	for _, f := range gathered {
		if f.GetName() != name {
			continue
		}
	next:
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			for k, v := range match {
				if labels[k] != v {
					continue next
				}
			}
			var key []string
			for _, k := range by {
				key = append(key, labels[k])
			}
			total[strings.Join(key, "/")] += m.GetCounter().GetValue()
		}
	}
	return total
}

// checkSums returns the first sum that does not hold.
func checkSums(gathered []*dto.MetricFamily) string {
	return checkChain(gathered, "eks_access_", "cluster", "cluster", "identity") + checkChain(gathered, "alb_", "", "target_group")
}

// checkChain looks at the families of one chain, whose targets are told apart by labels, and whose reasons are counted by place; "": only the sums of all targets can be compared.
func checkChain(gathered []*dto.MetricFamily, prefix, place string, labels ...string) string {
	failure, unknown := map[string]string{"result": "failure"}, map[string]string{"result": "unknown"}
	for _, c := range []struct{ left, right map[string]float64 }{
		{sums(gathered, prefix+"slots_total", nil, labels...), sums(gathered, prefix+"probes_total", nil, labels...)},
		{sums(gathered, prefix+"probes_total", failure, labels...), sums(gathered, prefix+"failures_total", nil, labels...)},
		{sums(gathered, prefix+"failures_total", nil, place), sums(gathered, prefix+"failure_reasons_total", nil, place)},
		{sums(gathered, prefix+"probes_total", unknown, place), sums(gathered, prefix+"unknown_reasons_total", nil, place)},
	} {
		if fmt.Sprint(c.left) != fmt.Sprint(c.right) {
			return fmt.Sprintf("%s: %v is not %v", prefix, c.left, c.right)
		}
	}
	return ""
}

func TestSumsHoldAtEveryScrape(t *testing.T) {
	fleet := []chain.Target{target("prod", "ci"), target("prod", "ops"), target("staging", "ci"), shop, group("web", "eu-west-1"), group("pay", "us-east-1")}
	m, registry := newMetrics(t, fleet...)
	verdicts := map[chain.Kind][]chain.Verdict{chain.KindAccess: {success, denied, notMapped, throttled}, chain.KindALB: {success, timedOut, noTargets, elbThrottled}}
	const writers, rounds = 4, 500
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range rounds {
				one := fleet[(w+i)%len(fleet)]
				m.Record(run(one, verdicts[one.Kind][i%4]))
			}
		})
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	for scrape, over := 0, false; !over; scrape++ {
		select {
		case <-done:
			over = true // and one scrape after the last record
		default:
		}
		gathered, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		if wrong := checkSums(gathered); wrong != "" {
			t.Fatalf("scrape %d: %s", scrape, wrong)
		}
		access, alb := sums(gathered, "eks_access_slots_total", nil)[""], sums(gathered, "alb_slots_total", nil)[""]
		if over && (access+alb != writers*rounds || access == 0 || alb == 0) {
			t.Errorf("%v + %v slots counted of %d", access, alb, writers*rounds)
		}
	}
}
