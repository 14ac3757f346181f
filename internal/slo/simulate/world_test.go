// Tests of the world: what probers count and what scrapes take of it, sample by sample, and that the truth knows of neither restarts nor lost scrapes.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// worldOf makes the world of a scenario for a rule that reads some series, with probes, scrapes and evaluations every minute.
func worldOf(t *testing.T, s Scenario, reads ...string) *world {
	t.Helper()
	var file strings.Builder
	file.WriteString("groups:\n- name: g\n  rules:\n")
	for i, name := range reads {
		fmt.Fprintf(&file, "  - {record: r%d, expr: %s}\n", i, name)
	}
	rules, err := ParseRules([]byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	s = s.withDefaults(time.Minute)
	w, err := s.world(rules, SLO{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// written are the samples of a world as text: minutes and values, x where a series ends.
func written(w *world, hide ...string) map[string]string {
	all := map[string]string{}
	for _, c := range w.store.all() {
		var line []string
		for _, p := range c.points {
			text := fmt.Sprint(p.F)
			if value.IsStaleNaN(p.F) {
				text = "x"
			}
			line = append(line, fmt.Sprintf("%d:%s", (p.T-w.scenario.begin())/60000, text))
		}
		if len(line) > 0 {
			b := labels.NewBuilder(c.labels)
			b.Del(append(hide, "job", "cluster", "identity")...)
			all[b.Labels().String()] = strings.Join(line, " ")
		}
	}
	return all
}

const probes = "eks_access_probes_total"

func TestWorld(t *testing.T) {
	const ok, bad, gap = `{__name__="eks_access_probes_total", instance="exporter-1", result="success"}`, `{__name__="eks_access_probes_total", instance="exporter-1", result="failure"}`, `{__name__="eks_access_probes_total", instance="exporter-1", result="unknown"}`
	const up = `{__name__="up", instance="exporter-1"}`
	cases := map[string]struct {
		scenario Scenario
		want     map[string]string
	}{
		"outage of two probes": {
			Scenario{Duration: 4 * time.Minute, Events: []Event{{Kind: Outage, At: 2 * time.Minute, For: 2 * time.Minute}}},
			map[string]string{up: "0:1 1:1 2:1 3:1 4:1", ok: "0:0 1:1 2:1 3:1 4:2", bad: "0:0 1:0 2:1 3:2 4:2", gap: "0:0 1:0 2:0 3:0 4:0"},
		},
		"every second of three, the second first": {
			Scenario{Duration: 4 * time.Minute, Events: []Event{{Kind: Failures, At: time.Minute, For: 3 * time.Minute, Every: 2}}},
			map[string]string{up: "0:1 1:1 2:1 3:1 4:1", ok: "0:0 1:1 2:1 3:2 4:3", bad: "0:0 1:0 2:1 3:1 4:1", gap: "0:0 1:0 2:0 3:0 4:0"},
		},
		"the prober cannot tell": {
			Scenario{Duration: 2 * time.Minute, Events: []Event{{Kind: Unknown, At: 2 * time.Minute}}},
			map[string]string{up: "0:1 1:1 2:1", ok: "0:0 1:1 2:1", bad: "0:0 1:0 2:0", gap: "0:0 1:0 2:1"},
		},
		"the prober stands still": {
			Scenario{Duration: 3 * time.Minute, Events: []Event{{Kind: Dead, At: 2 * time.Minute, For: time.Minute}}},
			map[string]string{up: "0:1 1:1 2:1 3:1", ok: "0:0 1:1 2:1 3:2", bad: "0:0 1:0 2:0 3:0", gap: "0:0 1:0 2:0 3:0"},
		},
		"scrapes fail, the prober goes on": {
			Scenario{Duration: 4 * time.Minute, Events: []Event{{Kind: Unscraped, At: 2 * time.Minute, For: 2 * time.Minute}}},
			map[string]string{up: "0:1 1:1 2:0 3:0 4:1", ok: "0:0 1:1 2:x 4:4", bad: "0:0 1:0 2:x 4:0", gap: "0:0 1:0 2:x 4:0"},
		},
		"Prometheus is down: nothing marks the end": {
			Scenario{Duration: 4 * time.Minute, Events: []Event{{Kind: PrometheusDown, At: 2 * time.Minute, For: 2 * time.Minute}}},
			map[string]string{up: "0:1 1:1 4:1", ok: "0:0 1:1 4:4", bad: "0:0 1:0 4:0", gap: "0:0 1:0 4:0"},
		},
		"a restart": {
			Scenario{Duration: 3 * time.Minute, Events: []Event{{Kind: Restart, At: 2*time.Minute + time.Second}}},
			map[string]string{up: "0:1 1:1 2:1 3:1", ok: "0:0 1:1 2:2 3:1", bad: "0:0 1:0 2:0 3:0", gap: "0:0 1:0 2:0 3:0"},
		},
		"a restart that takes a minute": {
			Scenario{Duration: 4 * time.Minute, Events: []Event{{Kind: Restart, At: 2 * time.Minute, For: time.Minute}}},
			map[string]string{up: "0:1 1:1 2:0 3:1 4:1", ok: "0:0 1:1 2:x 3:1 4:2", bad: "0:0 1:0 2:x 3:0 4:0", gap: "0:0 1:0 2:x 3:0 4:0"},
		},
		"counters that do not exist before their first event": {
			Scenario{Duration: 2 * time.Minute, Unprimed: true, Events: []Event{{Kind: Outage, At: 2 * time.Minute}}},
			map[string]string{up: "0:1 1:1 2:1", ok: "1:1 2:1", bad: "2:1"},
		},
		"every second slot passes": {
			Scenario{Duration: 4 * time.Minute, Events: []Event{{Kind: Slow, At: time.Minute, Every: 2}}},
			map[string]string{up: "0:1 1:1 2:1 3:1 4:1", ok: "0:0 1:0 2:1 3:1 4:2", bad: "0:0 1:0 2:0 3:0 4:0", gap: "0:0 1:0 2:0 3:0 4:0"},
		},
		"five events a slot": {
			Scenario{Duration: 2 * time.Minute, Events: []Event{{Kind: Load, At: 2 * time.Minute, Count: 5}}},
			map[string]string{up: "0:1 1:1 2:1", ok: "0:0 1:1 2:6", bad: "0:0 1:0 2:0", gap: "0:0 1:0 2:0"},
		},
		"scrapes half a minute after the probes": {
			Scenario{Duration: 2 * time.Minute, ScrapeInterval: 2 * time.Minute, ScrapeOffset: 90 * time.Second},
			map[string]string{up: "1:1", ok: "1:1", bad: "1:0", gap: "1:0"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, written(worldOf(t, c.scenario, probes))); diff != "" {
				t.Errorf("samples, want - and got +:\n%s", diff)
			}
		})
	}
}

func TestReplicaAndReplacement(t *testing.T) {
	w := worldOf(t, Scenario{Duration: 4 * time.Minute, Events: []Event{
		{Kind: Replica, At: 2 * time.Minute, For: 2 * time.Minute, Result: unknown}, {Kind: Replace, At: 3 * time.Minute}, {Kind: Outage, At: 4 * time.Minute},
	}}, "eks_access_slots_total")
	want := map[string]string{
		`{__name__="up", instance="exporter-1"}`:                       "0:1 1:1 2:1 3:x",
		`{__name__="up", instance="exporter-1-1"}`:                     "3:1 4:1",
		`{__name__="up", instance="exporter-2"}`:                       "2:1 3:1 4:x",
		`{__name__="eks_access_slots_total", instance="exporter-1"}`:   "0:0 1:1 2:2 3:x",
		`{__name__="eks_access_slots_total", instance="exporter-1-1"}`: "3:1 4:2",
		`{__name__="eks_access_slots_total", instance="exporter-2"}`:   "2:1 3:2 4:x",
	}
	if diff := cmp.Diff(want, written(w)); diff != "" {
		t.Errorf("samples, want - and got +:\n%s", diff)
	}
}

// What failures are blamed on, how long probes took and what became of targets are counted as the exporter counts them.
func TestFamilies(t *testing.T) {
	events := []Event{
		{Kind: Outage, At: time.Minute, For: time.Minute, Step: 2}, // sts
		{Kind: Latency, At: 2 * time.Minute, For: time.Minute, Seconds: 6},
		{Kind: Rollout, At: 2 * time.Minute, Count: 1},
	}
	cases := map[string]map[string]string{
		`eks_access_step_results_total{step=~"credentials|sts|rbac"}`: {
			`{step="credentials", result="success"}`: "0:0 1:1 2:2", `{step="sts", result="failure"}`: "0:0 1:1 2:1", `{step="sts", result="success"}`: "0:0 1:0 2:1", `{step="rbac", result="success"}`: "0:0 1:0 2:1",
		},
		"eks_access_failure_reasons_total":         {`{step="sts", reason="sts_unreachable"}`: "0:0 1:1 2:1"},
		"eks_access_failing":                       {`{step="sts", reason="sts_unreachable"}`: "1:1 2:x"},
		"eks_access_up":                            {`{}`: "0:1 1:0 2:1"},
		"eks_access_chain_duration_seconds_bucket": {`{le="5.0"}`: "0:0 1:0 2:0", `{le="7.5"}`: "0:0 1:0 2:1", `{le="+Inf"}`: "0:0 1:0 2:1"},
		"eks_access_chain_duration_seconds_count":  {`{}`: "0:0 1:0 2:1"},
		"alb_target_observations_total":            {`{result="good"}`: "0:0 1:0 2:2", `{result="bad"}`: "0:0 1:3 2:3"},
		"alb_targets":                              {`{state="healthy"}`: "0:3 1:0 2:2", `{state="initial"}`: "0:0 1:0 2:1", `{state="unhealthy"}`: "0:0 1:3 2:0"},
		"eks_slo_exporter_build_info":              {`{}`: "0:1 1:1 2:1"},
	}
	for reads, want := range cases {
		t.Run(reads, func(t *testing.T) {
			got := map[string]string{}
			for lset, line := range written(worldOf(t, Scenario{Duration: 2 * time.Minute, Events: events}, "'"+reads+"'"), "instance", "target_group", "version") {
				if name, rest, _ := strings.Cut(strings.Trim(lset, "{}"), ", "); name != `__name__="up"` {
					got[sortedByName(rest)] = line
				}
			}
			for lset, line := range want {
				if got[sortedByName(lset)] != line {
					t.Errorf("%s: %q, want %q", lset, got[sortedByName(lset)], line)
				}
			}
		})
	}
}

// sortedByName puts the labels of a series in one order.
func sortedByName(lset string) string {
	lset = strings.Trim(lset, "{}")
	if a, b, ok := strings.Cut(lset, ", "); ok && b < a {
		return b + ", " + a
	}
	return lset
}

func TestTruth(t *testing.T) {
	s := Scenario{History: time.Hour, Duration: 2 * time.Hour, Cadence: 30 * time.Second, Targets: 2, Events: []Event{
		{Kind: Outage, At: 10 * time.Minute, For: 5 * time.Minute}, {Kind: Restart, At: 12 * time.Minute}, {Kind: Unscraped, At: 11 * time.Minute, For: 10 * time.Minute},
		{Kind: Outage, At: 80 * time.Minute, For: 2 * time.Minute}, {Kind: Replica, At: 0, For: time.Hour}, {Kind: Unknown, At: 100 * time.Minute, For: 10 * time.Minute},
	}}
	for period, want := range map[time.Duration]Count{
		30 * 24 * time.Hour: {Bad: 2 * (10 + 4), Total: 2 * (360 - 20)},
		time.Hour:           {Bad: 2 * 4, Total: 2 * (120 - 20)},
	} {
		about := access(t)
		about.Period = period
		about.ErrorQuery = `sum(rate(eks_access_probes_total{result="failure"}[{{.window}}]))`
		about.TotalQuery = `sum(rate(eks_access_probes_total{result=~"success|failure"}[{{ .window }}]))`
		full := s.withDefaults(0)
		w, err := full.world(rulesOf(t, "sloth.yaml"), about)
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.counts(t.Context(), about)
		if err != nil || len(got) != 1 {
			t.Fatalf("counts %v, error %v", got, err)
		}
		want.Labels = map[string]string{}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("over %s, want - and got +:\n%s", period, diff)
		}
	}
}

// The same seed draws the same world, another one another.
func TestSeed(t *testing.T) {
	draw := func(seed uint64) map[string]string {
		return written(worldOf(t, Scenario{Duration: time.Hour, Seed: seed, Events: []Event{{Kind: Failures, Ratio: .3}, {Kind: ScrapeLoss, Ratio: .3}}}, probes))
	}
	if diff := cmp.Diff(draw(1), draw(1)); diff != "" {
		t.Errorf("one seed, two worlds:\n%s", diff)
	}
	if cmp.Equal(draw(1), draw(2)) {
		t.Error("two seeds, one world")
	}
}
