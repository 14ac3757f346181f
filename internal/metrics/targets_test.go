// Tests of what comes and goes with the configuration: priming at 0, removal, labels, the cost of a target, hostile values.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Every counter of the design is there, at 0, before the first event.
func TestCountersBeginAtZero(t *testing.T) {
	_, registry := newMetrics(t, target("prod", "ci"))
	var want []string
	add := func(format string, values ...any) { want = append(want, fmt.Sprintf(format, values...)+" 0") }
	steps, unknowns := chain.KindAccess.Steps(), chain.ReasonsOf(chain.StepNone)
	reasons := 0
	for _, step := range steps {
		add(`eks_access_failures_total{cluster="prod",identity="ci",step=%q}`, step)
		for _, result := range chain.Results {
			add(`eks_access_step_results_total{cluster="prod",result=%q,step=%q}`, result, step)
		}
		for _, row := range chain.ReasonsOf(step) {
			reasons++
			add(`eks_access_failure_reasons_total{cluster="prod",reason=%q,step=%q}`, row.Reason, step)
		}
	}
	for _, result := range chain.Results {
		add(`eks_access_probes_total{cluster="prod",identity="ci",result=%q}`, result)
	}
	for _, row := range unknowns {
		if row.Reason != "elb_api_throttled" {
			add(`eks_access_unknown_reasons_total{cluster="prod",reason=%q}`, row.Reason)
		}
	}
	for _, operation := range []string{"AssumeRole", "AssumeRoleWithWebIdentity", "GetCallerIdentity"} {
		add(`eks_slo_exporter_aws_requests_total{code="ok",operation=%q,service="sts"}`, operation)
	}
	for _, operation := range []string{"DescribeLoadBalancers", "DescribeTags", "DescribeTargetGroupAttributes", "DescribeTargetGroups", "DescribeTargetHealth"} {
		add(`eks_slo_exporter_aws_requests_total{code="ok",operation=%q,service="elasticloadbalancing"}`, operation)
	}
	for _, operation := range []string{"DescribeAccessEntry", "DescribeCluster", "ListAccessEntries", "ListAssociatedAccessPolicies"} {
		add(`eks_slo_exporter_aws_requests_total{code="ok",operation=%q,service="eks"}`, operation)
	}
	add(`eks_access_slots_total{cluster="prod",identity="ci"}`)
	add(`eks_slo_exporter_probe_overruns_total{}`)
	slices.Sort(want)
	var prefixes []string
	for _, row := range Families() {
		if row.Type == Counter {
			prefixes = append(prefixes, row.Name)
		}
	}
	got := lines(t, registry, prefixes...)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if reasons != 77 || len(unknowns) != 10 {
		t.Errorf("%d reasons of the access chain and %d of unknown", reasons, len(unknowns))
	}
	for _, l := range lines(t, registry, "eks_access_step_duration_seconds", "eks_access_chain_duration_seconds") {
		if !strings.HasSuffix(l, " 0") {
			t.Error(l)
		}
	}
	if n := len(lines(t, registry, "eks_access_step_duration_seconds", "eks_access_chain_duration_seconds")); n != 7 {
		t.Errorf("%d histograms before the first event, want 7", n)
	}
}

// A target costs about 13 series, whatever the number of reasons.
func TestSeriesPerTarget(t *testing.T) {
	count := func(n int, v chain.Verdict) int {
		var fleet []chain.Target
		for i := range n {
			fleet = append(fleet, target("prod", fmt.Sprintf("ci-%d", i)))
		}
		m, registry := newMetrics(t, fleet...)
		for _, one := range fleet {
			m.Record(run(one, success))
			m.Record(run(one, v))
		}
		return len(lines(t, registry, "eks_"))
	}
	for name, c := range map[string]struct {
		verdict chain.Verdict
		want    int
	}{
		"good":    {success, 14}, // 1 slots, 3 results, 6 steps, up, 2 time stamps, info
		"failing": {denied, 15},
		"unknown": {throttled, 13},
	} {
		t.Run(name, func(t *testing.T) {
			if got := count(11, c.verdict) - count(10, c.verdict); got != c.want {
				t.Errorf("a further target costs %d series, want %d", got, c.want)
			}
		})
	}
}

func TestSetTargets(t *testing.T) {
	ci, ops, staging := target("prod", "ci"), target("prod", "ops"), target("staging", "ci")
	m, registry := newMetrics(t, ci, ops, staging)
	for _, one := range []chain.Target{ci, ops, staging} {
		m.Record(run(one, denied))
		m.ObserveSkew(one.Cluster.Name, time.Second)
		m.CredentialsExpiry(one.Identity.Name, epoch)
	}
	count := func(text string) int {
		n := 0
		for _, l := range lines(t, registry, "eks_access_") {
			if strings.Contains(l, text) {
				n++
			}
		}
		return n
	}
	if count(`cluster="staging"`) == 0 || count(`peer="staging"`) == 0 || count(`identity="ops"`) == 0 {
		t.Fatal("series are missing before the removal")
	}
	m.SetTargets([]chain.Target{ci})
	m.Record(run(ops, success)) // late
	m.Record(run(staging, success))
	m.ObserveSkew("staging", time.Second)
	m.CredentialsExpiry("ops", epoch)
	for _, gone := range []string{`identity="ops"`, `"staging"`} {
		if n := count(gone); n != 0 {
			t.Errorf("%d series of %s are left", n, gone)
		}
	}
	for _, want := range []string{
		`eks_access_slots_total{cluster="prod",identity="ci"} 1`,                         // kept
		`eks_access_failure_reasons_total{cluster="prod",reason="denied",step="rbac"} 2`, // a counter never falls
		`eks_access_clock_skew_seconds{peer="prod"} 1`,
		`eks_access_credentials_expiry_timestamp_seconds{identity="ci"} 1.75e+09`,
	} {
		if count(want) != 1 {
			t.Errorf("lacks %s", want)
		}
	}
	m.SetTargets([]chain.Target{ci, ops, staging})
	for _, want := range []string{`eks_access_slots_total{cluster="prod",identity="ops"} 0`, `eks_access_chain_duration_seconds{cluster="staging"} 0`} {
		if count(want) != 1 {
			t.Errorf("after its return, lacks %s", want)
		}
	}
	m.SetTargets(nil)
	if got := lines(t, registry, "eks_access_"); got != nil {
		t.Errorf("without targets: %v", got)
	}
}

