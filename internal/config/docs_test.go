// docs/configuration.md: its examples parse, and it names every key that the schema knows.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestExamplesOfThePageParse(t *testing.T) {
	const wantBlocks = 9
	blocks := yamlBlock.FindAllStringSubmatch(readPage(t), -1)
	if len(blocks) != wantBlocks {
		t.Fatalf("the page has %d examples, want %d", len(blocks), wantBlocks)
	}
	for _, block := range blocks {
		if strings.HasPrefix(block[1], "overrides:") {
			checkOverrides(t, block[1])
			continue
		}
		config, err := Parse(filepath.Join("testdata", "good", "x.yaml"), []byte(block[1]))
		if err != nil {
			t.Errorf("%s\n%s", block[1], err)
			continue
		}
		if strings.Contains(block[1], "access:") && len(config.Access) == 0 {
			t.Errorf("no target in\n%s", block[1])
		}
		if strings.Contains(block[1], "target_groups:") && (len(config.Groups) == 0 || len(config.Discoveries) == 0) {
			t.Errorf("no target group or no discovery in\n%s", block[1])
		}
	}
}

func TestThePageNamesEveryKey(t *testing.T) {
	page := readPage(t)
	words := []string{
		"interval", "timeout", "name", "region", "eks_name", "account_id", "observer", "endpoint", "ca_file", "labels", "source", "role_arn", "token_file", "profile",
		"assume_role", "expect_principal", "session_policy", "reuse_session", "external_id_file", "duration", "cluster", "identity", "expect.username", "expect.groups",
		"rbac.allow", "rbac.deny", "rbac.dry_run", "eks_reads_per_second", "elb_reads_per_second", "namespace", "url", "expect_status", "expect_body", "host", "sni", "ip_family",
	}
	words = append(append(words, selectors...), groupKeys...)
	words = append(words, gateKeys...)
	words = append(words, "embedded", "prometheus", "path", "retention", "http_config", "sigv4", "external_id_file", "service_name", "use_fips_sts_endpoint", "proxy_connect_header", "from", "to", "why", "by", "until", "gate")
	for _, source := range chain.Sources {
		words = append(words, string(source))
	}
	for _, word := range words {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not explain `%s`", word)
		}
	}
	for _, section := range sections {
		if !strings.Contains(page, "\n## "+section+"\n") {
			t.Errorf("the page has no part on %s", section)
		}
	}
}

// checkOverrides reads the page's file of overrides on a day before their end.
func checkOverrides(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "overrides.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := LoadOverrides(file, []string{"prod-release"}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || len(found) != 1 {
		t.Errorf("the page's overrides are %v (%v)", found, err)
	}
}
