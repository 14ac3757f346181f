// Strict readers of single nodes: each returns the zero value after it reported what it found instead.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Text reads a scalar that is text; what names it in messages. A number or a boolean must be quoted, so that nobody's 010 becomes 8.
func (r *Reader) Text(n *yaml.Node, what string) string {
	if !r.want(n, what, yaml.ScalarNode) {
		return ""
	}
	switch {
	case n.ShortTag() != "!!str":
		r.Report(r.At(n), WrongType, what, "text", kindOf(n), fmt.Sprintf("quote it: %q", shorten(n.Value)))
		return ""
	case n.Value == "":
		r.Report(r.At(n), NoValue, what)
	}
	return n.Value
}

// WholeNumber reads a number that is written in decimal digits, so that nobody's 010 becomes 8; what names it in messages.
func (r *Reader) WholeNumber(n *yaml.Node, what string, least, most int) (value int, ok bool) {
	if !r.want(n, what, yaml.ScalarNode) {
		return 0, false
	}
	value, err := strconv.Atoi(n.Value)
	if n.ShortTag() != "!!int" || err != nil || strconv.Itoa(value) != n.Value || value < least || value > most {
		r.Report(r.At(n), BadWholeNumber, what, least, most)
		return 0, false
	}
	return value, true
}

// OptionalText reads a scalar that is text, and may be empty; what names it in messages.
func (r *Reader) OptionalText(n *yaml.Node, what string) string {
	if isEmptyText(n) {
		return ""
	}
	return r.Text(n, what)
}

// want reports a value of another kind, or none at all.
func (r *Reader) want(n *yaml.Node, what string, kind yaml.Kind) bool {
	switch {
	case r.stopped:
		return false
	case IsNull(n):
		r.Report(r.At(n), NoValue, what)
		return false
	case n.Kind == kind && (kind == yaml.ScalarNode || n.Style&yaml.TaggedStyle == 0):
		return true
	}
	wanted := map[yaml.Kind][2]string{
		yaml.MappingNode:  {"a mapping", "write key: value lines below it"},
		yaml.SequenceNode: {"a list", "begin each item with a dash and a space, or write [ITEM, ITEM]"},
		yaml.ScalarNode:   {"a single value", "write one value after the colon"},
	}[kind]
	r.Report(r.At(n), WrongType, what, wanted[0], kindOf(n), wanted[1])
	return false
}

func isEmptyText(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == ""
}

// IsNull reports whether a node is no value at all.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kindOf names what a value is, for people.
func kindOf(n *yaml.Node) string {
	words := map[string]string{
		"!!map": "a mapping", "!!seq": "a list", "!!str": "text", "!!int": "a number", "!!float": "a number", "!!bool": "true or false",
		"!!timestamp": "a date", "!!null": "nothing",
	}
	if word := words[n.ShortTag()]; word != "" && n.Style&yaml.TaggedStyle == 0 {
		return word
	}
	return "a value tagged " + n.ShortTag()
}
