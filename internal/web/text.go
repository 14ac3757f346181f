// How values become text on a page: marks, times, durations, and foreign text that can show nothing but itself.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// mark is an outcome's shape, so that no page tells by colour alone.
func mark(o chain.Outcome) string {
	switch o {
	case chain.OutcomeSuccess:
		return "✔"
	case chain.OutcomeFailure:
		return "✖"
	case chain.OutcomeSkipped:
		return "·"
	case chain.OutcomeUnknown:
	}
	return "?"
}

// visible writes every character that prints nothing, or that turns the direction of those after it, as its Go escape (\n, \u202e), so that what is read is what is copied.
// The template escapes HTML; this is for what HTML does not mind.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, string(utf8.RuneError)) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}

// shortLength is how many characters of a detail a table shows; the whole of it stands on the target's page.
const shortLength = 200

// short is visible text, cut.
func short(text string) string {
	runes := []rune(visible(text))
	if len(runes) <= shortLength {
		return string(runes)
	}
	return string(runes[:shortLength]) + "…"
}

// where names what a verdict or a step blames: "step / reason", the reason alone when no step is to blame, "" on success.
func where(step chain.Step, reason chain.Reason) string {
	if step == chain.StepNone {
		return visible(string(reason))
	}
	return step.String() + " / " + visible(string(reason))
}

// moment is a time for people, and for machines in ISO.
type moment struct{ Text, ISO string }

func newMoment(t time.Time) moment {
	t = t.UTC()
	return moment{t.Format("2006-01-02 15:04:05 UTC"), t.Format(time.RFC3339)}
}

// took is a duration in milliseconds; what is not nothing is never shown as 0.
func took(d time.Duration) string {
	if ms := float64(d) / float64(time.Millisecond); ms <= 0 || ms >= 0.1 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return "<0.1 ms"
}

// span is a duration in its two largest units; a negative one, of clocks that disagree, is none.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", d/day, d%day/time.Hour)
}
