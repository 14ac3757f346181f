// How target groups are told to people: counts by state with their codes, and lists that end somewhere.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// listLimit is how many names a text holds.
const listLimit = 8

// enumerate joins names, and counts those beyond the limit.
func enumerate(names []string) string {
	if len(names) <= listLimit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:listLimit], ", "), len(names)-listLimit)
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// summarize tells how many targets are in which state, with the codes of the states that have one: "2 healthy, 3 unhealthy (Target.Timeout 2, Target.FailedHealthChecks 1)".
func summarize(targets []chain.TargetHealth) string {
	var parts []string
	for _, c := range chain.CountStates(targets) {
		part := fmt.Sprintf("%d %s", c.N, c.State)
		if len(c.Codes) > 0 {
			part += " (" + joinCodes(c.Codes) + ")"
		}
		parts = append(parts, part)
	}
	return cmp.Or(strings.Join(parts, ", "), "no target")
}

// joinCodes lists codes with their number.
func joinCodes(codes []chain.CodeCount) string {
	var parts []string
	for _, c := range codes {
		parts = append(parts, fmt.Sprintf("%s %d", c.Code, c.N))
	}
	return strings.Join(parts, ", ")
}
