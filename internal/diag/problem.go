// Problems are a user's mistakes: each with its position, its wording, a hint, and the source line with a caret under it.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Message is the wording of one mistake; its address tells it from others. The verbs of Text take the first arguments of a report, those of Hint take the rest.
type Message struct{ Text, Hint string }

// split parts a report's arguments into those of the text and those of the hint.
func (m *Message) split(args []any) (text, hint []any) {
	n := min(strings.Count(m.Text, "%")-2*strings.Count(m.Text, "%%"), len(args))
	return args[:n], args[n:]
}

// Problem is one mistake in a file.
//
// Line and Column count from 1. A column is a Unicode code point, as editors count, not a byte; a tab is one column.
type Problem struct {
	File         string
	Line, Column int
	Of           *Message // whose wording this is
	Message      string
	Hint         string
	Source       string // the line, or the part of it around Column; what may be a secret is left out

	caret int // where Column is in Source, in code points from 0
	width int // code points to underline; 0: no caret
}

// String formats the problem: position and message, source line, caret, hint.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	gutter := fmt.Sprintf("  %d ", p.Line)
	blank := strings.Repeat(" ", len(gutter))
	shown := strings.TrimSpace(p.Source) != ""
	if shown {
		fmt.Fprintf(&b, "\n%s| %s", gutter, p.Source)
	}
	if shown && p.width > 0 {
		fmt.Fprintf(&b, "\n%s| %s", blank, underline(p.Source, p.caret, p.width))
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "\n%shint: %s", blank, p.Hint)
	}
	return b.String()
}

// underline draws carets under a part of a line. Tabs are kept, so that they take the same room in both lines; wide characters get two cells, combining ones none.
func underline(line string, caret, length int) string {
	var b strings.Builder
	at := 0
	for _, r := range line {
		switch {
		case at < caret && r == '\t':
			b.WriteByte('\t')
		case at < caret:
			b.WriteString(strings.Repeat(" ", cells(r)))
		case at < caret+length:
			b.WriteString(strings.Repeat("^", cells(r)))
		}
		at++
	}
	if at <= caret { // just past the end of the line
		b.WriteByte('^')
	}
	return b.String()
}

// cells returns how many cells of a terminal a character takes (Unicode Standard Annex 11).
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case width.LookupRune(r).Kind() == width.EastAsianWide || width.LookupRune(r).Kind() == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Problems are all mistakes of one file, in the order of their positions.
type Problems []Problem

// Error implements error: one block a problem.
func (p Problems) Error() string {
	blocks := make([]string, len(p))
	for i, problem := range p {
		blocks[i] = problem.String()
	}
	return strings.Join(blocks, "\n")
}

// sort puts problems in the order of their positions.
func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
}
