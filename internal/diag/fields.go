// Strict readers of YAML values: each returns the zero value after it reported what it found instead.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"
)

// Fields are the entries of one mapping whose keys the owner knows; the others were reported.
type Fields struct {
	r      *Reader
	node   *yaml.Node
	values map[string]*yaml.Node
	keys   map[string]*yaml.Node
}

// Mapping reads a mapping. what names it in messages; known are its keys.
func (r *Reader) Mapping(n *yaml.Node, what string, known ...string) Fields {
	f := Fields{r, n, map[string]*yaml.Node{}, map[string]*yaml.Node{}}
	if !r.want(n, what, yaml.MappingNode) {
		return f
	}
	for _, e := range r.entries(n, 0) {
		if !slices.Contains(known, e.name) {
			r.Report(r.At(e.key), UnknownKey, e.name, DidYouMean{e.name, slices.Values(known)})
			continue
		}
		f.values[e.name], f.keys[e.name] = e.value, e.key
	}
	return f
}

// Has reports whether a key is given.
func (f Fields) Has(key string) bool { return f.values[key] != nil }

// Node is the value of a key, aliases followed; nil when it is not given.
func (f Fields) Node(key string) *yaml.Node { return f.values[key] }

// At is the place of a key's value, or of the whole mapping when the key is not given.
func (f Fields) At(key string) Place {
	if n := f.values[key]; n != nil {
		return f.r.At(n)
	}
	return f.r.At(f.node)
}

// AtKey is the place of a key that is given.
func (f Fields) AtKey(key string) Place { return f.r.At(f.keys[key]) }

// Require reports a key that is not given, with a hint of what it is.
func (f Fields) Require(key, hint string) {
	if f.node.Kind == yaml.MappingNode && !f.Has(key) {
		f.r.Report(f.r.At(f.node), MissingKey, key, hint)
	}
}

// Mapping reads a mapping under a key; without entries when it is not given.
func (f Fields) Mapping(key string, known ...string) Fields {
	if !f.Has(key) {
		return Fields{f.r, f.node, nil, nil}
	}
	return f.r.Mapping(f.values[key], key, known...)
}

// Text reads a text; "" when it is not given.
func (f Fields) Text(key string) string {
	if !f.Has(key) {
		return ""
	}
	return f.r.text(f.values[key], key)
}

// Flag reads true or false; false when it is not given.
func (f Fields) Flag(key string) bool {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.ScalarNode) {
		return false
	}
	var value bool
	if n.ShortTag() != "!!bool" || n.Decode(&value) != nil {
		f.r.Report(f.r.At(n), WrongType, key, "true or false", kindOf(n), "write true or false, without quotes")
	}
	return value
}

// Number reads a decimal number as it is written; "" when it is not given.
func (f Fields) Number(key string) string {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.ScalarNode) {
		return ""
	}
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" {
		f.r.Report(f.r.At(n), WrongType, key, "a number", kindOf(n), "write a decimal number, without quotes or a unit")
		return ""
	}
	return n.Value
}

// List reads the items of a list, aliases followed.
func (f Fields) List(key string) []*yaml.Node {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.SequenceNode) {
		return nil
	}
	items := make([]*yaml.Node, 0, len(n.Content))
	for _, item := range n.Content {
		if f.r.stopped {
			break
		}
		items = append(items, f.r.follow(item))
	}
	return items
}

// Pair is one entry of a mapping from text to text.
type Pair struct {
	Name, Value string
	Key, Node   *yaml.Node
}

// Pairs reads a mapping from text to text, whose keys are the user's own, in the order of the file.
func (f Fields) Pairs(key string) []Pair {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.MappingNode) {
		return nil
	}
	var pairs []Pair
	for _, e := range f.r.entries(n, 0) {
		pairs = append(pairs, Pair{e.name, f.r.text(e.value, fmt.Sprintf("%s.%s", key, e.name)), e.key, e.value})
	}
	return pairs
}

// Duration reads a duration in Prometheus' notation; otherwise when it is not given or wrong, and ok tells whether it was given right.
func (f Fields) Duration(key string, otherwise time.Duration) (value time.Duration, ok bool) {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.ScalarNode) {
		return otherwise, false
	}
	parsed, err := model.ParseDuration(n.Value)
	if err != nil {
		f.r.Report(f.r.At(n), BadDuration, key, n.Value)
		return otherwise, false
	}
	return time.Duration(parsed), true
}

// text reads a scalar that is text. A number or a boolean must be quoted, so that nobody's 010 becomes 8.
func (r *Reader) text(n *yaml.Node, what string) string {
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

// want reports a value of another kind, or none at all.
func (r *Reader) want(n *yaml.Node, what string, kind yaml.Kind) bool {
	switch {
	case r.stopped:
		return false
	case isNull(n):
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

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

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
