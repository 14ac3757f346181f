// The values of a scenario's YAML: durations and numbers within bounds.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// duration reads a duration within bounds; 0 when it is not given.
func (r *reader) duration(f diag.Fields, key string, least, most time.Duration) time.Duration {
	value, given := f.Duration(key, 0)
	if given && (value < least || value > most) {
		r.Report(f.At(key), tooLong, key, slo.FormatDuration(value), slo.FormatDuration(least), slo.FormatDuration(most), "scenarios are run in full: this one could not be")
	}
	return value
}

// number reads a number within bounds; 0 when it is not given.
func (r *reader) number(f diag.Fields, key string, least, most float64) float64 {
	text := f.Number(key)
	if text == "" {
		return 0
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value < least || value > most {
		r.Report(f.At(key), badNumber, key, fmt.Sprintf("within %v and %v", least, most), text, "write a decimal number")
	}
	return value
}

// whole reads a whole number within bounds; 0 when it is not given.
func (r *reader) whole(f diag.Fields, key string, least, most int) int {
	text := f.Number(key)
	if text == "" {
		return 0
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < least || value > most {
		r.Report(f.At(key), badNumber, key, fmt.Sprintf("within %d and %d", least, most), text, "write a whole number")
	}
	return value
}

func names(all iter.Seq[Kind]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range all {
			if !yield(string(name)) {
				return
			}
		}
	}
}
