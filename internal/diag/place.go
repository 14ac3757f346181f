// Where nodes, and parts of them, stand in the source.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

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

// Within is the place of a part of a scalar, from one byte of its value to before another, at most to the end of its line; the whole scalar where the source spells what is before the part otherwise.
func (r *Reader) Within(n *yaml.Node, from, to int) Place {
	from = min(max(from, 0), len(n.Value))
	part, _, _ := strings.Cut(n.Value[from:min(max(to, from), len(n.Value))], "\n")
	width := max(utf8.RuneCountInString(part), 1)
	if n.Style&yaml.LiteralStyle != 0 {
		return r.withinBlock(n, from, width)
	}
	skip, ok := r.written(n, n.Value[:from]+part)
	if !ok && from > 0 { // an escape in the part itself leaves its beginning where it is
		skip, ok = r.written(n, n.Value[:from])
	}
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
