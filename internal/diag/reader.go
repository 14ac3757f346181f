// A Reader collects problems while the YAML tree is walked: aliases are followed and counted, keys checked, merges flattened.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	maxLines    = 100_000
	maxValues   = 200_000 // that are read, aliases expanded: what keeps an alias bomb small
	maxProblems = 200
	maxMerges   = 16 // how deep merge keys nest
)

// Reader reads one file.
type Reader struct {
	file     string
	source   source
	problems Problems
	reported map[reportKey]bool
	values   int
	stopped  bool // too many values or problems: nothing more is read or reported
}

// reportKey tells reports apart: what several aliases show again is reported once.
type reportKey struct {
	line, column int
	of           *Message
	first        string
}

// NewReader reads a file. name stands before each position; hide says where in a line something begins that may be a secret, nil when the file holds none.
func NewReader(name string, data []byte, hide func(line string) int) *Reader {
	return &Reader{file: name, source: newSource(data, hide), reported: map[reportKey]bool{}}
}

// Problems are those reported so far, by position.
func (r *Reader) Problems() Problems {
	r.problems.sort()
	return r.problems
}

// Report adds a problem, unless the same was reported of the same place.
func (r *Reader) Report(at Place, of *Message, args ...any) {
	at = r.source.clamp(at)
	key := reportKey{at.Line, at.Column, of, ""}
	if len(args) > 0 {
		key.first, _ = args[0].(string)
	}
	if r.stopped || r.reported[key] {
		return
	}
	r.reported[key] = true
	if len(r.problems) == maxProblems {
		r.stopped = true
		of, args = TooManyProblems, []any{maxProblems}
	}
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = shorten(text)
		}
	}
	textArgs, hintArgs := of.split(args)
	problem := Problem{
		File: r.file, Line: at.Line, Column: at.Column, Of: of,
		Message: chain.Redact(fmt.Sprintf(of.Text, textArgs...)), Hint: chain.Redact(fmt.Sprintf(of.Hint, hintArgs...)),
	}
	problem.Source, problem.caret, problem.width = r.source.excerpt(at)
	r.problems = append(r.problems, problem)
}

// shorten keeps messages readable when a value is long.
func shorten(text string) string {
	const limit = 200
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}

// follow returns the node that an alias stands for, and counts it as read.
func (r *Reader) follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.values++; r.values > maxValues {
		r.Report(r.At(n), TooManyValues, maxValues)
		r.stopped = true
	}
	return n
}

// entry is one key of a mapping with its value, both without aliases.
type entry struct {
	name       string
	key, value *yaml.Node
}

// entries lists a mapping, merged keys last. Duplicate keys and keys that are no text are reported and left out.
func (r *Reader) entries(n *yaml.Node, depth int) []entry {
	var own, merged []entry
	first := map[string]Place{}
	for i := 0; i+1 < len(n.Content) && !r.stopped; i += 2 {
		key, value := r.follow(n.Content[i]), r.follow(n.Content[i+1])
		at := r.At(key)
		switch earlier, duplicate := first[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			r.Report(at, KeyNotText)
		case duplicate:
			r.Report(at, DuplicateKey, key.Value, earlier.Line, earlier.Column)
		case key.ShortTag() == "!!merge":
			first[key.Value] = at
			merged = append(merged, r.merged(value, depth)...)
		default:
			first[key.Value] = at
			own = append(own, entry{key.Value, key, value})
		}
	}
	for _, e := range merged {
		if _, taken := first[e.name]; !taken {
			first[e.name] = r.At(e.key)
			own = append(own, e)
		}
	}
	return own
}

// merged lists what a merge key brings in: a mapping, or a list of mappings of which the first wins.
func (r *Reader) merged(n *yaml.Node, depth int) []entry {
	parts := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		parts = n.Content
	}
	var all []entry
	for _, part := range parts {
		part = r.follow(part)
		switch {
		case r.stopped:
			return nil
		case part.Kind != yaml.MappingNode:
			r.Report(r.At(part), MergeNotMapping)
		case depth == maxMerges:
			r.Report(r.At(part), MergeTooDeep)
		default:
			all = append(all, r.entries(part, depth+1)...)
		}
	}
	return all
}

// At is the place of a node: of a scalar its text as written on its first line, of a block mapping its first key.
func (r *Reader) At(n *yaml.Node) Place {
	at := Place{Line: n.Line, Column: n.Column, Width: 1}
	switch {
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0:
		return r.At(n.Content[0])
	case n.Kind != yaml.ScalarNode:
		return at
	}
	if offset, ok := r.written(n, n.Value); ok {
		at.Width = utf8.RuneCountInString(n.Value) + 2*offset
	}
	return at
}

// written reports whether the source spells the beginning of a scalar as it is, without escapes or folds, and how many characters after the node's column it begins (1 when quoted).
func (r *Reader) written(n *yaml.Node, beginning string) (offset int, ok bool) {
	rest := r.source.rest(Place{Line: n.Line, Column: n.Column})
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && rest != "" {
		offset, rest = 1, rest[1:]
	}
	return offset, strings.HasPrefix(rest, beginning)
}

// Within is the place of a part of a scalar, from one byte of its value to before another, at most to the end of its line; the whole scalar where the source spells it otherwise.
func (r *Reader) Within(n *yaml.Node, from, to int) Place {
	from = min(max(from, 0), len(n.Value))
	part, _, _ := strings.Cut(n.Value[from:min(max(to, from), len(n.Value))], "\n")
	width := max(utf8.RuneCountInString(part), 1)
	if n.Style&yaml.LiteralStyle != 0 {
		return r.withinBlock(n, from, width)
	}
	skip, ok := r.written(n, n.Value[:from]+part)
	if !ok {
		return r.At(n)
	}
	return Place{Line: n.Line, Column: n.Column + skip + utf8.RuneCountInString(n.Value[:from]), Width: width}
}

// withinBlock is the place of a part of a literal block, whose lines stand below the node's.
func (r *Reader) withinBlock(n *yaml.Node, from, width int) Place {
	above := strings.Count(n.Value[:from], "\n")
	start := strings.LastIndex(n.Value[:from], "\n") + 1
	text, _, _ := strings.Cut(n.Value[start:], "\n")
	line := n.Line + 1 + above
	if line > len(r.source.lines) || !strings.HasSuffix(r.source.lines[line-1], text) {
		return r.At(n)
	}
	indent := len(r.source.lines[line-1]) - len(text)
	return Place{Line: line, Column: 1 + indent + utf8.RuneCountInString(n.Value[start:from]), Width: width}
}
