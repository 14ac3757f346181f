// Strict readers of lists, and of mappings whose keys are the user's own.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

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

// Texts reads a list of texts, none of them twice.
func (f Fields) Texts(key string) []string {
	var all []string
	first := map[string]Place{}
	for i, item := range f.List(key) {
		text := f.r.Text(item, fmt.Sprintf("%s[%d]", key, i))
		if earlier, twice := first[text]; twice && text != "" {
			f.r.Report(f.r.At(item), ListedTwice, key, text, earlier.Line, earlier.Column)
			continue
		}
		if text != "" {
			first[text] = f.r.At(item)
			all = append(all, text)
		}
	}
	return all
}

// Entries reads a mapping whose keys are the user's own and whose values are of any kind, in the order of the file; ok is false when it is not given or no mapping, which is reported.
func (f Fields) Entries(key string) (entries []Entry, ok bool) {
	n := f.values[key]
	if n == nil || !f.r.want(n, key, yaml.MappingNode) {
		return nil, false
	}
	return f.r.entries(n, 0), true
}

// Pair is one entry of a mapping from text to text.
type Pair struct {
	Name, Value string
	Key, Node   *yaml.Node
}

// Pairs reads a mapping from text to text, whose keys are the user's own, in the order of the file.
func (f Fields) Pairs(key string) []Pair {
	entries, _ := f.Entries(key)
	var pairs []Pair
	for _, e := range entries {
		pairs = append(pairs, Pair{e.Name, f.r.Text(e.Value, fmt.Sprintf("%s.%s", key, e.Name)), e.Key, e.Value})
	}
	return pairs
}
