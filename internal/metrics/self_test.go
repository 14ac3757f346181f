// Tests of the families table as a contract, and of the exporter's own families.
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
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// contract lists every family as users rely on it: changing a line is a breaking change.
var contract = []string{
	"counter eks_access_slots_total{cluster,identity} stable",
	"counter eks_access_probes_total{cluster,identity,result} stable",
	"counter eks_access_failures_total{cluster,identity,step} stable",
	"counter eks_access_failure_reasons_total{cluster,step,reason} stable",
	"counter eks_access_unknown_reasons_total{cluster,reason} stable",
	"counter eks_access_step_results_total{cluster,step,result} stable",
	"gauge eks_access_failing{cluster,identity,step,reason} stable",
	"gauge eks_access_up{cluster,identity} stable",
	"histogram eks_access_step_duration_seconds{cluster,step} stable",
	"histogram eks_access_chain_duration_seconds{cluster} stable",
	"gauge eks_access_last_probe_timestamp_seconds{cluster,identity} stable",
	"gauge eks_access_last_success_timestamp_seconds{cluster,identity} stable",
	"gauge eks_access_clock_skew_seconds{peer} stable",
	"gauge eks_access_credentials_expiry_timestamp_seconds{identity} stable",
	"gauge eks_access_target_info{cluster,identity} stable",
	"counter alb_slots_total{target_group} stable",
	"counter alb_probes_total{target_group,result} stable",
	"counter alb_failures_total{target_group,step} stable",
	"counter alb_failure_reasons_total{region,step,reason} stable",
	"counter alb_unknown_reasons_total{region,reason} stable",
	"counter alb_step_results_total{region,step,result} stable",
	"counter alb_group_step_results_total{target_group,step,result} stable",
	"gauge alb_failing{target_group,step,reason} stable",
	"gauge alb_targets{target_group,state} stable",
	"counter alb_target_observations_total{target_group,result} stable",
	"gauge alb_fail_open{target_group} stable",
	"histogram alb_request_duration_seconds{target_group} stable",
	"gauge alb_last_read_timestamp_seconds{target_group} stable",
	"gauge alb_request_certificate_expiry_timestamp_seconds{target_group} evolving",
	"gauge alb_target_info{target_group,region,cluster,namespace,binding} stable",
	"gauge eks_slo_gate_open{gate} stable",
	"counter eks_slo_gate_decisions_total{gate,decision} stable",
	"counter eks_slo_gate_exceptions_total{gate,kind} stable",
	"gauge eks_slo_exporter_build_info{branch,goarch,goos,goversion,revision,tags,version} stable",
	"gauge eks_slo_exporter_config_last_reload_successful{} stable",
	"gauge eks_slo_exporter_config_last_reload_success_timestamp_seconds{} stable",
	"gauge eks_slo_exporter_probes_in_flight{} evolving",
	"histogram eks_slo_exporter_probe_lateness_seconds{} evolving",
	"counter eks_slo_exporter_probe_overruns_total{} evolving",
	"counter eks_slo_exporter_aws_requests_total{service,operation,code} evolving",
	"histogram eks_slo_exporter_aws_budget_wait_seconds{} evolving",
	"gauge eks_slo_exporter_aws_budget_stretch{account,region,service} evolving",
	"gauge eks_slo_exporter_discovered_targets{discovery} evolving",
	"gauge eks_slo_exporter_discovery_last_success_timestamp_seconds{discovery} evolving",
}

// busy has a series in every family.
func busy(t *testing.T) (m *Metrics, names []string, lint func() []string) {
	ci := target("prod", "ci")
	m, registry := newMetrics(t, ci, shop)
	for _, r := range []chain.Run{run(ci, success), run(ci, denied), withTLS(read(run(shop, success))), run(shop, timedOut)} {
		m.Record(r)
	}
	stretched(m, []Stretch{{"111122223333", "eu-west-1", "elasticloadbalancing", 2}})
	m.SetDiscoveries([]string{"all"})
	m.Discovered("all", 3, epoch)
	m.SetGates([]string{"release"})
	m.GateJudged("release", new(true))
	m.ObserveSkew("sts.eu-west-1", time.Second)
	m.CredentialsExpiry("ci", epoch)
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range gathered {
		labels := []string{}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		slices.Sort(labels)
		names = append(names, fmt.Sprintf("%s %s{%s}", strings.ToLower(f.GetType().String()), f.GetName(), strings.Join(labels, ",")))
	}
	return m, names, func() (problems []string) {
		found, err := testutil.GatherAndLint(registry)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			problems = append(problems, p.Metric+": "+p.Text)
		}
		return problems
	}
}

