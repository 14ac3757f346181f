// Tests of the comparison: every bound is kept, and the table is the one in testdata.
//
// SPDX-License-Identifier: Apache-2.0

// The race detector makes this ten times slower, and finds nothing here that it does not find in runners_test.go.
//go:build !race

package simulate

import (
	"bytes"
	"testing"
	"time"
)

// TestComparison takes every measure. Its table is what docs/slo.md shows.
func TestComparison(t *testing.T) {
	about := access(t)
	about.Cadence = 15 * time.Second
	rows, err := Compare(t.Context(), Comparison{SLO: about, Ours: ours(t, about.Cadence), Uneven: uneven(t), Plain: rulesOf(t, "sloth.yaml"), Months: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !r.Kept {
			t.Errorf("%s: %s; must be %s", r.Measure, r.Ours, r.Bound)
		}
	}
	var table bytes.Buffer
	if err := WriteRows(&table, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.golden", table.Bytes())
}
