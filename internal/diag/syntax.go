// YAML's own part: checks before it reads the text, the one document, and where a syntax error is.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Document returns the root of the one document of the file, or nil when that was reported to be unreadable.
func (r *Reader) Document() *yaml.Node {
	if !r.readable() {
		return nil
	}
	documents := yaml.NewDecoder(strings.NewReader(r.source.text()))
	var first, second yaml.Node
	switch err := documents.Decode(&first); {
	case errors.Is(err, io.EOF):
		r.Report(Place{}, EmptyFile)
		return nil
	case err != nil:
		r.reportSyntax(err)
		return nil
	}
	switch err := documents.Decode(&second); {
	case err == nil:
		r.Report(Place{Line: second.Line, Column: second.Column}, SecondDocument)
	case !errors.Is(err, io.EOF):
		r.reportSyntax(err)
		return nil
	}
	root := first.Content[0]
	if IsNull(root) {
		r.Report(Place{}, EmptyFile)
		return nil
	}
	return r.follow(root)
}

var tabIndentation = regexp.MustCompile(`^ *(\t)[ \t]*[^# \t]`)

// readable checks what would keep YAML from reading the text, or would make its line numbers differ from an editor's.
func (r *Reader) readable() bool {
	before := len(r.problems)
	if r.tooLarge {
		r.Report(Place{}, FileTooLarge)
		return false
	}
	for i, line := range r.source.lines {
		at := Place{Line: i + 1, Width: 1}
		if found := tabIndentation.FindStringSubmatchIndex(line); found != nil {
			at.Column = found[2] + 1
			r.Report(at, TabIndent)
		}
		column := 0
		for offset, char := range line {
			column++
			at.Column = column
			if char == utf8.RuneError && !strings.HasPrefix(line[offset:], "\uFFFD") {
				r.Report(at, NotUTF8, line[offset])
				return false // the rest of such a file is noise
			}
			if isForbidden(char) {
				r.Report(at, ControlCharacter, char)
				break
			}
		}
	}
	return len(r.problems) == before
}

// isForbidden reports whether YAML refuses a character (YAML 1.2, section 5.1), or ends a line there while editors do not.
func isForbidden(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f, r == '\u2028', r == '\u2029', r == '\uFEFF', r == '\uFFFE', r == '\uFFFF':
		return true
	}
	return false
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s).*)$`)

// syntaxOf parts an error of the YAML library into its line (1 when it names none) and its text.
func syntaxOf(err error) (line int, text string) {
	match := yamlError.FindStringSubmatch(err.Error())
	if match == nil {
		return 1, err.Error()
	}
	line, _ = strconv.Atoi(match[1])
	return max(line, 1), match[2]
}

// reportSyntax reports a syntax error at the line that brought it in.
//
// The library names the line where the broken collection begins, or the one before it. So the line is searched between there and the end: the first whose text,
// with all that stands above it, ends in the same error.
func (r *Reader) reportSyntax(err error) {
	low, what := syntaxOf(err)
	low = min(low, len(r.source.lines))
	breaks := func(line int) bool {
		_, got := syntaxOf(parseAll(strings.Join(r.source.lines[:line], "\n")))
		return got == what
	}
	if low == len(r.source.lines) && breaks(1) {
		low = 1 // a quote that is opened on the first line is reported at the end
	}
	line := low
	if !breaks(low) {
		line += sort.Search(len(r.source.lines)-low, func(i int) bool { return breaks(low + i) })
	}
	at := r.source.firstWord(line)
	at.Width = utf8.RuneCountInString(strings.TrimRight(r.source.rest(at), " \t"))
	r.Report(at, SyntaxError, what)
}

// errParsed is what parseAll returns for a text without errors.
var errParsed = errors.New("no error")

func parseAll(text string) error {
	documents := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		switch err := documents.Decode(&document); {
		case errors.Is(err, io.EOF):
			return errParsed
		case err != nil:
			return err
		}
	}
}