func TestTableIsTheContract(t *testing.T) {
	var table, rows []string
	for _, f := range Families() {
		table = append(table, fmt.Sprintf("%s %s{%s} %s", f.Type, f.Name, strings.Join(f.Labels, ","), f.Stability))
		labels := slices.Sorted(slices.Values(f.Labels))
		rows = append(rows, fmt.Sprintf("%s %s{%s}", f.Type, f.Name, strings.Join(labels, ",")))
		if (f.Buckets != nil) != (f.Type == Histogram) || !slices.IsSorted(f.Buckets) {
			t.Errorf("%s has buckets %v", f.Name, f.Buckets)
		}
	}
	if diff := cmp.Diff(contract, table); diff != "" {
		t.Error(diff)
	}
	_, served, _ := busy(t)
	slices.Sort(rows)
	slices.Sort(served)
	if diff := cmp.Diff(rows, served); diff != "" {
		t.Errorf("the table is not what is served: %s", diff)
	}
}

// lintExceptions are contract names that promlint dislikes, each with the reason why it stays. There are none.
var lintExceptions = []string{}

func TestLint(t *testing.T) {
	_, _, lint := busy(t)
	if problems := lint(); !slices.Equal(problems, lintExceptions) {
		t.Errorf("got %q, want %q", problems, lintExceptions)
	}
}

func TestSelf(t *testing.T) {
	m, registry := newMetrics(t)
	const names = "eks_slo_exporter_config_last_reload_success"
	step := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, lines(t, registry, names)); diff != "" {
			t.Error(diff)
		}
	}
	step(names+"_timestamp_seconds{} 0", names+"ful{} 0")
	m.ReloadSucceeded(epoch.Add(1500 * time.Millisecond))
	step(names+"_timestamp_seconds{} 1.7500000015e+09", names+"ful{} 1")
	m.ReloadFailed()
	step(names+"_timestamp_seconds{} 1.7500000015e+09", names+"ful{} 0")

	m.InFlight(1)
	m.InFlight(1)
	m.InFlight(-1)
	m.Overrun()
	want := []string{"eks_slo_exporter_probe_overruns_total{} 1", "eks_slo_exporter_probes_in_flight{} 1"}
	if diff := cmp.Diff(want, lines(t, registry, "eks_slo_exporter_probe_overruns", "eks_slo_exporter_probes")); diff != "" {
		t.Error(diff)
	}
	if got := lines(t, registry, "eks_slo_exporter_build_info"); len(got) != 1 || !strings.Contains(got[0], `version="1.2.3"`) {
		t.Errorf("got %v", got)
	}
}

func TestRequestsAreBounded(t *testing.T) {
	m, registry := newMetrics(t)
	for i := range 2 * requestLimit {
		m.ObserveRequest("sts", "AssumeRole", fmt.Sprintf("Code%d", i))
	}
	m.ObserveRequest("sts", "AssumeRole", "ok") // known before: still counted as itself
	got := lines(t, registry, "eks_slo_exporter_aws_requests_total")
	if len(got) != requestLimit+1 {
		t.Errorf("%d series, want %d", len(got), requestLimit+1)
	}
	for _, want := range []string{
		fmt.Sprintf(`eks_slo_exporter_aws_requests_total{code="other",operation="AssumeRole",service="sts"} %d`, requestLimit+12),
		`eks_slo_exporter_aws_requests_total{code="ok",operation="AssumeRole",service="sts"} 1`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("lacks %s", want)
		}
	}
}

