// Tests of how values become text.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestVisible(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"plain":           {"ci-deploy@prod, Ünï ✔", "ci-deploy@prod, Ünï ✔"},
		"HTML is not its": {`<b>"'&`, `<b>"'&`},
		"line breaks":     {"a\r\nb\u2028c", `a\r\nb\u2028c`},
		"direction":       {"a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`},
		"no width":        {"a\u200bb\u00adc\ufeff", `a\u200bb\u00adc\ufeff`},
		"control":         {"\x00\x1b\x7f", `\x00\x1b\x7f`},
		"broken UTF-8":    {"a\xffb\xc3", "a\ufffdb\ufffd"},
		"empty":           {"", ""},
	}
	for name, c := range cases {
		if got := visible(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for length, want := range map[int]string{0: "", 200: strings.Repeat("ü", 200), 201: strings.Repeat("ü", 200) + "…"} {
		if got := short(strings.Repeat("ü", length)); got != want {
			t.Errorf("%d characters become %q", length, got)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 59*time.Second + 999*time.Millisecond: "59 s", time.Minute: "1 min", time.Hour - 1: "59 min", time.Hour: "1 h 0 min",
		2*time.Hour + 13*time.Minute: "2 h 13 min", 48*time.Hour - 1: "47 h 59 min", 48 * time.Hour: "2 d 0 h", 123 * time.Hour: "5 d 3 h",
	} {
		if got := span(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

func TestMomentIsUTC(t *testing.T) {
	got := newMoment(time.Date(2026, 3, 8, 1, 2, 3, 999, time.FixedZone("", -2*60*60)))
	if want := (moment{"2026-03-08 03:02:03 UTC", "2026-03-08T03:02:03Z"}); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestWhere(t *testing.T) {
	for want, verdict := range map[string]chain.Verdict{
		"": {}, "rbac / denied": {Step: chain.StepRBAC, Reason: chain.ReasonDenied}, "overrun": {Reason: chain.ReasonOverrun},
	} {
		if got := where(verdict.Step, verdict.Reason); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// No two outcomes have the same mark, and a value from nowhere is not good.
func TestMarks(t *testing.T) {
	seen := map[string]chain.Outcome{}
	for _, o := range []chain.Outcome{chain.OutcomeUnknown, chain.OutcomeSuccess, chain.OutcomeFailure, chain.OutcomeSkipped} {
		if other, twice := seen[mark(o)]; twice {
			t.Errorf("%s and %s have the mark %s", o, other, mark(o))
		}
		seen[mark(o)] = o
	}
	if got := mark(chain.Outcome(99)); got != mark(chain.OutcomeUnknown) {
		t.Errorf("an unheard-of outcome has the mark %s", got)
	}
}
