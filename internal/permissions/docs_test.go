// docs/permissions.md: what it shows is what its example generates.
//
// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/config"
)

func TestThePageShowsWhatIsGenerated(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "permissions.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```(?:yaml|json)\n(.*?)```")
	shown := block.FindAllStringSubmatch(string(page), -1)
	if len(shown) != 3 {
		t.Fatalf("the page has %d examples, want 3: a configuration, its IAM policies and its RBAC", len(shown))
	}
	cfg, err := config.Parse("x.yaml", []byte(shown[0][1]))
	if err != nil {
		t.Fatal(err)
	}
	probes := Probes{Targets: slices.Concat(cfg.Access, cfg.Groups), Discoveries: cfg.Discoveries}
	var iam, rbac bytes.Buffer
	if err := WriteIAM(&iam, IAM(probes)); err != nil {
		t.Fatal(err)
	}
	if err := WriteRBAC(&rbac, RBAC(probes)); err != nil {
		t.Fatal(err)
	}
	want := []string{shown[0][1], iam.String(), rbac.String()}
	if *update {
		i := -1
		text := block.ReplaceAllStringFunc(string(page), func(old string) string {
			i++
			head, _, _ := strings.Cut(old, "\n")
			return head + "\n" + want[i] + "```"
		})
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i, got := range shown {
		if diff := cmp.Diff(want[i], got[1]); diff != "" {
			t.Errorf("example %d differs (-generated +shown):\n%s", i, diff)
		}
	}
}
