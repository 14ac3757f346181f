// The caret stands under the right characters, positions are in order, and misspelt words find their neighbours.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"testing"
)

func TestUnderline(t *testing.T) {
	for name, c := range map[string]struct {
		line        string
		caret, long int
		want        string
	}{
		"plain":                       {"ab: cd", 4, 2, "    ^^"},
		"tabs are kept":               {"\ta:\tb", 4, 1, "\t  \t^"},
		"wide characters":             {"日本: x", 4, 1, "      ^"},
		"wide characters underlined":  {"x: 日本", 3, 2, "   ^^^^"},
		"combining characters":        {"e\u0301: x", 4, 1, "   ^"},
		"just past the end":           {"name:", 5, 1, "     ^"},
		"multi-byte, not wide":        {"größe: x", 7, 1, "       ^"},
		"a tab inside the underlined": {"a\tb", 0, 3, "^^^"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := underline(c.line, c.caret, c.long); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestProblemsAreInOrderAndFormatted(t *testing.T) {
	problems := Problems{
		{File: "x.yaml", Line: 14, Column: 5, Message: `unknown key "asume_role"`, Hint: `did you mean "assume_role"?`, Source: "    asume_role:", caret: 4, width: 10},
		{File: "x.yaml", Line: 2, Column: 9, Message: "b"},
		{File: "x.yaml", Line: 2, Column: 9, Message: "a"},
		{File: "x.yaml", Line: 2, Column: 1, Message: "c"},
	}
	problems.sort()
	const want = `x.yaml:2:1: c
x.yaml:2:9: a
x.yaml:2:9: b
x.yaml:14:5: unknown key "asume_role"
  14 |     asume_role:
     |     ^^^^^^^^^^
     hint: did you mean "assume_role"?`
	if got := problems.Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"assume_role", "name", "labels", "region"}
	for word, want := range map[string]string{
		"asume_role": "assume_role", "lables": "labels", "Name": "name", "nmae": "", "zone": "", "regions": "region", "": "", strings.Repeat("name", 20): "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
