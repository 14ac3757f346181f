// The decoder collects problems while it walks the YAML tree: aliases are followed and counted, keys checked, merges flattened.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	maxValues   = 200_000 // that are read, aliases expanded: what keeps an alias bomb small
	maxProblems = 200
	maxMerges   = 16 // how deep merge keys nest
)

type decoder struct {
	file     string
	source   source
	problems Problems
	reported map[reportKey]bool
	wrong    map[*yaml.Node]bool // patterns that do not parse, so that aliases do not make us look for the place again
	values   int
	stopped  bool // too many values or problems: nothing more is read or reported
}

// reportKey tells reports apart: what several aliases show again is reported once.
type reportKey struct {
	line, column int
	id           messageID
	first        string
}

func newDecoder(file string, data []byte) *decoder {
	return &decoder{file: file, source: newSource(data), reported: map[reportKey]bool{}, wrong: map[*yaml.Node]bool{}}
}

// report adds a problem. The zero place is the file's beginning.
func (d *decoder) report(at place, id messageID, args ...any) {
	at = d.source.clamp(at)
	key := reportKey{at.line, at.column, id, ""}
	if len(args) > 0 {
		key.first, _ = args[0].(string)
	}
	if d.stopped || d.reported[key] {
		return
	}
	d.reported[key] = true
	if len(d.problems) == maxProblems {
		d.stopped = true
		id, args = tooManyProblems, []any{maxProblems}
	}
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = shorten(text)
		}
	}
	wording := messages[id]
	textArgs, hintArgs := wording.split(args)
	problem := Problem{
		File: d.file, Line: at.line, Column: at.column, id: id,
		Message: chain.Redact(fmt.Sprintf(wording.text, textArgs...)), Hint: chain.Redact(fmt.Sprintf(wording.hint, hintArgs...)),
	}
	problem.Source, problem.caret, problem.width = d.source.excerpt(at)
	d.problems = append(d.problems, problem)
}

// shorten keeps messages readable when a value is long.
func shorten(text string) string {
	const limit = 200
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}

// path resolves a file name of the configuration: relative ones start at the configuration file's directory.
func (d *decoder) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(d.file), name)
}

// follow returns the node that an alias stands for, and counts it as read.
func (d *decoder) follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if d.values++; d.values > maxValues {
		d.report(d.at(n), tooManyValues, maxValues)
		d.stopped = true
	}
	return n
}

// at is the place of a node: of a scalar its text as written on its first line, of a block mapping its first key.
func (d *decoder) at(n *yaml.Node) place {
	at := place{line: n.Line, column: n.Column, width: 1}
	switch {
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0:
		return d.at(n.Content[0])
	case n.Kind != yaml.ScalarNode:
		return at
	}
	if offset, ok := d.written(n, n.Value); ok {
		at.width = utf8.RuneCountInString(n.Value) + 2*offset
	}
	return at
}

// written reports whether the source spells the beginning of a scalar as it is, without escapes or folds, and how many characters after the node's column it begins (1 when quoted).
func (d *decoder) written(n *yaml.Node, beginning string) (offset int, ok bool) {
	rest := d.source.rest(place{line: n.Line, column: n.Column})
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && rest != "" {
		offset, rest = 1, rest[1:]
	}
	return offset, strings.HasPrefix(rest, beginning)
}

// within is the place of a word inside a scalar, at a byte offset of its value; the whole scalar where the source spells it otherwise.
func (d *decoder) within(n *yaml.Node, offset int) place {
	skip, ok := d.written(n, n.Value[:offset])
	if !ok {
		return d.at(n)
	}
	word, _, _ := strings.Cut(n.Value[offset:], " ")
	return place{line: n.Line, column: n.Column + skip + utf8.RuneCountInString(n.Value[:offset]), width: utf8.RuneCountInString(word)}
}

// entry is one key of a mapping with its value, both without aliases.
type entry struct {
	name       string
	key, value *yaml.Node
}

// entries lists a mapping, merged keys last. Duplicate keys and keys that are no text are reported and left out.
func (d *decoder) entries(n *yaml.Node, depth int) []entry {
	var own, merged []entry
	first := map[string]place{}
	for i := 0; i+1 < len(n.Content) && !d.stopped; i += 2 {
		key, value := d.follow(n.Content[i]), d.follow(n.Content[i+1])
		at := d.at(key)
		switch earlier, duplicate := first[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.report(at, keyNotText)
		case duplicate:
			d.report(at, duplicateKey, key.Value, earlier.line, earlier.column)
		case key.ShortTag() == "!!merge":
			first[key.Value] = at
			merged = append(merged, d.merged(value, depth)...)
		default:
			first[key.Value] = at
			own = append(own, entry{key.Value, key, value})
		}
	}
	for _, e := range merged {
		if _, taken := first[e.name]; !taken {
			first[e.name] = d.at(e.key)
			own = append(own, e)
		}
	}
	return own
}

// merged lists what a merge key brings in: a mapping, or a list of mappings of which the first wins.
func (d *decoder) merged(n *yaml.Node, depth int) []entry {
	parts := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		parts = n.Content
	}
	var all []entry
	for _, part := range parts {
		part = d.follow(part)
		switch {
		case d.stopped:
			return nil
		case part.Kind != yaml.MappingNode:
			d.report(d.at(part), mergeNotMapping)
		case depth == maxMerges:
			d.report(d.at(part), mergeTooDeep)
		default:
			all = append(all, d.entries(part, depth+1)...)
		}
	}
	return all
}
