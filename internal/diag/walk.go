// How the YAML tree is walked: aliases are followed and counted, duplicate keys found, merges flattened.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import "gopkg.in/yaml.v3"

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

// Entry is one key of a mapping with its value, both without aliases.
type Entry struct {
	Name       string
	Key, Value *yaml.Node
}

// entries lists a mapping, merged keys last. Duplicate keys and keys that are no text are reported and left out.
func (r *Reader) entries(n *yaml.Node, depth int) []Entry {
	var own, merged []Entry
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
			own = append(own, Entry{key.Value, key, value})
		}
	}
	for _, e := range merged {
		if _, taken := first[e.Name]; !taken {
			first[e.Name] = r.At(e.Key)
			own = append(own, e)
		}
	}
	return own
}

// merged lists what a merge key brings in: a mapping, or a list of mappings of which the first wins.
func (r *Reader) merged(n *yaml.Node, depth int) []Entry {
	parts := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		parts = n.Content
	}
	var all []Entry
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
