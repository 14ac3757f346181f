// The table of reasons in docs/gating.md is that of the code: this test writes it with -update, and fails when the file says something else.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDocumentedReasons(t *testing.T) {
	var table strings.Builder
	table.WriteString("\n| because | decision | exit | POST | meaning |\n|---|---|--:|--:|---|\n")
	for _, each := range becauses {
		fmt.Fprintf(&table, "| `%s` | %s | %d | %d | %s |\n", each.because, each.answer, each.answer.ExitCode(), each.answer.HTTPStatus(), each.meaning)
	}
	table.WriteString("\n")
	file := filepath.Join("..", "..", "docs", "gating.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), "<!-- table reasons:")
	head, rest, lines := strings.Cut(rest, "-->\n")
	got, after, ends := strings.Cut(rest, "<!-- end -->")
	if !begins || !lines || !ends {
		t.Fatalf("%s has no place for the table of reasons", file)
	}
	if got != table.String() && !*update {
		t.Errorf("the table of reasons is stale; run go test ./internal/slo -update. It should be\n%s", table.String())
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+"<!-- table reasons:"+head+"-->\n"+table.String()+"<!-- end -->"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
