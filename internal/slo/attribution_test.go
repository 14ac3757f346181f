// Tests of attributions: whatever the parts are, the causes add up.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAttribute(t *testing.T) {
	tests := map[string]struct {
		total int64
		parts []Part
		want  []Cause
	}{
		"nothing":           {0, []Part{{"dns", "", 3}}, nil},
		"no parts":          {7, nil, []Cause{{"", "", 7}}},
		"what is counted":   {7, []Part{{"dns", "", 2}, {"sts", "", 5}}, []Cause{{"sts", "", 5}, {"dns", "", 2}}},
		"by reason":         {7, []Part{{"dns", "nxdomain", 2}, {"dns", "timeout", 5}}, []Cause{{"dns", "timeout", 5}, {"dns", "nxdomain", 2}}},
		"the rest":          {10, []Part{{"dns", "", 2}, {"sts", "", 5}}, []Cause{{"sts", "", 5}, {"", "", 3}, {"dns", "", 2}}},
		"the rest is named": {10, []Part{{"dns", "", 2}, {"", "", 5}}, []Cause{{"", "", 8}, {"dns", "", 2}}},
		"equals by name":    {9, []Part{{"tls", "", 3}, {"dns", "", 3}}, []Cause{{"dns", "", 3}, {"tls", "", 3}, {"", "", 3}}},
		"twice the same":    {5, []Part{{"dns", "", 2}, {"dns", "", 3}}, []Cause{{"dns", "", 5}}},
		"noise of floats":   {7, []Part{{"dns", "", 2.0000000004}, {"sts", "", 4.9999999991}}, []Cause{{"sts", "", 5}, {"dns", "", 2}}},
		"three replicas":    {1, []Part{{"dns", "", 1. / 3}, {"sts", "", 1. / 3}, {"tls", "", 1. / 3}}, []Cause{{"dns", "", 1}}},
		"two halves":        {1, []Part{{"sts", "", 0.5}, {"dns", "", 0.5}}, []Cause{{"dns", "", 1}}},
		"half an event":     {2, []Part{{"dns", "", 0.5}}, []Cause{{"dns", "", 1}, {"", "", 1}}},
		"less than half":    {2, []Part{{"dns", "", 0.4}}, []Cause{{"", "", 2}}},
		"weights":           {10, []Part{{"dns", "", 20}, {"sts", "", 20}, {"tls", "", 20}}, []Cause{{"dns", "", 4}, {"sts", "", 3}, {"tls", "", 3}}},
		"larger remainders": {10, []Part{{"a", "", 41}, {"b", "", 32}, {"c", "", 27}}, []Cause{{"a", "", 4}, {"b", "", 3}, {"c", "", 3}}},
		"a remainder alike": {3, []Part{{"a", "", 1}, {"b", "", 3}}, []Cause{{"b", "", 2}, {"a", "", 1}}}, // 3/4 and 9/4
		"the larger of two": {2, []Part{{"a", "", 1}, {"b", "", 3}}, []Cause{{"b", "", 2}}},               // 1/2 and 3/2
		"no numbers":        {3, []Part{{"a", "", math.NaN()}, {"b", "", math.Inf(1)}, {"c", "", -2}, {"d", "", 1}, {"e", "", math.Inf(-1)}}, []Cause{{"", "", 2}, {"d", "", 1}}},
		"the largest float": {3, []Part{{"a", "", math.MaxFloat64}, {"b", "", math.SmallestNonzeroFloat64}}, []Cause{{"a", "", 3}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Attribute(test.total, test.parts); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// FuzzAttribute takes the total and one float for each 8 bytes.
func FuzzAttribute(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var seed []byte
		for range random.IntN(12) {
			part := float64(random.IntN(1000))
			if random.IntN(2) == 0 {
				part = random.ExpFloat64() * math.Pow(10, float64(random.IntN(12)-4))
			}
			seed = binary.LittleEndian.AppendUint64(seed, math.Float64bits(part))
		}
		f.Add(random.Int64N(2000), seed)
	}
	f.Fuzz(func(t *testing.T, total int64, floats []byte) {
		var parts []Part
		for ; len(floats) >= 8 && len(parts) < 100; floats = floats[8:] {
			bits := binary.LittleEndian.Uint64(floats)
			parts = append(parts, Part{Step: []string{"", "dns", "sts"}[len(parts)%3], Reason: string(rune('a' + len(parts)/3)), Bad: math.Float64frombits(bits)})
		}
		causes := Attribute(total, parts)
		checkCauses(t, total, parts, causes)
		slices.Reverse(parts)
		if again := Attribute(total, parts); !slices.Equal(causes, again) {
			t.Errorf("in another order of the parts: %v and %v", causes, again)
		}
	})
}

// checkCauses: they add up, none is empty, most come first, and none is off by an event or more from its fair share of what is explained.
func checkCauses(t *testing.T, total int64, parts []Part, causes []Cause) {
	t.Helper()
	sum, claimed := int64(0), new(big.Rat)
	counted := map[Cause]*big.Rat{}
	for _, p := range parts {
		if p.Bad > 0 && !math.IsInf(p.Bad, 1) {
			counted[Cause{Step: p.Step, Reason: p.Reason}] = new(big.Rat).SetFloat64(p.Bad)
			claimed.Add(claimed, new(big.Rat).SetFloat64(p.Bad))
		}
	}
	for i, c := range causes {
		sum += c.Bad
		if c.Bad <= 0 {
			t.Errorf("a cause of nothing: %v", c)
		}
		if i > 0 && causes[i-1].Bad < c.Bad {
			t.Errorf("%v comes before %v", causes[i-1], c)
		}
		fair, ok := counted[Cause{Step: c.Step, Reason: c.Reason}]
		switch {
		case c == Cause{Bad: c.Bad}:
		case !ok:
			t.Errorf("%v is nobody's", c)
		default:
			if most := new(big.Rat).SetInt64(total); claimed.Cmp(most) > 0 {
				fair = new(big.Rat).Quo(new(big.Rat).Mul(fair, most), claimed)
			}
			distance := new(big.Rat).Sub(fair, new(big.Rat).SetInt64(c.Bad))
			if distance.Abs(distance).Cmp(big.NewRat(3, 2)) >= 0 { // one for the quota, and half of one for the sum
				t.Errorf("%v, of which %s would be fair", c, fair.FloatString(2))
			}
		}
	}
	if sum != max(0, total) {
		t.Errorf("%v add up to %d, not to %d", causes, sum, total)
	}
}

func BenchmarkAttribute(b *testing.B) {
	var parts []Part
	for i := range 40 {
		parts = append(parts, Part{Step: "dns", Reason: string(rune('a' + i)), Bad: float64(i) * 1.7})
	}
	for b.Loop() {
		Attribute(500, parts)
	}
}
