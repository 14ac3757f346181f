// Below a ladder that is not good stands its explanation: what it means, why, what was ruled out, and the fix to paste.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// textWidth is where prose is wrapped, in columns. The lines of a fix are never wrapped, so that they can be pasted.
const textWidth = 100

// programs begin the lines of a fix that are commands; every other line is a sentence, and becomes a shell comment, so that the whole fix can be pasted.
var programs = []string{"aws", "kubectl", "curl", "dig", "openssl", "chronyc", "sudo"}

func explain(b *strings.Builder, run chain.Run) {
	v := run.Verdict
	row, _ := chain.LookupReason(v.Step, v.Reason)
	listed := run.Facts()[chain.FactRuledOut]
	section(b, "What it means", wrap(row.Meaning, textIndent))
	section(b, "Why", wrap(strings.Replace(v.Detail, "; ruled out: "+listed, "", 1), textIndent))
	section(b, "Ruled out", bullets(ruledOut(run.Steps, row, listed)))
	section(b, "Fix", fixLines(v.Fix))
}

// ruledOut lists the steps that worked, then what the run itself ruled out; where it listed nothing, what the reason rules out by itself.
func ruledOut(steps []chain.StepResult, row chain.ReasonInfo, listed string) []string {
	var worked, items []string
	for _, s := range steps {
		if s.Outcome == chain.OutcomeSuccess {
			worked = append(worked, s.Step.String())
		}
	}
	if len(worked) > 0 {
		items = append(items, strings.Join(worked, ", ")+": worked in this run")
	}
	if listed != "" {
		return append(items, strings.Split(listed, "; ")...)
	}
	if _, told, ok := strings.Cut(row.Evidence, "Ruled out: "); ok && !strings.HasPrefix(told, "{") {
		items = append(items, strings.TrimSuffix(told, "."))
	}
	return items
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

func fixLines(fix string) []string {
	var lines []string
	for line := range strings.Lines(fix) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "Ruled out: ") { // it has a section of its own
			continue
		}
		if program, _, _ := strings.Cut(line, " "); !slices.Contains(programs, program) {
			line = "# " + line
		}
		lines = append(lines, line)
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
