// Tests of what comes and goes with target groups: priming at 0, removal, labels, the cost of one, hostile values.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Every counter of a target group is there, at 0, before the first event; what describes a reading or a request is not.
func TestGroupBeginsAtZero(t *testing.T) {
	silent := group("silent", "eu-west-1")
	silent.Group.Request = nil
	_, registry := newMetrics(t, silent)
	var want []string
	add := func(format string, values ...any) { want = append(want, fmt.Sprintf(format, values...)) }
	reasons := 0
	for _, step := range chain.KindALB.Steps() {
		add(`alb_failures_total{step=%q,target_group="silent"} 0`, step)
		for _, result := range chain.Results {
			add(`alb_step_results_total{region="eu-west-1",result=%q,step=%q} 0`, result, step)
			if step != chain.StepRequest {
				add(`alb_group_step_results_total{result=%q,step=%q,target_group="silent"} 0`, result, step)
			}
		}
		for _, row := range chain.ReasonsOf(step) {
			reasons++
			add(`alb_failure_reasons_total{reason=%q,region="eu-west-1",step=%q} 0`, row.Reason, step)
		}
	}
	for _, result := range chain.Results {
		add(`alb_probes_total{result=%q,target_group="silent"} 0`, result)
	}
	for _, row := range chain.ReasonsOf(chain.StepNone) {
		if row.Reason != "sts_throttled" && row.Reason != "eks_auth_throttled" {
			add(`alb_unknown_reasons_total{reason=%q,region="eu-west-1"} 0`, row.Reason)
		}
	}
	add(`alb_slots_total{target_group="silent"} 0`)
	add(`alb_target_observations_total{result="good",target_group="silent"} 0`)
	add(`alb_target_observations_total{result="bad",target_group="silent"} 0`)
	add(`alb_target_info{binding="",cluster="",namespace="",region="eu-west-1",target_group="silent"} 1`)
	slices.Sort(want)
	got := lines(t, registry, "alb_")
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if reasons != 25 {
		t.Errorf("%d reasons of the alb chain", reasons)
	}
}

func TestGroupsComeAndGo(t *testing.T) {
	web, pay := group("web", "eu-west-1"), group("pay", "us-east-1")
	m, registry := newMetrics(t, shop, web, pay)
	for _, one := range []chain.Target{shop, web, pay} {
		m.Record(withTLS(read(run(one, timedOut), chain.TargetUnhealthy)))
		m.Record(run(one, success))
	}
	has := func(text string) int {
		return len(slices.DeleteFunc(lines(t, registry, "alb_"), func(l string) bool { return !strings.Contains(l, text) }))
	}
	want := func(series string) {
		t.Helper()
		if has(series) != 1 {
			t.Errorf("lacks %s", series)
		}
	}
	mute, moved := shop, web
	mute.Group.Request, moved.Group.Region = nil, "us-east-2"
	m.SetTargets([]chain.Target{mute, moved})
	m.Record(run(pay, success))           // late
	m.Record(withTLS(run(shop, success))) // the run began while a request was asked for
	for _, gone := range []string{`"pay"`, `"us-east-1"`, `alb_request_certificate_expiry_timestamp_seconds{target_group="shop"}`, `alb_request_duration_seconds{target_group="shop"}`} {
		if n := has(gone); n != 0 {
			t.Errorf("%d series of %s are left", n, gone)
		}
	}
	want(`alb_slots_total{target_group="shop"} 3`)
	want(`alb_targets{state="unhealthy",target_group="shop"} 1`)
	want(`alb_failure_reasons_total{reason="health_check_timeout",region="eu-west-1",step="health"} 2`) // a counter never falls
	want(`alb_slots_total{target_group="web"} 0`)                                                       // elsewhere it is another group
	want(`alb_request_duration_seconds{target_group="web"} 0`)
	want(`alb_failure_reasons_total{reason="health_check_timeout",region="us-east-2",step="health"} 0`)
	m.SetTargets([]chain.Target{target("prod", "ci")})
	if n := has(""); n != 0 {
		t.Errorf("without target groups: %d series", n)
	}
}

