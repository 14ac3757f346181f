// The source text: its lines, what is checked before YAML reads them, and the excerpts that problems show.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is a position in the source: line and column from 1, and how many code points it spans.
type place struct{ line, column, width int }

// source is the text of a configuration file by lines, without their ends.
type source struct {
	lines   []string
	columns [][]int     // line → byte where each column begins, and where the line ends; nil for a line of ASCII
	secret  map[int]int // line → byte where something secret begins; filled as lines are shown
}

const byteOrderMark = "\uFEFF"

func newSource(data []byte) source {
	lines := strings.Split(strings.TrimPrefix(string(data), byteOrderMark), "\n")
	columns := make([][]int, len(lines))
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
		columns[i] = columnsOf(lines[i])
	}
	return source{lines, columns, map[int]int{}}
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
func (s source) clamp(at place) place {
	at.line = min(max(at.line, 1), len(s.lines))
	at.column = min(max(at.column, 1), s.length(at.line)+1)
	return at
}

// rest is a line from a place on.
func (s source) rest(at place) string {
	at = s.clamp(at)
	return s.between(at.line, at.column, s.length(at.line)+1)
}

// firstWord is the place of the first character of a line that is not blank.
func (s source) firstWord(line int) place {
	text := s.lines[line-1]
	return place{line: line, column: 1 + len(text) - len(strings.TrimLeft(text, " \t")), width: 1}
}

const (
	excerptLimit = 160 // code points of a line that a problem shows
	excerptLead  = 60  // of them before the caret
	redacted     = "[redacted]"
)

// excerpt returns the line of a place as it may be shown, where in it the caret stands, and how long the underline is; 0 when the place is not shown.
func (s source) excerpt(at place) (text string, caret, length int) {
	total, open := s.length(at.line), s.openUntil(at.line)
	first := 1
	if total > excerptLimit {
		first = min(max(at.column-excerptLead, 1), open)
	}
	last := min(first+excerptLimit, open) // the column after the last one shown
	text = strings.Map(printable, s.between(at.line, first, last))
	caret, length = at.column-first, min(max(at.width, 1), last-at.column)
	switch {
	case last <= total && last == open:
		text += redacted
		if at.column == open {
			length = len(redacted)
		}
	case last <= total:
		text += "…"
	case at.column == last: // just past the end
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
	start, known := s.secret[line]
	if !known {
		start = secretStart(s.lines[line-1])
		s.secret[line] = start
	}
	return utf8.RuneCountInString(s.lines[line-1][:start]) + 1
}
