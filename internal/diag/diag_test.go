// The Reader's own messages, positions and limits, each as users see it.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// readAll reads a file with all kinds of values.
func readAll(text string, options Options) Problems {
	r := NewReader("x.yaml", []byte(text), options)
	root := r.Document()
	if root == nil {
		return r.Problems()
	}
	f := r.Mapping(root, "the file", "name", "wait", "count", "on", "list", "labels", "inner", "text")
	f.Require("name", "what it is called")
	f.Text("name")
	f.Duration("wait", time.Second)
	f.Number("count")
	f.Flag("on")
	for _, item := range f.List("list") {
		r.Mapping(item, "an item", "a")
	}
	f.Pairs("labels")
	f.Mapping("inner", "a").Text("a")
	if n := f.Node("text"); n != nil {
		at := strings.Index(n.Value, "HERE")
		r.Report(r.Within(n, at, at+4), here)
	}
	return r.Problems()
}

var here = &Message{"here", "there"}

func TestProblems(t *testing.T) {
	cases := map[string]struct {
		text string
		want string
	}{
		"none":        {"name: x", ""},
		"empty":       {"# nothing", "x.yaml:1:1: the file is empty\n  1 | # nothing\n    | ^\n    hint: is this the right file?"},
		"missing key": {"wait: 1s", "x.yaml:1:1: missing key \"name\"\n  1 | wait: 1s\n    | ^^^^\n    hint: what it is called"},
		"unknown key": {"name: x\nwat: 1s", "x.yaml:2:1: unknown key \"wat\"\n  2 | wat: 1s\n    | ^^^\n    hint: did you mean \"wait\"?"},
		"far from all keys": {"name: x\nsomething: 1s", "x.yaml:2:1: unknown key \"something\"\n  2 | something: 1s\n    | ^^^^^^^^^\n" +
			"    hint: known: count, inner, labels, list, name, on, text, wait"},
		"duration":       {"name: x\nwait: soon", "x.yaml:2:7: wait \"soon\" is no duration\n  2 | wait: soon\n    |       ^^^^\n    hint: write whole numbers with units, such as 15s, 1m30s or 1h"},
		"number":         {"name: x\ncount: many", "x.yaml:2:8: count must be a number, not text\n  2 | count: many\n    |        ^^^^\n    hint: write a decimal number, without quotes or a unit"},
		"flag":           {"name: x\non: 1", "x.yaml:2:5: on must be true or false, not a number\n  2 | on: 1\n    |     ^\n    hint: write true or false, without quotes"},
		"wide":           {"name: 東京\nwat: x", "x.yaml:2:1: unknown key \"wat\"\n  2 | wat: x\n    | ^^^\n    hint: did you mean \"wait\"?"},
		"wide before it": {"{name: 東京, wat: x}", "x.yaml:1:12: unknown key \"wat\"\n  1 | {name: 東京, wat: x}\n    |              ^^^\n    hint: did you mean \"wait\"?"},
		"in a block":     {"name: x\ntext: |\n  first\n    and HERE it is\n", "x.yaml:4:9: here\n  4 |     and HERE it is\n    |         ^^^^\n    hint: there"},
		"in quotes":      {"name: x\ntext: 'it is HERE'\n", "x.yaml:2:14: here\n  2 | text: 'it is HERE'\n    |              ^^^^\n    hint: there"},
		"in folded text, whose lines are not its own": {"name: x\ntext: >\n  it is\n  HERE\n", "x.yaml:2:7: here\n  2 | text: >\n    |       ^\n    hint: there"},
		"in escaped text":          {"name: x\ntext: \"\\u0041 HERE\"\n", "x.yaml:2:7: here\n  2 | text: \"\\u0041 HERE\"\n    |       ^\n    hint: there"},
		"through an alias, once":   {"name: x\nlist: [&a {b: 1}, *a, *a]", "x.yaml:2:12: unknown key \"b\"\n  2 | list: [&a {b: 1}, *a, *a]\n    |            ^\n    hint: did you mean \"a\"?"},
		"merged":                   {"name: x\ninner: {<<: {a: {}}}", "x.yaml:2:17: a must be a single value, not a mapping\n  2 | inner: {<<: {a: {}}}\n    |                 ^\n    hint: write one value after the colon"},
		"not UTF-8":                {"name: caf\xe9", "x.yaml:1:10: byte 0xe9 is not UTF-8 text\n  1 | name: caf�\n    |          ^\n    hint: save the file as UTF-8"},
		"CRLF and byte order mark": {"\ufeffname: x\r\nwat: 1s\r\n", "x.yaml:2:1: unknown key \"wat\"\n  2 | wat: 1s\n    | ^^^\n    hint: did you mean \"wait\"?"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readAll(c.text, Options{}).Error()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHiddenTextIsNotShown(t *testing.T) {
	hide := func(line string) int {
		if at := strings.Index(line, "secret"); at >= 0 {
			return at
		}
		return len(line)
	}
	got := readAll("name: x\nlabels: {token: {}, b: secret}", Options{Hide: hide}).Error()
	want := "x.yaml:2:17: labels.token must be a single value, not a mapping\n  2 | labels: {token: {}, b: [redacted]\n    |                 ^\n    hint: write one value after the colon"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	cases := map[string]struct {
		text string
		want *Message
	}{
		"size":          {"name: x\n" + strings.Repeat("#", MaxSize), FileTooLarge},
		"values":        {"name: x\nlist: [&i {a: x}" + strings.Repeat(",*i", maxValues) + "]", TooManyValues},
		"problems":      {"name: x\nlist: [" + strings.Repeat("{b: 1}, ", maxProblems+50) + "]", TooManyProblems},
		"merge depth":   {"name: x\ninner: " + strings.Repeat("{<<: ", maxMerges+2) + "{a: x}" + strings.Repeat("}", maxMerges+2), MergeTooDeep},
		"key":           {"name: x\ninner: {[a]: b}", KeyNotText},
		"duplicate":     {"name: x\nname: y", DuplicateKey},
		"merge":         {"name: x\ninner: {<<: y}", MergeNotMapping},
		"control":       {"name: \"\x1b\"", ControlCharacter},
		"tab":           {"inner:\n\ta: x", TabIndent},
		"syntax":        {"name: [", SyntaxError},
		"documents":     {"name: x\n---\nname: y", SecondDocument},
		"second syntax": {"name: x\n---\n[", SyntaxError},
		"no value":      {"name:", NoValue},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			problems := readAll(c.text, Options{})
			if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Of == c.want }) {
				t.Errorf("got %v, want %q", problems, c.want.Text)
			}
			if len(problems) > maxProblems+1 {
				t.Errorf("%d problems", len(problems))
			}
		})
	}
}

