// How merges and aliases are flattened, and at which line text is found to be no YAML.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestEntries(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"own keys":               {"{a: 1, b: 2}", "a=1 b=2"},
		"merge comes last":       {"{<<: {b: 2, c: 3}, a: 1}", "a=1 b=2 c=3"},
		"own keys win":           {"{<<: {a: 2}, a: 1}", "a=1"},
		"the first merged wins":  {"{<<: [{a: 1}, {a: 2, b: 3}]}", "a=1 b=3"},
		"nested merges":          {"{<<: {<<: {a: 1, b: 2}, b: 3}}", "b=3 a=1"},
		"the first of duplicate": {"{a: 1, a: 2}", "a=1"},
		"two merge keys":         {"{<<: {a: 1}, <<: {b: 2}}", "a=1"},
		"a quoted << is a key":   {"{'<<': 1}", "<<=1"},
		"keys by alias":          {"{&k a: 1, b: *k}", "a=1 b=a"},
	} {
		t.Run(name, func(t *testing.T) {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(c.text), &document); err != nil {
				t.Fatal(err)
			}
			r := NewReader("x.yaml", []byte(c.text), Options{})
			var got []string
			for _, e := range r.entries(document.Content[0], 0) {
				got = append(got, e.Name+"="+e.Value.Value)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

func TestSyntaxErrorsAreFoundAtTheirLine(t *testing.T) {
	filler := strings.Repeat("- {name: a,\n   list: [b,\n     c], text: 'd\n     e'}\n", 50)
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"unclosed list":             {filler + "- [a, b\n- c\n- d\n", 201},
		"closed twice":              {filler + "- [a, b]]\n- c\n", 201},
		"unclosed quote":            {filler + "- 'a\n- c\n", 201},
		"indentation":               {filler + " - a\n- b\n", 201},
		"unknown anchor":            {filler + "- *a\n- b\n", 201},
		"unknown escape":            {filler + "- \"\\q\"\n- b\n", 201},
		"reserved character":        {filler + "- @a\n- b\n", 201},
		"two colons":                {filler + "- a: b: c\n- b\n", 201},
		"mapping among list items":  {filler + "a: b\n- c\n", 201},
		"on the first line":         {"a: 'b\nc: d\n", 1},
		"in a second document":      {"a: b\n---\nc: ]\n", 3},
		"alone":                     {"]", 1},
		"in the middle of a block":  {"a:\n  b: c\n d: e\nf: g\n", 3},
		"undefined tag":             {filler + "- !a!b c\n- d\n", 201},
		"unsupported YAML":          {"%YAML 2.0\n---\na: b\n", 1},
		"a template without quotes": {"a: b\nc: {{d}}:e\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader("x.yaml", []byte(c.text), Options{})
			r.Document()
			problems := r.Problems()
			if len(problems) != 1 || problems[0].Of != SyntaxError || problems[0].Line != c.line {
				t.Errorf("want one syntax error at line %d, got\n%s", c.line, problems)
			}
		})
	}
}
