// A gate's decision for GitHub Actions: a workflow command, the outputs of a step, and a summary in Markdown. Foreign text can be none of it.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// What GitHub's runner unescapes in a workflow command: in its message, and also in its properties.
var (
	commandMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// gateCommand annotates the run: an error when the change is held up, a warning when something else than the budgets allows it, else a notice.
func gateCommand(d slo.Decision) string {
	level := "error"
	switch {
	case d.Answer == slo.Allow && d.Exception() != "":
		level = "warning"
	case d.Answer == slo.Allow:
		level = "notice"
	}
	return workflowCommand(level, gateWords[d.Answer].word+" "+d.Gate, d.Message) + "\n"
}

// workflowCommand is a line that GitHub's runner takes for an annotation.
func workflowCommand(level, title, message string) string {
	return fmt.Sprintf("::%s title=%s::%s", level, commandProperty.Replace(logged(title)), commandMessage.Replace(logged(message)))
}

// gateOutputs are the lines of $GITHUB_OUTPUT. Each value is on one line, so that none is taken for another.
func gateOutputs(d slo.Decision) string {
	reopens := ""
	if d.Reopens.At != nil {
		reopens = d.Reopens.At.Format(time.RFC3339)
	}
	return fmt.Sprintf("decision=%s\nbecause=%s\nreopens=%s\nmessage=%s\n", d.Answer, d.Because, reopens, chain.Redact(d.Message))
}

// markdownText escapes what Markdown, HTML, GitHub's formulas, links and mentions are made of. A cell of a table cannot be left.
var markdownText = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`, "(", `\(`, ")", `\)`,
	"#", `\#`, "+", `\+`, "!", `\!`, "|", `\|`, "~", `\~`, "$", `\$`, "@", `\@`, "://", `\://`, "www.", `www\.`,
)

func markdown(text string) string { return markdownText.Replace(chain.Redact(text)) }

// gateSummary is appended to $GITHUB_STEP_SUMMARY.
func gateSummary(d slo.Decision) string {
	var b strings.Builder
	words := gateWords[d.Answer]
	fmt.Fprintf(&b, "### %s %s %s\n\n%s: %s\n", words.mark, words.word, markdown(d.Gate), markdown(string(d.Because)), markdown(d.Message))
	if len(d.SLOs) > 0 {
		b.WriteString("\n| | SLO | because | left | remaining | burn now | coverage | most by |\n|---|---|---|--:|--:|--:|--:|---|\n")
	}
	for _, s := range d.SLOs {
		cells := []string{"?", "?", "?", "?", ""}
		if f := s.Figures; f != nil {
			cells = []string{eventsLeft(*f), share(f.Remaining), rate(f.BurnRate), share(f.Coverage), mostBy(*f)}
		}
		row := append([]string{gateWords[s.Answer].mark, s.String(), string(s.Because)}, cells...)
		for i := range row {
			row[i] = markdown(row[i])
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	var items []string
	if when := gateReopens(d); when != "" {
		items = append(items, when)
	}
	for i, item := range append(items, d.Notes...) {
		b.WriteString([]string{"\n", ""}[min(i, 1)] + "- " + markdown(item) + "\n")
	}
	return b.String() + "\n"
}