func TestTargetInfoIsUniform(t *testing.T) {
	ci, ops := target("prod", "ci"), target("staging", "ops")
	ci.Cluster.Labels = map[string]string{"env": "prod", "cluster": "reserved", "__x": "reserved", "not a name": "x"}
	ci.Identity.Labels = map[string]string{"team": "payments"}
	ops.Identity.Labels = map[string]string{"on_call": "a\n\"b\""}
	m, registry := newMetrics(t, ci, ops, shop)
	compare(t, registry, `
# HELP eks_access_target_info `+families[accessTargetInfo].Help+`
# TYPE eks_access_target_info gauge
eks_access_target_info{cluster="prod",env="prod",identity="ci",on_call="",team="payments"} 1
eks_access_target_info{cluster="staging",env="",identity="ops",on_call="a\n\"b\"",team=""} 1
`, "eks_access_target_info")
	ci.Cluster.Labels = nil
	m.SetTargets([]chain.Target{ci})
	if got := lines(t, registry, "alb_target_info"); got != nil {
		t.Errorf("a removed target group has %v", got)
	}
	if diff := cmp.Diff([]string{`eks_access_target_info{cluster="prod",identity="ci",team="payments"} 1`}, lines(t, registry, "eks_access_target_info")); diff != "" {
		t.Error(diff)
	}
}

// Names that are no UTF-8, or hold quotes, newlines or braces, neither break a scrape nor panic.
func TestHostileLabelValues(t *testing.T) {
	hostile := target("a\xff\"}\n{", "i\xc3\x28\\")
	hostile.Identity.Labels = map[string]string{"team": "\xfe"}
	m, registry := newMetrics(t, hostile)
	m.Record(run(hostile, chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepSTS, Reason: "not\xff in the table"}))
	m.Record(run(hostile, chain.Verdict{Outcome: chain.OutcomeFailure, Reason: "of no step"}))
	m.Record(run(hostile, chain.Verdict{Outcome: chain.OutcomeUnknown, Reason: "odd\xff"}))
	m.ObserveSkew("a\xff\"}\n{", time.Second)
	m.CredentialsExpiry("i\xc3\x28\\", epoch)
	m.ObserveRequest("s\xff", "o\n", "\"c\"")
	compare(t, registry, `
# HELP eks_access_slots_total `+families[accessSlots].Help+`
# TYPE eks_access_slots_total counter
eks_access_slots_total{cluster="a`+"\uFFFD"+`\"}\n{",identity="i`+"\uFFFD"+`(\\"} 3
`, "eks_access_slots_total")
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if wrong := checkSums(gathered); wrong != "" {
		t.Error(wrong)
	}
}

// A latency objective (5 s of access, 1 s of a request) can be read off the classic buckets, and the histograms are native too.
func TestHistograms(t *testing.T) {
	objectives := map[string]float64{"eks_access_chain_duration_seconds": 5, "alb_request_duration_seconds": 1}
	ci := target("prod", "ci")
	m, registry := newMetrics(t, ci, shop)
	slow := run(ci, success)
	slow.Duration = 6 * time.Second
	for _, r := range []chain.Run{run(ci, success), slow, run(ci, denied), run(ci, throttled), missed(ci), run(shop, success), run(shop, timedOut), missed(shop)} {
		m.Record(r)
	}
	m.ObserveLateness(20 * time.Millisecond)
	m.ObserveBudgetWait(300 * time.Millisecond)
	want := map[string]uint64{
		"eks_access_chain_duration_seconds": 2, "eks_access_step_duration_seconds": 3*6 + 1, // the step before the throttled one
		"alb_request_duration_seconds":            1,
		"eks_slo_exporter_probe_lateness_seconds": 1, "eks_slo_exporter_aws_budget_wait_seconds": 1,
	}
	got := map[string]uint64{}
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range gathered {
		if f.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		for _, one := range f.GetMetric() {
			h := one.GetHistogram()
			got[f.GetName()] += h.GetSampleCount()
			if h.GetSampleCount() > 0 && len(h.GetPositiveSpan()) == 0 {
				t.Errorf("%s is no native histogram", f.GetName())
			}
			if objective := objectives[f.GetName()]; objective > 0 {
				within := slices.IndexFunc(h.GetBucket(), func(b *dto.Bucket) bool { return b.GetUpperBound() == objective })
				if within < 0 || h.GetBucket()[within].GetCumulativeCount() != 1 {
					t.Errorf("bucket %v of %s: %v", objective, f.GetName(), h.GetBucket())
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