func TestGroupInfo(t *testing.T) {
	bound, plain := shop, group("plain", "us-east-1")
	bound.Cluster = chain.Cluster{Name: "prod", Labels: map[string]string{"env": "prod", "region": "reserved", "team": "platform"}}
	bound.Group.Binding = chain.BindingRef{Namespace: "apps", Name: "shop-80"}
	bound.Group.Labels = map[string]string{"team": "payments", "binding": "reserved", "__x": "reserved", "not a name": "x"}
	plain.Group.Labels = map[string]string{"on_call": "a\n\"b\""}
	_, registry := newMetrics(t, bound, plain)
	compare(t, registry, `
# HELP alb_target_info `+families[albTargetInfo].Help+`
# TYPE alb_target_info gauge
alb_target_info{binding="",cluster="",env="",namespace="",on_call="a\n\"b\"",region="us-east-1",target_group="plain",team=""} 1
alb_target_info{binding="shop-80",cluster="prod",env="prod",namespace="apps",on_call="",region="eu-west-1",target_group="shop",team="payments"} 1
`, "alb_target_info")
}

// A target group costs a bounded number of series, whatever the number of its targets and of reasons.
func TestSeriesPerGroup(t *testing.T) {
	count := func(n int, v chain.Verdict, states ...chain.TargetState) int {
		var fleet []chain.Target
		for i := range n {
			fleet = append(fleet, group(fmt.Sprintf("group-%d", i), "eu-west-1"))
		}
		m, registry := newMetrics(t, fleet...)
		for _, one := range fleet {
			m.Record(withTLS(read(run(one, v), states...)))
		}
		return len(lines(t, registry, "alb_"))
	}
	for name, c := range map[string]struct {
		verdict chain.Verdict
		want    int
	}{
		"good":    {success, 30}, // 1 slots, 3 results, 3 steps, 9 step results, 7 states, 2 observations, fail-open, last read, info; of the request a histogram and the certificate's end
		"failing": {timedOut, 31},
	} {
		t.Run(name, func(t *testing.T) {
			many := slices.Repeat([]chain.TargetState{chain.TargetHealthy, chain.TargetUnhealthy}, 500)
			if got := count(11, c.verdict, many...) - count(10, c.verdict, many...); got != c.want {
				t.Errorf("a further target group costs %d series, want %d", got, c.want)
			}
		})
	}
}

// Names and reasons that are no UTF-8, or on no list, neither break a scrape nor its sums.
func TestHostileGroups(t *testing.T) {
	hostile := group("a\xff\"}\n{", "r\xfe")
	hostile.Group.Binding, hostile.Group.Labels = chain.BindingRef{Namespace: "n\xff", Name: "b\n"}, map[string]string{"team": "\xfe"}
	hostile.Cluster.Name = "c\xff"
	m, registry := newMetrics(t, hostile)
	m.Record(read(run(hostile, chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepHealth, Reason: "not\xff in the table"}), "s\xff\n"))
	m.Record(run(hostile, chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRBAC, Reason: "of another chain"}))
	m.Record(run(hostile, chain.Verdict{Outcome: chain.OutcomeUnknown, Reason: "odd\xff"}))
	compare(t, registry, `
# HELP alb_target_info `+families[albTargetInfo].Help+`
# TYPE alb_target_info gauge
alb_target_info{binding="b\n",cluster="c`+"\uFFFD"+`",namespace="n`+"\uFFFD"+`",region="r`+"\uFFFD"+`",target_group="a`+"\uFFFD"+`\"}\n{",team="`+"\uFFFD"+`"} 1
`, "alb_target_info")
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if wrong := checkSums(gathered); wrong != "" {
		t.Error(wrong)
	}
	if got := lines(t, registry, "alb_slots_total"); len(got) != 1 || !strings.HasSuffix(got[0], " 3") {
		t.Errorf("got %v", got)
	}
}
