// Small pieces of PromQL.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// on matches two vectors by labels.
func on(labels []string) string { return "on (" + strings.Join(labels, ", ") + ")" }

// span writes a duration in Prometheus' notation.
func span(d time.Duration) string { return model.Duration(d).String() }

// fullHours is a subquery at the full hours of a window that is a whole number of hours. It is 1 ms less than the window, because Prometheus 2 counts both ends of a range, and 3 one.
func fullHours(window time.Duration) string {
	return fmt.Sprintf("[%s:1h]", span(window-time.Millisecond))
}

// number writes an exact number, as a decimal where it is one.
func number(x *big.Rat) string {
	if _, exact := x.FloatPrec(); !exact {
		return fmt.Sprintf("(%s / %s)", x.Num(), x.Denom())
	}
	return slo.Decimal(x)
}

// fill replaces NAME by the value that follows it, for templates of PromQL, whose own braces and per cent signs would be in the way of others.
func fill(template string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(template)
}
