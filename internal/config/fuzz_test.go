// Whatever the bytes: no panic, and either a configuration or problems that point into the file.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"bad", "good"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern, "*.yaml"))
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := Parse("x.yaml", data)
		if err == nil {
			checkConfig(t, config)
			checkGroups(t, config)
			checkQuery(t, config)
			return
		}
		if config != nil {
			t.Error("a configuration came back with problems")
		}
		checkPositions(t, data, asProblems(t, err))
	})
}

func checkConfig(t *testing.T, config *Config) {
	t.Helper()
	for _, target := range slices.Concat(config.Access, config.Groups) {
		if target.Timeout > target.Interval || target.Timeout < time.Second {
			t.Errorf("target %s: timeout %s, interval %s", target.Name, target.Timeout, target.Interval)
		}
	}
	for _, target := range config.Access {
		if target.Name != target.Identity.Name+"@"+target.Cluster.Name || strings.Count(target.Name, "@") != 1 {
			t.Errorf("target %q of identity %q on cluster %q", target.Name, target.Identity.Name, target.Cluster.Name)
		}
	}
}

func FuzzOverrides(f *testing.F) {
	seed, err := os.ReadFile(filepath.Join("testdata", "bad", "overrides.yml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte("overrides: [&a {gate: prod, by: b, why: c, until: 2026-12-02T00:00:00Z}, *a, {<<: *a, until: 2026-12-01T00:00:00Z}]\n"))
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		inForce, err := parseOverrides("x.yaml", data, []string{"prod"}, now)
		for _, o := range inForce {
			if o.Gate != "prod" || o.By == "" || o.Why == "" || !o.Until.After(now) {
				t.Errorf("%+v is in force", o)
			}
		}
		if err != nil {
			checkPositions(t, data, asProblems(t, err))
		}
	})
}

func checkQuery(t *testing.T, config *Config) {
	t.Helper()
	q := config.Query
	if q.Embedded != nil && q.Prometheus != nil || len(config.Gates) > 0 && q == (Query{}) {
		t.Errorf("%d gates read from %+v", len(config.Gates), q)
	}
	if e := q.Embedded; e != nil && (e.Path == "" || e.Retention < leastRetention) {
		t.Errorf("embedded engine %+v", e)
	}
	if p := q.Prometheus; p != nil && (p.URL == nil || p.URL.User != nil || p.Timeout < time.Second || p.HTTP.BearerToken != "" ||
		p.HTTP.BasicAuth != nil && p.HTTP.BasicAuth.Password != "" || p.HTTP.Authorization != nil && p.HTTP.Authorization.Credentials != "" || p.SigV4 != nil && p.SigV4.Region == "") {
		t.Errorf("Prometheus %+v", p)
	}
	for _, gate := range config.Gates {
		for _, share := range []float64{gate.MinBudget, gate.MinCoverage, gate.MinObserved} {
			if !(share >= 0 && share <= 1) {
				t.Errorf("gate %q has the share %v", gate.Name, share)
			}
		}
		if !nameShape.MatchString(gate.Name) || len(gate.SLOs) == 0 || gate.MaxAge < time.Minute {
			t.Errorf("gate %+v", gate)
		}
		for _, freeze := range gate.Freezes {
			if !freeze.To.After(freeze.From) || freeze.Why == "" {
				t.Errorf("freeze %+v", freeze)
			}
		}
	}
}

func checkGroups(t *testing.T, config *Config) {
	t.Helper()
	for _, target := range config.Groups {
		checkGroup(t, target)
		if target.Name == "" || strings.ContainsAny(target.Name, "@/") || (target.Group.ARN == "") == (target.Group.Name == "") {
			t.Errorf("target %q has the ARN %q and the name %q", target.Name, target.Group.ARN, target.Group.Name)
		}
	}
	for _, found := range config.Discoveries {
		checkGroup(t, found.Template)
		ways := 0
		for _, way := range []bool{found.LoadBalancer != "", len(found.Tags) > 0, found.BindingsOf} {
			if way {
				ways++
			}
		}
		if group := found.Template.Group; ways != 1 || group.ARN+group.Name != "" || !group.Binding.IsZero() || group.Request != nil {
			t.Errorf("discovery %q has %d ways, and a template of one target group: %+v", found.Name, ways, group)
		}
	}
}

func checkGroup(t *testing.T, target chain.Target) {
	t.Helper()
	group := target.Group
	if target.Kind != chain.KindALB || group.Region == "" || group.Observer.Name == "" || group.MinHealthy < 1 {
		t.Errorf("target %q cannot be probed: %+v", target.Name, group)
	}
	if (target.Cluster.Name == "") != (target.Observer.Name == "") || !group.Binding.IsZero() && target.Cluster.Name == "" {
		t.Errorf("target %q: binding %s of cluster %q, read by %q", target.Name, group.Binding, target.Cluster.Name, target.Observer.Name)
	}
	if r := group.Request; r != nil && (r.Timeout >= target.Timeout || len(r.ExpectStatus) == 0 || r.URL == "") {
		t.Errorf("target %q cannot be asked: %+v", target.Name, r)
	}
}

func checkPositions(t *testing.T, data []byte, problems Problems) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(string(data), "\uFEFF"), "\n")
	for i, p := range problems {
		if p.Line < 1 || p.Column < 1 || p.Line > len(lines) || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Errorf("position %d:%d is outside the file: %s", p.Line, p.Column, p)
		}
		if p.Message == "" || p.Hint == "" || strings.Contains(p.Message+p.Hint, "%!") {
			t.Errorf("wording is broken: %#v", p)
		}
		if i > 0 && (p.Line < problems[i-1].Line || p.Line == problems[i-1].Line && p.Column < problems[i-1].Column) {
			t.Errorf("out of order: %s", p)
		}
		if text := p.String(); !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\r\x00") {
			t.Errorf("not fit for a terminal: %q", text)
		}
	}
}