func TestMessagesHaveHints(t *testing.T) {
	for _, m := range Messages() {
		if m.Text == "" || m.Hint == "" || strings.Contains(m.Text+m.Hint, "failed to") {
			t.Errorf("message %+v", m)
		}
	}
}

func TestLongLinesAreCut(t *testing.T) {
	got := readAll("{name: x, "+strings.Repeat("wait: 1s, ", 1)+"text: '"+strings.Repeat("-", 300)+"HERE"+strings.Repeat("-", 300)+"'}", Options{})
	if len(got) != 1 || len([]rune(got[0].Source)) > excerptLimit+2 || !strings.Contains(got[0].Source, "HERE") {
		t.Errorf("got %v", got)
	}
}

func FuzzReader(f *testing.F) {
	f.Add("name: x\nlist: [{a: 1}]\ntext: |\n  HERE\n")
	f.Add("name: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range readAll(text, Options{}) {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.Contains(p.Message+p.Hint, "%!") {
				t.Errorf("%+v", p)
			}
			_ = fmt.Sprint(p)
		}
	})
}

func TestWithinIsTheNodeWhereItCannotBeFound(t *testing.T) {
	r := NewReader("x", []byte("a: b"), Options{})
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "not there", Line: 1, Column: 4, Style: yaml.LiteralStyle}
	if got, want := r.Within(n, 2, 4), (Place{1, 4, 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