// A gauge exists for what the targets need, and for nothing else.
func TestPeersAndIdentities(t *testing.T) {
	elsewhere := group("pay", "us-east-1")
	elsewhere.Cluster = chain.Cluster{Name: "east", Region: "us-east-2"}
	m, registry := newMetrics(t, target("prod", "ci"), elsewhere, group("nowhere", ""))
	for _, peer := range []string{"prod", "sts.eu-west-1", "eks.eu-west-1", "sts.us-east-1", "eks.us-east-2", "east", "sts.eu-central-1", "staging", "", "eu-west-1"} {
		m.ObserveSkew(peer, -1500*time.Millisecond)
	}
	for _, identity := range []string{"ci", "reader", "stranger", ""} { // an observer's session is no identity's under test
		m.CredentialsExpiry(identity, epoch)
	}
	want := []string{
		`eks_access_clock_skew_seconds{peer="east"} -1.5`, `eks_access_clock_skew_seconds{peer="eks.eu-west-1"} -1.5`, `eks_access_clock_skew_seconds{peer="eks.us-east-2"} -1.5`,
		`eks_access_clock_skew_seconds{peer="prod"} -1.5`, `eks_access_clock_skew_seconds{peer="sts.eu-west-1"} -1.5`, `eks_access_clock_skew_seconds{peer="sts.us-east-1"} -1.5`,
		`eks_access_credentials_expiry_timestamp_seconds{identity="ci"} 1.75e+09`,
	}
	if diff := cmp.Diff(want, lines(t, registry, "eks_access_clock_skew", "eks_access_credentials")); diff != "" {
		t.Error(diff)
	}
	m.CredentialsExpiry("ci", time.Time{})
	if got := lines(t, registry, "eks_access_credentials"); len(got) != 0 {
		t.Errorf("credentials without an end have %v", got)
	}
}

// stretched makes these the pools that there are.
func stretched(m *Metrics, pools []Stretch) { m.WatchStretch(func() []Stretch { return pools }) }

func TestStretch(t *testing.T) {
	m, registry := newMetrics(t)
	const name = "eks_slo_exporter_aws_budget_stretch"
	if got := lines(t, registry, name); got != nil {
		t.Errorf("before the first: %v", got)
	}
	stretched(m, []Stretch{{"111122223333", "eu-west-1", "elasticloadbalancing", 3.5}, {"observer exporter", "eu-west-1", "elasticloadbalancing", 1}, {"observer exporter", "eu-west-1", "elasticloadbalancing", 2}})
	want := []string{
		name + `{account="111122223333",region="eu-west-1",service="elasticloadbalancing"} 3.5`,
		name + `{account="observer exporter",region="eu-west-1",service="elasticloadbalancing"} 2`, // the later of two that say the same
	}
	if diff := cmp.Diff(want, lines(t, registry, name)); diff != "" {
		t.Error(diff)
	}
	stretched(m, []Stretch{{"a\xff", "eu-west-1", "elasticloadbalancing", 1}})
	if diff := cmp.Diff([]string{name + "{account=\"a\ufffd\",region=\"eu-west-1\",service=\"elasticloadbalancing\"} 1"}, lines(t, registry, name)); diff != "" {
		t.Errorf("after another set: %s", diff)
	}
}

// A discovery has a time of success, 0 before the first, and a number of targets from then on, until it is taken out of the configuration; when it fails, the last success stays.
func TestDiscoveries(t *testing.T) {
	m, registry := newMetrics(t)
	const found, at = "eks_slo_exporter_discovered_targets", "eks_slo_exporter_discovery_last_success_timestamp_seconds"
	step := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, lines(t, registry, found, at)); diff != "" {
			t.Error(diff)
		}
	}
	m.Discovered("stranger", 3, epoch)
	m.SetDiscoveries([]string{"tags", "prod\xff"})
	step(at+"{discovery=\"prod\ufffd\"} 0", at+`{discovery="tags"} 0`)
	m.Discovered("prod\xff", 0, epoch)
	step(found+"{discovery=\"prod\ufffd\"} 0", at+"{discovery=\"prod\ufffd\"} 1.75e+09", at+`{discovery="tags"} 0`)
	m.SetDiscoveries([]string{"prod\xff"})
	m.Discovered("prod\xff", 12, epoch.Add(time.Minute))
	m.Discovered("tags", 3, epoch) // late
	step(found+"{discovery=\"prod\ufffd\"} 12", at+"{discovery=\"prod\ufffd\"} 1.75000006e+09")
	m.SetDiscoveries(nil)
	step()
}
