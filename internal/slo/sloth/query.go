// Queries: the placeholder of the window, and where each part of the PromQL stands in the file.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// windowMark stands for {{.window}} while a query is parsed. Nobody writes such a range by hand.
const (
	windowMark     = "20d13h7m11s"
	windowMarkTime = 20*24*time.Hour + 13*time.Hour + 7*time.Minute + 11*time.Second
)

var (
	placeholder       = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	windowPlaceholder = regexp.MustCompile(`^\{\{ *\.window *\}\}$`) // as Sloth's conventions.TplSLIQueryWindowVarRegex
)

// call is one increase or rate over the window of one counter.
type call struct {
	function           string
	selector           string // of the counter, without a range
	start, window, end int    // where the call stands in Query.text, and where in it the range begins
}

// over is the query over a window, as Sloth renders it.
func (q Query) over(window time.Duration) string {
	return strings.ReplaceAll(q.text, windowMark, model.Duration(window).String())
}

// unitOver is the time in which the query counts: rates count in a second, increases in the window.
func (q Query) unitOver(window time.Duration) time.Duration {
	if q.functions() == "rate" {
		return time.Second
	}
	return window
}

// replaced is the query with another expression in place of each call, which is given the selector of its counter.
func (q Query) replaced(with func(selector string) string) string {
	var b strings.Builder
	at := 0
	for _, c := range q.calls {
		b.WriteString(q.text[at:c.start])
		b.WriteString(with(c.selector))
		at = c.end
	}
	b.WriteString(q.text[at:])
	return b.String()
}

// marked is the text of a query with windowMark for each {{.window}}, and what it takes to find a place of it in the original.
type marked struct {
	text  string
	marks []mark
	other []int // where in the original another placeholder stands
}

// mark is one placeholder: where it begins in the marked text and in the original, and how long it is there.
type mark struct{ at, original, length int }

// markWindows replaces the placeholders of a query.
func markWindows(original string) marked {
	var m marked
	var b strings.Builder
	at := 0
	for _, found := range placeholder.FindAllStringIndex(original, -1) {
		if !windowPlaceholder.MatchString(original[found[0]:found[1]]) {
			m.other = append(m.other, found[0])
			continue
		}
		b.WriteString(original[at:found[0]])
		m.marks = append(m.marks, mark{b.Len(), found[0], found[1] - found[0]})
		b.WriteString(windowMark)
		at = found[1]
	}
	b.WriteString(original[at:])
	m.text = b.String()
	return m
}

// original is where a place of the marked text is in the original.
func (m marked) original(at int) int {
	shift := 0
	for _, each := range m.marks {
		switch {
		case at <= each.at:
			return at + shift
		case at < each.at+len(windowMark):
			return each.original
		}
		shift += each.length - len(windowMark)
	}
	return at + shift
}
