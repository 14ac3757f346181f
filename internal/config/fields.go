// Strict readers of YAML values: each returns the zero value after it reported what it found instead.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"
)

// fields are the entries of one mapping whose keys the schema knows; the others were reported.
type fields struct {
	d      *decoder
	node   *yaml.Node
	values map[string]*yaml.Node
	keys   map[string]*yaml.Node
}

// mapping reads a mapping. what names it in messages; known are its keys.
func (d *decoder) mapping(n *yaml.Node, what string, known ...string) fields {
	f := fields{d, n, map[string]*yaml.Node{}, map[string]*yaml.Node{}}
	if !d.want(n, what, yaml.MappingNode) {
		return f
	}
	for _, e := range d.entries(n, 0) {
		switch at := d.at(e.key); {
		case slices.Contains(known, e.name):
			f.values[e.name], f.keys[e.name] = e.value, e.key
		case isSecretKey(e.name):
			d.report(at, secretKey, e.name, secretHint(e.name))
		default:
			d.report(at, unknownKey, e.name, didYouMean{e.name, slices.Values(known)})
		}
	}
	return f
}

// isMapping reports whether the fields are those of a mapping; when not, that was reported, and missing keys are no news.
func (f fields) isMapping() bool { return f.node.Kind == yaml.MappingNode }

// has reports whether a key is given.
func (f fields) has(key string) bool { return f.values[key] != nil }

// at is the place of a key's value, or of the whole mapping when the key is not given.
func (f fields) at(key string) place {
	if n := f.values[key]; n != nil {
		return f.d.at(n)
	}
	return f.d.at(f.node)
}

// atKey is the place of a key that is given.
func (f fields) atKey(key string) place { return f.d.at(f.keys[key]) }

// require reports a key that is not given, with a hint of what it is.
func (f fields) require(key, hint string) {
	if f.isMapping() && !f.has(key) {
		f.d.report(f.d.at(f.node), missingKey, key, hint)
	}
}

// text reads a text; "" when it is not given.
func (f fields) text(key string) string {
	if !f.has(key) {
		return ""
	}
	return f.d.text(f.values[key], key)
}

// optional reads a text that may be empty; "" also when it is not given.
func (f fields) optional(key string) string {
	if n := f.values[key]; n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == "" {
		return ""
	}
	return f.text(key)
}

// list reads the items of a list, aliases followed.
func (f fields) list(key string) []*yaml.Node {
	n := f.values[key]
	if n == nil || !f.d.want(n, key, yaml.SequenceNode) {
		return nil
	}
	items := make([]*yaml.Node, 0, len(n.Content))
	for _, item := range n.Content {
		if f.d.stopped {
			break
		}
		items = append(items, f.d.follow(item))
	}
	return items
}

// texts reads a list of texts, none of them twice.
func (f fields) texts(key string) []string {
	var all []string
	first := map[string]place{}
	for i, item := range f.list(key) {
		text := f.d.text(item, fmt.Sprintf("%s[%d]", key, i))
		if earlier, twice := first[text]; twice && text != "" {
			f.d.report(f.d.at(item), listedTwice, key, text, earlier.line, earlier.column)
			continue
		}
		if text != "" {
			first[text] = f.d.at(item)
			all = append(all, text)
		}
	}
	return all
}

// duration reads a duration in Prometheus' notation; otherwise when it is not given or wrong, and ok tells whether it was given right.
func (f fields) duration(key string, otherwise time.Duration) (value time.Duration, ok bool) {
	n := f.values[key]
	if n == nil || !f.d.want(n, key, yaml.ScalarNode) {
		return otherwise, false
	}
	parsed, err := model.ParseDuration(n.Value)
	if err != nil {
		f.d.report(f.d.at(n), badDuration, key, n.Value)
		return otherwise, false
	}
	return time.Duration(parsed), true
}

// rate reads a number of requests per second.
func (f fields) rate(key string, otherwise float64) float64 {
	const least, most = 0.01, 1000 // less than a read in a hundred seconds reads nothing in time
	n := f.values[key]
	if n == nil || !f.d.want(n, key, yaml.ScalarNode) {
		return otherwise
	}
	value, err := strconv.ParseFloat(n.Value, 64)
	if tag := n.ShortTag(); (tag != "!!int" && tag != "!!float") || err != nil || math.IsNaN(value) || value < least || value > most {
		f.d.report(f.d.at(n), badRate, key)
		return otherwise
	}
	return value
}

// wholeNumber reads a whole number from least to most; otherwise when it is not given or wrong.
func (f fields) wholeNumber(key string, otherwise, least, most int) int {
	if !f.has(key) {
		return otherwise
	}
	if value, ok := f.d.wholeNumber(f.values[key], key, least, most); ok {
		return value
	}
	return otherwise
}

// choice reads one of a closed set of words; otherwise when it is not given or wrong.
func choice[T ~string](f fields, key string, known []T, otherwise T) T {
	text := f.text(key)
	if text == "" {
		return otherwise
	}
	if !slices.Contains(known, T(text)) {
		names := make([]string, len(known))
		for i, k := range known {
			names[i] = string(k)
		}
		f.d.report(f.at(key), unknownChoice, key, text, didYouMean{text, slices.Values(names)})
		return otherwise
	}
	return T(text)
}

// text reads a scalar that is text. A number or a boolean must be quoted, so that nobody's 010 becomes 8.
func (d *decoder) text(n *yaml.Node, what string) string {
	if !d.want(n, what, yaml.ScalarNode) {
		return ""
	}
	switch {
	case n.ShortTag() != "!!str":
		d.report(d.at(n), wrongType, what, "text", kindOf(n), fmt.Sprintf("quote it: %q", shorten(n.Value)))
		return ""
	case n.Value == "":
		d.report(d.at(n), noValue, what)
	}
	return n.Value
}

// wholeNumber reads a number that is written in decimal digits, so that nobody's 010 becomes 8.
func (d *decoder) wholeNumber(n *yaml.Node, what string, least, most int) (value int, ok bool) {
	if !d.want(n, what, yaml.ScalarNode) {
		return 0, false
	}
	value, err := strconv.Atoi(n.Value)
	if n.ShortTag() != "!!int" || err != nil || strconv.Itoa(value) != n.Value || value < least || value > most {
		d.report(d.at(n), badWholeNumber, what, least, most)
		return 0, false
	}
	return value, true
}

// want reports a value of another kind, or none at all.
func (d *decoder) want(n *yaml.Node, what string, kind yaml.Kind) bool {
	switch {
	case d.stopped:
		return false
	case isNull(n):
		d.report(d.at(n), noValue, what)
		return false
	case n.Kind == kind && (kind == yaml.ScalarNode || n.Style&yaml.TaggedStyle == 0):
		return true
	}
	wanted := map[yaml.Kind][2]string{
		yaml.MappingNode:  {"a mapping", "write key: value lines below it"},
		yaml.SequenceNode: {"a list", "begin each item with a dash and a space, or write [ITEM, ITEM]"},
		yaml.ScalarNode:   {"a single value", "write one value after the colon"},
	}[kind]
	d.report(d.at(n), wrongType, what, wanted[0], kindOf(n), wanted[1])
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
