// Tests of exact objectives.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"errors"
	"math/big"
	"testing"
)

func TestParseObjective(t *testing.T) {
	tests := map[string]struct {
		text, budget string // the budget, as a fraction
	}{
		"99.9":                 {"99.9", "1/1000"},
		"99.90":                {"99.9", "1/1000"},
		"99.99":                {"99.99", "1/10000"},
		"95":                   {"95", "1/20"},
		".5":                   {"0.5", "199/200"},
		"99.":                  {"99", "1/100"},
		"99.9999999999999":     {"99.9999999999999", "1/1000000000000000"},
		"0.999":                {"0.999", "99001/100000"},
		"00099.9":              {"99.9", "1/1000"},
		"66.66666666666666666": {"66.66666666666667", "3333333333333333334/10000000000000000000"}, // written as a float would keep it, computed as it was given
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseObjective(text)
			if err != nil {
				t.Fatal(err)
			}
			budget, _ := new(big.Rat).SetString(want.budget)
			if got.String() != want.text || got.Budget().Cmp(budget) != 0 {
				t.Errorf("got %s with a budget of %s, want %s with %s", got, got.Budget(), want.text, want.budget)
			}
			if sum := new(big.Rat).Add(got.Ratio(), got.Budget()); sum.Cmp(big.NewRat(1, 1)) != 0 {
				t.Errorf("ratio and budget add up to %s", sum)
			}
		})
	}
}

func TestParseObjectiveRefuses(t *testing.T) {
	tests := map[string]error{
		"":                     ErrObjectiveSyntax,
		".":                    ErrObjectiveSyntax,
		"99,9":                 ErrObjectiveSyntax,
		"99.9%":                ErrObjectiveSyntax,
		"9.9.9":                ErrObjectiveSyntax,
		"1e1":                  ErrObjectiveSyntax,
		"0x10":                 ErrObjectiveSyntax,
		"1/2":                  ErrObjectiveSyntax,
		"1_0":                  ErrObjectiveSyntax,
		"+99":                  ErrObjectiveSyntax,
		"-1":                   ErrObjectiveSyntax,
		"NaN":                  ErrObjectiveSyntax,
		"0":                    ErrObjectiveRange,
		"0.0":                  ErrObjectiveRange,
		"100":                  ErrObjectiveRange,
		"100.1":                ErrObjectiveRange,
		"99.99999999999999999": ErrObjectiveRange, // a float of 64 bits makes 100 of it
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			if got, err := ParseObjective(text); !errors.Is(err, want) {
				t.Errorf("got %s and %v, want %v", got, err, want)
			}
		})
	}
}

func TestObjectiveDoesNotShareItsNumbers(t *testing.T) {
	o := objective(t, "99.9")
	o.Ratio().SetInt64(5)
	o.Budget().SetInt64(5)
	if got := o.Budget().RatString(); got != "1/1000" {
		t.Errorf("the budget has become %s", got)
	}
}

// TestBudgetOfADayAt95 is the worked example of docs/slo.md.
func TestBudgetOfADayAt95(t *testing.T) {
	o := objective(t, "95")
	const aDay = 24 * 60 * 60 / 15
	if got := o.BudgetEvents(aDay); got != 288 {
		t.Errorf("%d of %d probes may fail, want 288", got, aDay)
	}
	left := new(big.Rat).Sub(o.Budget(), objective(t, "97").Budget()) // 97 % achieved: 3 points of the 5 are spent
	if minutes := Decimal(left.Mul(left, big.NewRat(24*60, 1))); minutes != "28.8" {
		t.Errorf("%s minutes of a day are left, want 28.8", minutes)
	}
}

func TestBudgetEvents(t *testing.T) {
	tests := map[string]struct {
		objective string
		events    int64
		want      int64
	}{
		"whole":              {"99.9", 1000, 1},
		"one less":           {"99.9", 999, 0},
		"30 days at 15 s":    {"99.9", 172_800, 172},
		"30 days at 30 s":    {"99.9", 86_400, 86},
		"30 days at 60 s":    {"99.9", 43_200, 43},
		"nothing to measure": {"99.9", 0, 0},
		"no float error":     {"99.7", 1_000_000, 3000}, // (100-99.7)/100*1e6 is 2999.999… in floats
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := objective(t, test.objective).BudgetEvents(test.events); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestDecimal(t *testing.T) {
	tests := map[string]string{
		"1/1000":          "0.001",
		"144/10000":       "0.0144",
		"72/5":            "14.4",
		"14/15":           "0.9333333333333333", // it has no end: the nearest float
		"1/3":             "0.3333333333333333",
		"-1/8":            "-0.125",
		"7":               "7",
		"0":               "0",
		"1/1152921504":    "8.673617384449445e-10",
		"1/1099511627776": "9.094947017729282e-13", // it ends, but after more digits than a float tells apart
	}
	for fraction, want := range tests {
		t.Run(fraction, func(t *testing.T) {
			x, ok := new(big.Rat).SetString(fraction)
			if !ok {
				t.Fatal("no fraction")
			}
			if got := Decimal(x); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func objective(t testing.TB, text string) Objective {
	t.Helper()
	o, err := ParseObjective(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
