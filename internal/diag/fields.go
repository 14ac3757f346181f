// Strict readers of what stands under a key: each returns the zero value after it reported what it found instead.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
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
		if !slices.Contains(known, e.Name) {
			r.unknown(e, known)
			continue
		}
		f.values[e.Name], f.keys[e.Name] = e.Value, e.Key
	}
	return f
}

// unknown reports a key that is not known.
func (r *Reader) unknown(e Entry, known []string) {
	if r.options.Refuse != nil {
		if of, hint := r.options.Refuse(e.Name); of != nil {
			r.Report(r.At(e.Key), of, e.Name, hint)
			return
		}
	}
	r.Report(r.At(e.Key), UnknownKey, e.Name, DidYouMean{e.Name, slices.Values(known)})
}

// IsMapping reports whether the fields are those of a mapping; when not, that was reported, and missing keys are no news.
func (f Fields) IsMapping() bool { return f.node.Kind == yaml.MappingNode }

// Has reports whether a key is given.
func (f Fields) Has(key string) bool { return f.values[key] != nil }

// Node is the value of a key, aliases followed; nil when it is not given.
func (f Fields) Node(key string) *yaml.Node { return f.values[key] }

// At is the place of a key's value, or of the whole mapping when the key is not given.
func (f Fields) At(key string) Place {
	if n := f.values[key]; n != nil {
		return f.r.At(n)
	}
	return f.Place()
}

// Place is that of the whole mapping.
func (f Fields) Place() Place { return f.r.At(f.node) }

// AtKey is the place of a key that is given.
func (f Fields) AtKey(key string) Place { return f.r.At(f.keys[key]) }

// Require reports a key that is not given, with a hint of what it is.
func (f Fields) Require(key, hint string) {
	if f.IsMapping() && !f.Has(key) {
		f.r.Report(f.Place(), MissingKey, key, hint)
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
	return f.r.Text(f.values[key], key)
}

// Optional reads a text that may be empty; "" also when it is not given.
func (f Fields) Optional(key string) string {
	if !f.Has(key) {
		return ""
	}
	return f.r.OptionalText(f.values[key], key)
}

// Scalar is the node of a single value, of whatever type; nil when it is not given or something else, which is reported.
func (f Fields) Scalar(key string) *yaml.Node {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.ScalarNode) {
		return nil
	}
	return n
}

// Flag reads true or false; false when it is not given.
func (f Fields) Flag(key string) bool {
	n := f.Scalar(key)
	if n == nil {
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
	n := f.Scalar(key)
	if n == nil {
		return ""
	}
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" {
		f.r.Report(f.r.At(n), WrongType, key, "a number", kindOf(n), "write a decimal number, without quotes or a unit")
		return ""
	}
	return n.Value
}

// Duration reads a duration in Prometheus' notation; otherwise when it is not given or wrong, and ok tells whether it was given right.
func (f Fields) Duration(key string, otherwise time.Duration) (value time.Duration, ok bool) {
	n := f.Scalar(key)
	if n == nil {
		return otherwise, false
	}
	parsed, err := model.ParseDuration(n.Value)
	if err != nil {
		f.r.Report(f.r.At(n), BadDuration, key, n.Value)
		return otherwise, false
	}
	return time.Duration(parsed), true
}

// WholeNumber reads a whole number from least to most; otherwise when it is not given or wrong.
func (f Fields) WholeNumber(key string, otherwise, least, most int) int {
	if !f.Has(key) {
		return otherwise
	}
	if value, ok := f.r.WholeNumber(f.values[key], key, least, most); ok {
		return value
	}
	return otherwise
}

// Choice reads one of a closed set of words; otherwise when it is not given or wrong.
func Choice[T ~string](f Fields, key string, known []T, otherwise T) T {
	text := f.Text(key)
	if text == "" {
		return otherwise
	}
	if !slices.Contains(known, T(text)) {
		names := make([]string, len(known))
		for i, k := range known {
			names[i] = string(k)
		}
		f.r.Report(f.At(key), UnknownChoice, key, text, DidYouMean{text, slices.Values(names)})
		return otherwise
	}
	return T(text)
}
