// A Reader collects problems while its owner walks the YAML tree.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// MaxSize is the most bytes of a file. What a file costs is bounded by it, and by the count of values.
const MaxSize = 1 << 20

const (
	maxValues   = 200_000 // that are read, aliases expanded: what keeps an alias bomb small
	maxProblems = 200
	maxMerges   = 16 // how deep merge keys nest
)

// Options are what is special about an owner's files. The zero Options are for files that hold no secrets.
type Options struct {
	// Hide says where in a line something begins that may be a secret: the line's length when nothing does. Nothing from there on is shown.
	Hide func(line string) int
	// Refuse says which message tells of an unknown key, given the key and this hint; nil: UnknownKey.
	Refuse func(key string) (of *Message, hint string)
	// Hints are the owner's, in place of those of the Reader's own messages.
	Hints map[*Message]string
}

// Reader reads one file.
type Reader struct {
	file     string
	options  Options
	source   source
	tooLarge bool
	problems Problems
	reported map[reportKey]bool
	values   int
	stopped  bool // too many values or problems: nothing more is read or reported
}

// reportKey tells reports apart: what several aliases show again is reported once.
type reportKey struct {
	line, column int
	of           *Message
	first        string
}

// NewReader reads a file. name stands before each position.
func NewReader(name string, data []byte, options Options) *Reader {
	tooLarge := len(data) > MaxSize
	return &Reader{
		file: name, options: options, tooLarge: tooLarge, source: newSource(data[:min(len(data), MaxSize)], options.Hide), reported: map[reportKey]bool{},
	}
}

// Problems are those reported so far, by position.
func (r *Reader) Problems() Problems {
	r.problems.sort()
	return r.problems
}

// Report adds a problem, unless the same was reported of the same place.
func (r *Reader) Report(at Place, of *Message, args ...any) {
	at = r.source.clamp(at)
	key := reportKey{at.Line, at.Column, of, ""}
	if len(args) > 0 {
		key.first, _ = args[0].(string)
	}
	if r.stopped || r.reported[key] {
		return
	}
	r.reported[key] = true
	if len(r.problems) == maxProblems {
		r.stopped = true
		of, args = TooManyProblems, []any{maxProblems}
	}
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = shorten(text)
		}
	}
	textArgs, hintArgs := of.split(args)
	hint, own := r.options.Hints[of]
	if !own {
		hint = of.Hint
	}
	problem := Problem{
		File: r.file, Line: at.Line, Column: at.Column, Of: of,
		Message: chain.Redact(fmt.Sprintf(of.Text, textArgs...)), Hint: chain.Redact(fmt.Sprintf(hint, hintArgs...)),
	}
	problem.Source, problem.caret, problem.width = r.source.excerpt(at)
	r.problems = append(r.problems, problem)
}

// shorten keeps messages readable when a value is long.
func shorten(text string) string {
	const limit = 200
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}
