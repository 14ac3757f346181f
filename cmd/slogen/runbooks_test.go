// Tests of the runbooks: each alert has its page, and each page says the three things that it must.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

var (
	root     = filepath.Join("..", "..")
	runbooks = filepath.Join(root, "docs", "runbooks")
)

func ourSpecs(t *testing.T) []specFile {
	t.Helper()
	specs, err := readSpecs(filepath.Join(root, "slo-specs"))
	if err != nil {
		t.Fatal(err)
	}
	return specs
}

func TestEveryAlertHasARunbook(t *testing.T) {
	index := content(t, filepath.Join(runbooks, "README.md"))
	for _, spec := range ourSpecs(t) {
		for _, each := range spec.SLOs {
			page := content(t, filepath.Join(root, filepath.FromSlash(each.Probes.Runbook)))
			if heading, _, _ := strings.Cut(page, "\n"); !strings.Contains(heading, each.Alerting.Name) {
				t.Errorf("%s: %s is headed %q, without %s", each.ID(), each.Probes.Runbook, heading, each.Alerting.Name)
			}
		}
		rules, err := sloth.Generate(t.Context(), spec.Spec, sloth.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkIndex(t, index, rules)
	}
	checkIndex(t, index, sloth.ExporterRules())
}

// checkIndex looks for the name of every generated alert in the list of runbooks.
func checkIndex(t *testing.T, index string, rules *sloth.Rules) {
	t.Helper()
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" && !strings.Contains(index, "`"+rule.Alert+"`") {
				t.Errorf("%s: the alert %s is not in docs/runbooks/README.md", group.Name, rule.Alert)
			}
		}
	}
}

// TestRunbooks: what it means, the first three commands, and when to silence it; and links that lead somewhere.
func TestRunbooks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(runbooks, "*.md"))
	if err != nil || len(pages) < 12 {
		t.Fatalf("found %d pages: %v", len(pages), err)
	}
	sections := regexp.MustCompile(`(?m)^## (.+)$`)
	links := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for _, page := range pages {
		text := content(t, page)
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(runbooks, filepath.FromSlash(link[1]))); err != nil && !strings.Contains(link[1], "://") {
				t.Errorf("%s: %v", page, err)
			}
		}
		if filepath.Base(page) == "README.md" {
			continue
		}
		var names []string
		for _, section := range sections.FindAllStringSubmatch(text, -1) {
			names = append(names, section[1])
		}
		if want := []string{"What it means", "Type this first", "When to silence it"}; !slices.Equal(names, want) {
			t.Errorf("%s has the sections %q, want %q", page, names, want)
		}
		if got := strings.Count(text, "```sh\n"); got != 3 {
			t.Errorf("%s has %d commands, want 3", page, got)
		}
		if index := content(t, filepath.Join(runbooks, "README.md")); !strings.Contains(index, "("+filepath.Base(page)+")") {
			t.Errorf("%s is not in the list", page)
		}
	}
}

// TestRunbooksNameSeriesThatExist: a command on a metric that the exporter does not have finds nothing at three in the morning.
func TestRunbooksNameSeriesThatExist(t *testing.T) {
	metrics := content(t, filepath.Join(root, "docs", "metrics.md"))
	pages, err := filepath.Glob(filepath.Join(runbooks, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for _, name := range regexp.MustCompile(`\b(eks_access|alb|eks_slo_exporter)_[a-z_]+\b`).FindAllString(content(t, page), -1) {
			family := strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
			if !strings.Contains(metrics, fmt.Sprintf("| `%s` |", family)) {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
	}
}

// TestSpecsNameSeriesThatExist: so do the specifications.
func TestSpecsNameSeriesThatExist(t *testing.T) {
	metrics := content(t, filepath.Join(root, "docs", "metrics.md"))
	for _, spec := range ourSpecs(t) {
		for _, name := range regexp.MustCompile(`\b(eks_access|alb)_[a-z_]+\b`).FindAllString(content(t, spec.path), -1) {
			family := strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
			if !strings.Contains(metrics, fmt.Sprintf("| `%s` |", family)) {
				t.Errorf("%s: there is no metric %s", spec.path, name)
			}
		}
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
