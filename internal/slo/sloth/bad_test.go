// Every message, provoked by a file and compared with the exact text that users see.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*diag.Message]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spec, problems := Read(filepath.Base(file), data)
			if spec != nil || len(problems) == 0 {
				t.Fatalf("got %v, want problems", spec)
			}
			for _, p := range problems {
				seen[p.Of] = true
				if strings.Contains(p.Message+p.Hint, "%!") {
					t.Errorf("wording and arguments differ: %s", p)
				}
			}
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".golden", problems.Error()+"\n")
		})
	}
	for _, m := range messages() {
		if !seen[m] {
			t.Errorf("no bad file provokes the message %q", m.Text)
		}
		if m.Hint == "" || strings.Contains(m.Text+m.Hint, "failed to") {
			t.Errorf("message %q has no hint, or says \"failed to\"", m.Text)
		}
	}
}

// checkGolden compares a text with a file; with -update it writes the file.
func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
