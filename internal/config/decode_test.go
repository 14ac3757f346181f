// Positions inside scalars, and how merges and aliases are flattened.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// positions lists line:column of every problem.
func positions(t *testing.T, text string) []place {
	t.Helper()
	_, err := Parse("x.yaml", []byte(text))
	var all []place
	for _, p := range asProblems(t, err) {
		all = append(all, place{p.Line, p.Column, p.width})
	}
	return all
}

func TestAMistakeInARuleIsShownAtItsWord(t *testing.T) {
	const file = "clusters: [{name: a, region: eu-west-1, observer: r}]\nidentities: [{name: r, source: irsa}, {name: i, source: irsa}]\naccess:\n- cluster: a\n  identity: i\n  rbac:\n    allow:\n    - "
	for name, c := range map[string]struct {
		scalar string
		want   place
	}{
		"plain":              {"list Nodes", place{8, 12, 5}},
		"double quotes":      {`"list Nodes"`, place{8, 13, 5}},
		"single quotes":      {`'list Nodes'`, place{8, 13, 5}},
		"with a tag":         {"!!str list Nodes", place{8, 7, 1}},
		"escape before":      {`"l\u0069st Nodes"`, place{8, 7, 1}},
		"escape after":       {`"list Nodes\u0020"`, place{8, 13, 5}},
		"doubled quote":      {`'list a''b'`, place{8, 13, 3}},
		"block scalar":       {"|-\n      list Nodes", place{8, 7, 1}},
		"folded plain":       {"list\n      Nodes", place{8, 7, 1}},
		"with an anchor":     {"&a list Nodes", place{8, 7, 1}},
		"multi-byte before":  {`"get pods Ü in Shop"`, place{8, 22, 4}},
		"verb":               {"lst nodes", place{8, 7, 3}},
		"with a comment":     {"list Nodes # why", place{8, 12, 5}},
		"wide double quotes": {`"get pods 日本 in Shop"`, place{8, 23, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			got := positions(t, file+c.scalar+"\n")
			if diff := cmp.Diff([]place{c.want}, got, cmp.AllowUnexported(place{})); diff != "" {
				t.Errorf("places differ (-want +got):\n%s", diff)
			}
		})
	}
}

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
			d := newDecoder("x.yaml", []byte(c.text))
			var got []string
			for _, e := range d.entries(document.Content[0], 0) {
				got = append(got, e.name+"="+e.value.Value)
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
			_, err := Parse("x.yaml", []byte(c.text))
			problems := asProblems(t, err)
			if len(problems) != 1 || problems[0].id != syntaxError || problems[0].Line != c.line {
				t.Errorf("want one syntax error at line %d, got\n%s", c.line, problems)
			}
		})
	}
}
