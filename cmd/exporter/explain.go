// Below a ladder that is not good stands its explanation: what it means, why, what was ruled out, and the fix to paste.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// textWidth is where prose is wrapped, in columns. The lines of a fix are never wrapped, so that they can be pasted.
const textWidth = 100

func explain(b *strings.Builder, run chain.Run) {
	told := results.Explain(run)
	section(b, "What it means", wrap(told.Meaning, textIndent))
	section(b, "Why", wrap(told.Why, textIndent))
	section(b, "Ruled out", bullets(told.RuledOut))
	section(b, "Fix", pasteable(told.Fix))
}

func bullets(items []string) []string {
	var lines []string
	for _, item := range items {
		for i, line := range wrap(item, textIndent+2) {
			lines = append(lines, []string{"- ", "  "}[min(i, 1)]+line)
		}
	}
	return lines
}

// pasteable makes each sentence of a fix a shell comment, so that the whole can be pasted.
func pasteable(fix []results.FixLine) []string {
	var lines []string
	for _, line := range fix {
		if !line.Command {
			line.Text = "# " + line.Text
		}
		lines = append(lines, line.Text)
	}
	return lines
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 || lines[0] == "" {
		return
	}
	b.WriteString("\n  " + title + "\n")
	writeLines(b, textIndent, lines)
}

func writeLines(b *strings.Builder, indent int, lines []string) {
	for _, line := range lines {
		b.WriteString(strings.Repeat(" ", indent) + line + "\n")
	}
}

// wrap breaks text between words, so that with its indent no line passes textWidth, but for a word that is longer. There is always a first line.
func wrap(text string, indent int) []string { return fill(strings.Fields(text), indent) }

// wrapItems joins items by commas and breaks between them; within one only when it does not fit a line.
func wrapItems(items []string, indent int) []string {
	var words []string
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if indent+utf8.RuneCountInString(item) > textWidth {
			words = append(words, strings.Fields(item)...)
		} else {
			words = append(words, item)
		}
	}
	return fill(words, indent)
}

func fill(words []string, indent int) []string {
	lines := []string{""}
	for _, word := range words {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case indent+utf8.RuneCountInString(*last+" "+word) > textWidth:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}
