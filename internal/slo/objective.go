// An objective is an exact decimal percentage, and what it leaves is the error budget.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// The errors of ParseObjective.
var (
	// ErrObjectiveSyntax is returned for text that is no plain decimal number.
	ErrObjectiveSyntax = errors.New("an objective is a decimal number such as 99.9, without a sign, an exponent or a per cent sign")
	// ErrObjectiveRange is returned for an objective that leaves no budget, or nothing but budget; also for one that a 64-bit float rounds to that, as Prometheus would.
	ErrObjectiveRange = errors.New("an objective is more than 0 and less than 100 per cent")
)

// Objective is the share of events that shall be good. The zero value is not an objective; ParseObjective makes one.
type Objective struct {
	percent *big.Rat
	text    string
}

// ParseObjective reads a percentage as it is written in a specification, exactly: 99.9 is 999/1000.
//
// The error is ErrObjectiveSyntax or ErrObjectiveRange, wrapped with the text.
func ParseObjective(text string) (Objective, error) {
	plain := text != "" && strings.Trim(text, "0123456789.") == "" && strings.Count(text, ".") <= 1 && strings.Trim(text, ".") != ""
	if !plain {
		return Objective{}, fmt.Errorf("reading the objective %q: %w", text, ErrObjectiveSyntax)
	}
	percent, ok := new(big.Rat).SetString(text)
	if !ok {
		return Objective{}, fmt.Errorf("reading the objective %q: %w", text, ErrObjectiveSyntax)
	}
	if rounded, _ := percent.Float64(); rounded <= 0 || rounded >= 100 {
		return Objective{}, fmt.Errorf("reading the objective %q: %w", text, ErrObjectiveRange)
	}
	return Objective{percent: percent, text: Decimal(percent)}, nil
}

// String is the percentage in its shortest exact form, such as "99.9".
func (o Objective) String() string { return o.text }

// Ratio is the objective as a share of 1: 999/1000 for 99.9 %. The caller may change the number.
func (o Objective) Ratio() *big.Rat { return new(big.Rat).Quo(o.percent, big.NewRat(100, 1)) }

// Budget is the share of events that may be bad: 1/1000 for 99.9 %. The caller may change the number.
func (o Objective) Budget() *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), o.Ratio()) }

// BudgetEvents is how many of these events may be bad: the budget is spent with one more. A probe is bad or not, so a fraction of an event is no budget.
func (o Objective) BudgetEvents(events int64) int64 {
	return floor(new(big.Rat).Mul(o.Budget(), new(big.Rat).SetInt64(events)))
}

// Decimal writes a number as a decimal: exactly when it ends within 17 significant digits, which is all that a 64-bit float tells apart; else the shortest decimal of the nearest float.
func Decimal(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact {
		text := x.FloatString(places)
		if len(strings.TrimLeft(strings.Replace(text, ".", "", 1), "-0")) <= 17 {
			return text
		}
	}
	nearest, _ := x.Float64()
	return strconv.FormatFloat(nearest, 'g', -1, 64)
}

// floor rounds a number down that is not negative.
func floor(x *big.Rat) int64 { return new(big.Int).Quo(x.Num(), x.Denom()).Int64() }
