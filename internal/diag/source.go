// The source text: its lines, what is checked before YAML reads them, and the excerpts that problems show.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is a position in the source: line and column from 1, and how many code points it spans. The zero Place is the file's beginning.
type Place struct{ Line, Column, Width int }

// source is the text of a file by lines, without their ends.
type source struct {
	lines   []string
	columns [][]int               // line → byte where each column begins, and where the line ends; nil for a line of ASCII
	hide    func(line string) int // where in a line something begins that may be a secret; nil: nowhere
	hidden  map[int]int           // line → what hide said
}

const byteOrderMark = "\uFEFF"

func newSource(data []byte, hide func(line string) int) source {
	lines := strings.Split(strings.TrimPrefix(string(data), byteOrderMark), "\n")
	columns := make([][]int, len(lines))
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
		columns[i] = columnsOf(lines[i])
	}
	return source{lines, columns, hide, map[int]int{}}
}

func columnsOf(line string) []int {
	if !strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	columns := make([]int, 0, len(line)+1)
	for at := range line { // an invalid byte is a column
		columns = append(columns, at)
	}
	return append(columns, len(line))
}

// text is what YAML reads: lines end with LF, so that YAML's line numbers are ours.
func (s source) text() string { return strings.Join(s.lines, "\n") }

// length is the number of columns of a line.
func (s source) length(line int) int {
	if columns := s.columns[line-1]; columns != nil {
		return len(columns) - 1
	}
	return len(s.lines[line-1])
}

// between is the part of a line from one column to before another, both from 1.
func (s source) between(line, from, to int) string {
	from, to = from-1, to-1
	if columns := s.columns[line-1]; columns != nil {
		from, to = columns[from], columns[to]
	}
	return s.lines[line-1][from:to]
}

// clamp moves a place into the source. A column may be one past the end of its line.
func (s source) clamp(at Place) Place {
	at.Line = min(max(at.Line, 1), len(s.lines))
	at.Column = min(max(at.Column, 1), s.length(at.Line)+1)
	return at
}

// rest is a line from a place on.
func (s source) rest(at Place) string {
	at = s.clamp(at)
	return s.between(at.Line, at.Column, s.length(at.Line)+1)
}

// firstWord is the place of the first character of a line that is not blank.
func (s source) firstWord(line int) Place {
	text := s.lines[line-1]
	return Place{Line: line, Column: 1 + len(text) - len(strings.TrimLeft(text, " \t")), Width: 1}
}

const (
	excerptLimit = 160 // code points of a line that a problem shows
	excerptLead  = 60  // of them before the caret
	redacted     = "[redacted]"
)

// excerpt returns the line of a place as it may be shown, where in it the caret stands, and how long the underline is; 0 when the place is not shown.
func (s source) excerpt(at Place) (text string, caret, length int) {
	total, open := s.length(at.Line), s.openUntil(at.Line)
	first := 1
	if total > excerptLimit {
		first = min(max(at.Column-excerptLead, 1), open)
	}
	last := min(first+excerptLimit, open) // the column after the last one shown
	text = strings.Map(printable, s.between(at.Line, first, last))
	caret, length = at.Column-first, min(max(at.Width, 1), last-at.Column)
	switch {
	case last <= total && last == open:
		text += redacted
		if at.Column == open {
			length = len(redacted)
		}
	case last <= total:
		text += "…"
	case at.Column == last: // just past the end
		length = 1
	}
	if first > 1 {
		text, caret = "…"+text, caret+1
	}
	return text, caret, max(length, 0)
}

// printable keeps control characters, and what is no character, off the user's terminal.
func printable(r rune) rune {
	if r != '\t' && !unicode.IsPrint(r) {
		return utf8.RuneError
	}
	return r
}

// openUntil is the column of a line where something begins that may be a secret; nothing from there on is shown.
func (s source) openUntil(line int) int {
	if s.hide == nil {
		return s.length(line) + 1
	}
	start, known := s.hidden[line]
	if !known {
		start = s.hide(s.lines[line-1])
		s.hidden[line] = start
	}
	return utf8.RuneCountInString(s.lines[line-1][:start]) + 1
}
