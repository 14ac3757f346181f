// Every reader of a value: what it takes, and what it says of the rest.
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
)

// root reads a mapping with the keys k and l.
func root(t *testing.T, text string, options Options) (*Reader, Fields) {
	t.Helper()
	r := NewReader("x.yaml", []byte(text), options)
	n := r.Document()
	if n == nil {
		t.Fatal(r.Problems())
	}
	return r, r.Mapping(n, "the file", "k", "l")
}

func TestReadersOfValues(t *testing.T) {
	readers := map[string]func(f Fields) any{
		"text":     func(f Fields) any { return f.Text("k") },
		"optional": func(f Fields) any { return f.Optional("k") },
		"flag":     func(f Fields) any { return f.Flag("k") },
		"number":   func(f Fields) any { return f.Number("k") },
		"whole":    func(f Fields) any { return f.WholeNumber("k", 7, 1, 10) },
		"duration": func(f Fields) any { value, ok := f.Duration("k", time.Hour); return fmt.Sprint(value, ok) },
		"choice":   func(f Fields) any { return Choice(f, "k", []string{"one", "two"}, "none") },
		"scalar":   func(f Fields) any { return f.Scalar("k") != nil },
		"texts":    func(f Fields) any { return strings.Join(f.Texts("k"), "+") },
		"list":     func(f Fields) any { return len(f.List("k")) },
		"pairs":    func(f Fields) any { return len(f.Pairs("k")) },
		"entries":  func(f Fields) any { entries, ok := f.Entries("k"); return fmt.Sprint(len(entries), ok) },
		"mapping":  func(f Fields) any { return f.Mapping("k", "a").Has("a") },
	}
	cases := map[string]map[string]struct { // reader → value
		got      any
		messages []*Message
	}{
		"text":     {"a": {"a", nil}, "''": {"", []*Message{NoValue}}, "17": {"", []*Message{WrongType}}, "true": {"", []*Message{WrongType}}, "[a]": {"", []*Message{WrongType}}, "~": {"", []*Message{NoValue}}},
		"optional": {"a": {"a", nil}, "''": {"", nil}, "~": {"", []*Message{NoValue}}, "17": {"", []*Message{WrongType}}},
		"flag":     {"true": {true, nil}, "false": {false, nil}, "'true'": {false, []*Message{WrongType}}, "yes": {false, []*Message{WrongType}}, "{}": {false, []*Message{WrongType}}},
		"number":   {"1.50": {"1.50", nil}, "-3": {"-3", nil}, "'1'": {"", []*Message{WrongType}}, "[1]": {"", []*Message{WrongType}}},
		"whole": {
			"1": {1, nil}, "10": {10, nil}, "0": {7, []*Message{BadWholeNumber}}, "11": {7, []*Message{BadWholeNumber}}, "010": {7, []*Message{BadWholeNumber}}, "0x2": {7, []*Message{BadWholeNumber}},
			"1.0": {7, []*Message{BadWholeNumber}}, "'1'": {7, []*Message{BadWholeNumber}}, "~": {7, []*Message{NoValue}}, "[1]": {7, []*Message{WrongType}},
		},
		"duration": {"1m30s": {"1m30s true", nil}, "0": {"0s true", nil}, "90": {"1h0m0s false", []*Message{BadDuration}}, "-1s": {"1h0m0s false", []*Message{BadDuration}}, "~": {"1h0m0s false", []*Message{NoValue}}},
		"choice":   {"two": {"two", nil}, "three": {"none", []*Message{UnknownChoice}}, "Two": {"none", []*Message{UnknownChoice}}, "2": {"none", []*Message{WrongType}}},
		"scalar":   {"a": {true, nil}, "1": {true, nil}, "[a]": {false, []*Message{WrongType}}, "~": {false, []*Message{NoValue}}},
		"texts":    {"[a, b]": {"a+b", nil}, "[a, b, a]": {"a+b", []*Message{ListedTwice}}, "[a, 1]": {"a", []*Message{WrongType}}, "['', '']": {"", []*Message{NoValue, NoValue}}, "a": {"", []*Message{WrongType}}},
		"list":     {"[a, {}]": {2, nil}, "[]": {0, nil}, "{}": {0, []*Message{WrongType}}, "!x [a]": {0, []*Message{WrongType}}},
		"pairs":    {"{a: b}": {1, nil}, "{a: 1}": {1, []*Message{WrongType}}, "[a]": {0, []*Message{WrongType}}},
		"entries":  {"{a: 1, b: []}": {"2 true", nil}, "{}": {"0 true", nil}, "[a]": {"0 false", []*Message{WrongType}}, "{a: 1, a: 2}": {"1 true", []*Message{DuplicateKey}}},
		"mapping":  {"{a: 1}": {true, nil}, "{b: 1}": {false, []*Message{UnknownKey}}, "a": {false, []*Message{WrongType}}},
	}
	for name, read := range readers {
		for value, want := range cases[name] {
			t.Run(name+" "+value, func(t *testing.T) {
				r, f := root(t, "k: "+value, Options{})
				got := read(f)
				if messages := messagesOf(r.Problems()); got != want.got || !slices.Equal(messages, want.messages) {
					t.Errorf("got %v, want %v; problems:\n%s", got, want.got, r.Problems())
				}
			})
		}
		t.Run(name+" not given", func(t *testing.T) {
			r, f := root(t, "l: a", Options{})
			read(f)
			if problems := r.Problems(); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
}

func messagesOf(problems Problems) []*Message {
	var all []*Message
	for _, p := range problems {
		all = append(all, p.Of)
	}
	return all
}

func TestOptionsOfTheOwner(t *testing.T) {
	secret := &Message{"no secrets: %q", "%s"}
	options := Options{
		Refuse: func(key string) (*Message, string) {
			if key == "password" {
				return secret, "write it to a file"
			}
			return nil, ""
		},
		Hints: map[*Message]string{EmptyFile: "write at least k"},
	}
	for text, want := range map[string]string{
		"# nothing":   "x.yaml:1:1: the file is empty\n  1 | # nothing\n    | ^\n    hint: write at least k",
		"password: x": "x.yaml:1:1: no secrets: \"password\"\n  1 | password: x\n    | ^^^^^^^^\n    hint: write it to a file",
		"kk: x":       "x.yaml:1:1: unknown key \"kk\"\n  1 | kk: x\n    | ^^\n    hint: did you mean \"k\"?",
	} {
		t.Run(text, func(t *testing.T) {
			r := NewReader("x.yaml", []byte(text), options)
			if n := r.Document(); n != nil {
				r.Mapping(n, "the file", "k", "l")
			}
			if diff := cmp.Diff(want, r.Problems().Error()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacesOfFields(t *testing.T) {
	_, f := root(t, "\nk: {a: 1}\n", Options{})
	for name, c := range map[string]struct{ got, want Place }{
		"value":             {f.At("k"), Place{2, 4, 1}},
		"key":               {f.AtKey("k"), Place{2, 1, 1}},
		"mapping":           {f.Place(), Place{2, 1, 1}},
		"of what is absent": {f.At("l"), Place{2, 1, 1}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
	if !f.IsMapping() {
		t.Error("no mapping")
	}
}

// The part of the scalar is Nodes, or what stands after the first word.
func TestWithin(t *testing.T) {
	for name, c := range map[string]struct {
		scalar string
		part   string
		want   Place
	}{
		"plain":             {"list Nodes", "Nodes", Place{1, 9, 5}},
		"at the beginning":  {"list Nodes", "list", Place{1, 4, 4}},
		"double quotes":     {`"list Nodes"`, "Nodes", Place{1, 10, 5}},
		"single quotes":     {`'list Nodes'`, "Nodes", Place{1, 10, 5}},
		"with a tag":        {"!!str list Nodes", "Nodes", Place{1, 4, 1}},
		"with an anchor":    {"&a list Nodes", "Nodes", Place{1, 4, 1}},
		"escape before":     {`"l\u0069st Nodes"`, "Nodes", Place{1, 4, 1}},
		"escape after":      {`"list Nodes\u0020"`, "Nodes", Place{1, 10, 5}},
		"escape inside":     {`'list a''b'`, "a'b", Place{1, 10, 3}},
		"escape first":      {`"\u006cist Nodes"`, "list", Place{1, 4, 1}},
		"literal block":     {"|-\n  list Nodes", "Nodes", Place{2, 8, 5}},
		"literal, indented": {"|\n  a\n    Nodes", "Nodes", Place{3, 5, 5}},
		"folded block":      {">-\n  list\n  Nodes", "Nodes", Place{1, 4, 1}},
		"folded plain":      {"list\n  Nodes", "Nodes", Place{1, 4, 1}},
		"multi-byte before": {`"get pods Ü in Shop"`, "Shop", Place{1, 19, 4}},
		"with a comment":    {"list Nodes # why", "Nodes", Place{1, 9, 5}},
		"wide before":       {`"日本 in Shop"`, "Shop", Place{1, 11, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			r, f := root(t, "k: "+c.scalar+"\n", Options{})
			n := f.Node("k")
			from := strings.Index(n.Value, c.part)
			if got := r.Within(n, from, from+len(c.part)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAFileMayHaveMaxSize(t *testing.T) {
	for size, want := range map[int][]*Message{MaxSize: nil, MaxSize + 1: {FileTooLarge}, 3 * MaxSize: {FileTooLarge}} {
		r := NewReader("x.yaml", []byte("k: a\n"+strings.Repeat("#", size-5)), Options{})
		r.Document()
		if got := messagesOf(r.Problems()); !slices.Equal(got, want) {
			t.Errorf("%d bytes: got %s", size, r.Problems())
		}
	}
}
