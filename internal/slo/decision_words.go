// The words of decisions: sentences with numerator, denominator, window, coverage and what burned most.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode"
)

// Percent writes a share as per cent, rounded down to tenths, so that less than what is asked for never looks like enough: "71 %", "9.9 %", "-50.5 %". What is no number is "?".
func Percent(share float64) string {
	exact, ok := Exact(share)
	if !ok {
		return "?"
	}
	return percent(exact)
}

func percent(share *big.Rat) string {
	tenths := new(big.Rat).Mul(share, big.NewRat(1000, 1))
	whole := new(big.Int).Div(tenths.Num(), tenths.Denom()) // Euclid's: down for a positive denominator
	return Decimal(new(big.Rat).SetFrac(whole, big.NewInt(10))) + " %"
}

// asked writes a share that somebody configured, exactly.
func asked(share float64) string {
	exact, ok := Exact(share)
	if !ok {
		return "?"
	}
	return Decimal(exact.Mul(exact, big.NewRat(100, 1))) + " %"
}

// spending says what a budget has gone through, for a gate that asks for a share of it.
func (s Status) spending(minimum float64) string {
	b := s.Budget()
	text := fmt.Sprintf("%d of %d events in %s were bad, and %d may be at %s %%: ", b.Bad, b.Events, FormatDuration(s.Period), b.AllowedEvents(), s.Objective)
	if remaining, known := b.Remaining(); known {
		text += percent(remaining) + " of the budget is left"
	} else {
		text += "what is left of the budget is not known"
	}
	if minimum > 0 {
		text += ", and the gate asks for " + asked(minimum)
	}
	if s.Partial() {
		text += fmt.Sprintf("; the period has data for %s of %s", FormatDuration(s.ObservedTime()), FormatDuration(s.Period))
	}
	if s.Coverage != nil {
		text += "; coverage " + Percent(*s.Coverage)
	}
	return text + most("; most by ", s.Steps) + most(", for ", s.Causes)
}

// most names what burned most, "" when nothing did. What nothing explains is named as that: another would not be the most.
func most(lead string, causes []Cause) string {
	if len(causes) == 0 {
		return ""
	}
	c := causes[0]
	return fmt.Sprintf("%s%s (%d)", lead, cmp.Or(strings.Trim(c.Step+"/"+c.Reason, "/"), "what nothing explains"), c.Bad)
}

// tier is the first tier of an alert whose burn rate is exceeded over its long window, and how it burns. It is false when none is, as while an alert is kept firing, or that is not known.
func (s Status) tier(severity Severity) (tier Tier, burn *big.Rat, ok bool) {
	windows, err := WindowsFor(s.Period)
	if err != nil {
		return Tier{}, nil, false
	}
	for _, tier := range windows.Of(severity) {
		if burn, known := s.Burn(tier.Long); known && burn.Cmp(tier.Burn) > 0 {
			return tier, burn, true
		}
	}
	return Tier{}, nil, false
}

// alerting says which alert fires, and by which tier.
func (s Status) alerting(severity Severity) string {
	text := fmt.Sprintf("its %s fires", severity)
	if tier, burn, ok := s.tier(severity); ok {
		text += fmt.Sprintf(" (%s: %s times an even burn over %s, and it takes more than %s)", tier, burn.FloatString(1), FormatDuration(tier.Long), Decimal(tier.Burn))
	}
	return text
}

// stamp writes a time for people.
func stamp(t time.Time) string { return inSeconds(t).Format(time.RFC3339) }

// plain keeps a foreign text on one line, without control characters.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text))
}
