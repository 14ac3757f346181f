// Names: what they look like, that each is declared once, and that each reference finds its declaration.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

var nameShape = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,128}$`)

// declared is what one section declares, by name. A value whose declaration has problems is kept, so that references to it are no problem of their own.
type declared[T any] struct {
	d       *decoder
	what    string // cluster, identity
	values  map[string]T
	places  map[string]diag.Place // of the names
	partial bool                  // a name could not be read, which was reported: any reference may mean it
}

// declare reads a section of the root: the declarations that read makes of its items, by name.
func declare[T any](d *decoder, root diag.Fields, section, what string, read func(item *yaml.Node, i int) (f diag.Fields, name string, value T)) *declared[T] {
	all := &declared[T]{d: d, what: what, values: map[string]T{}, places: map[string]diag.Place{}}
	all.partial = root.Has(section) && root.Node(section).Kind != yaml.SequenceNode
	for i, item := range root.List(section) {
		f, name, value := read(item, i)
		all.add(f, name, value)
	}
	return all
}

// add declares the value that the fields describe under their name.
func (all *declared[T]) add(f diag.Fields, name string, value T) {
	if name == "" { // reported where it was read
		all.partial = true
		return
	}
	at := f.At("name")
	if !nameShape.MatchString(name) {
		all.d.Report(at, badName, name)
	}
	if earlier, twice := all.places[name]; twice {
		all.d.Report(at, duplicateName, all.what, name, earlier.Line, earlier.Column)
		return
	}
	all.values[name], all.places[name] = value, at
}

// find looks up the name that a key refers to; ok is false when the key is not given or the name not declared.
func (all *declared[T]) find(f diag.Fields, key string) (value T, ok bool) {
	name := f.Text(key)
	if name == "" {
		return value, false
	}
	value, ok = all.values[name]
	if !ok && !all.partial {
		all.d.Report(f.At(key), unknownReference, all.what, name, diag.DidYouMean{Word: name, Known: maps.Keys(all.values)})
	}
	return value, ok
}
