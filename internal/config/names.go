// Names: what they look like, that each is declared once, that each reference finds its declaration, and what a misspelt word may have meant.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"gopkg.in/yaml.v3"
)

var nameShape = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,128}$`)

// declared is what one section declares, by name. A value whose declaration has problems is kept, so that references to it are no problem of their own.
type declared[T any] struct {
	what    string // cluster, identity
	values  map[string]T
	places  map[string]place // of the names
	partial bool             // a name could not be read, which was reported: any reference may mean it
}

// declare reads a section of the root: the declarations that read makes of its items, by name.
func declare[T any](root fields, section, what string, read func(item *yaml.Node, i int) (f fields, name string, value T)) *declared[T] {
	all := &declared[T]{what: what, values: map[string]T{}, places: map[string]place{}}
	all.partial = root.has(section) && root.values[section].Kind != yaml.SequenceNode
	for i, item := range root.list(section) {
		f, name, value := read(item, i)
		all.add(f, name, value)
	}
	return all
}

// add declares the value that the fields describe under their name.
func (all *declared[T]) add(f fields, name string, value T) {
	if name == "" { // reported where it was read
		all.partial = true
		return
	}
	at := f.at("name")
	if !nameShape.MatchString(name) {
		f.d.report(at, badName, name)
	}
	if earlier, twice := all.places[name]; twice {
		f.d.report(at, duplicateName, all.what, name, earlier.line, earlier.column)
		return
	}
	all.values[name], all.places[name] = value, at
}

// find looks up the name that a key refers to; ok is false when the key is not given or the name not declared.
func (all *declared[T]) find(f fields, key string) (value T, ok bool) {
	name := f.text(key)
	if name == "" {
		return value, false
	}
	value, ok = all.values[name]
	if !ok && !all.partial {
		f.d.report(f.at(key), unknownReference, all.what, name, didYouMean{name, maps.Keys(all.values)})
	}
	return value, ok
}

// didYouMean is a hint for a word that is not among the known ones. It is worked out only when it is shown.
type didYouMean struct {
	word  string
	known iter.Seq[string]
}

// String names the nearest known word, or else lists the first few.
func (m didYouMean) String() string {
	names := slices.Sorted(m.known)
	if near := nearest(m.word, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	const most = 16 // no mapping has more keys
	switch {
	case len(names) == 0:
		return "none is declared"
	case len(names) > most:
		names = append(names[:most], "…")
	}
	return "known: " + strings.Join(names, ", ")
}

// nearest returns the known word with the smallest edit distance, when no more than a third of the word has to change; of equals the first.
// Long words, and a thousand known ones, are not searched: that keeps a hostile file cheap.
func nearest(word string, known []string) string {
	const longest, most = 64, 1000
	if len(word) > longest || len(known) > most {
		return ""
	}
	limit, near := max(1, len(word)/3), ""
	for _, candidate := range known {
		if len(candidate) > 2*longest {
			continue
		}
		distance := levenshtein.Distance(word, candidate, nil)
		if distance < limit || (distance == limit && near == "") {
			limit, near = distance, candidate
		}
	}
	return near
}
