// Every message of the catalogue, provoked by a file and compared with the exact text that users see.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// writtenFixtures are bad files that an editor or git would not keep as they are, or that are too large to keep.
var writtenFixtures = map[string]string{
	"file_too_large":    "probe: {interval: 15s}\n" + strings.Repeat("#", maxSize),
	"not_utf8":          "probe: {interval: 15s} # caf\xe9\n",
	"not_utf8_utf16":    "\xff\xfep\x00r\x00o\x00b\x00e\x00",
	"control_character": "probe:\n  interval: \"15s\x1b[2J\"\n  timeout: 10s\u2028\n",
	"control_lone_cr":   "probe:\r  interval: 15s\r",
	"crlf_and_bom":      "\ufeffprobe:\r\n  intervall: 15s\r\n  timeout: 1\r\n",
	"too_many_values":   aliasBomb(1000),
	"no_newline_at_end": "probe: {interval: 15s}\nclusters",
}

// aliasBomb is a small file of n targets with n rules each.
func aliasBomb(n int) string {
	return "access:\n  - &target {rbac: {allow: [&rule list nodes" + strings.Repeat(", *rule", n) + "]}}\n" + strings.Repeat("  - *target\n", n)
}

func TestBadFiles(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "bad"))
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*diag.Message]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			_, err := Load(file)
			checkGolden(t, strings.TrimSuffix(file, ".yaml"), err, seen)
		})
	}
	t.Run("overrides", func(t *testing.T) {
		const now = 1796126400 // 2026-12-01 12:00 UTC
		_, err := LoadOverrides("overrides.yml", []string{"prod"}, time.Unix(now, 0))
		checkGolden(t, "overrides", err, seen)
	})
	for name, text := range writtenFixtures {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(name+".yaml", []byte(text))
			checkGolden(t, name, err, seen)
		})
	}
	t.Run("too_many_problems", func(t *testing.T) {
		const many = 250
		_, err := Parse("x.yaml", []byte("access: ["+strings.Repeat("x, ", many)+"]"))
		problems := asProblems(t, err)
		if last := problems[len(problems)-1]; len(problems) >= many || last.Of != diag.TooManyProblems {
			t.Errorf("got %d problems, the last one %s", len(problems), last)
		}
		seen[diag.TooManyProblems] = true
	})
	for _, m := range slices.Concat(diag.Messages(), messages) {
		if !seen[m] {
			t.Errorf("no bad file provokes the message %q", m.Text)
		}
	}
}

// checkGolden compares problems with NAME.golden, and checks what holds for every problem.
func checkGolden(t *testing.T, name string, err error, seen map[*diag.Message]bool) {
	t.Helper()
	problems := asProblems(t, err)
	for _, p := range problems {
		seen[p.Of] = true
		if strings.Contains(p.Message+p.Hint, "%!") {
			t.Errorf("wording and arguments differ: %s", p)
		}
	}
	for _, secret := range []string{"hunter2", "AKIAIOSFODNN7", "wJalr", "s3cr3t", "eyJhbG"} {
		if strings.Contains(err.Error(), secret) || strings.Contains(fmt.Sprintf("%#v", problems), secret) {
			t.Errorf("the problems show the secret %q", secret)
		}
	}
	golden, got := name+".golden", err.Error()+"\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}

func asProblems(t testing.TB, err error) Problems {
	t.Helper()
	var problems Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		t.Fatalf("got %v, want Problems", err)
	}
	return problems
}

func TestEveryMessageHasWordsAndAHint(t *testing.T) {
	texts := map[string]bool{}
	for _, m := range slices.Concat(diag.Messages(), messages) {
		if m.Text == "" || m.Hint == "" {
			t.Errorf("message %+v has no text or no hint", m)
		}
		if texts[m.Text] {
			t.Errorf("two messages have the text %q", m.Text)
		}
		texts[m.Text] = true
		if strings.Contains(m.Text+m.Hint, "failed to") {
			t.Errorf("message %q says \"failed to\"", m.Text)
		}
	}
}
