// The JSON API of targets: what the pages show, for machines.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// targetsAnswer is GET /api/v1/targets.
type targetsAnswer struct {
	Targets []targetAnswer `json:"targets"` // by name
}

// targetAnswer is one target. Latest is null before its first event.
type targetAnswer struct {
	Target              string          `json:"target"`
	Since               *time.Time      `json:"since"` // when the current verdict began
	ConsecutiveFailures int             `json:"consecutive_failures"`
	Latest              *results.Report `json:"latest"`
}

func newTargetsAnswer(all []results.Status) targetsAnswer {
	answer := targetsAnswer{Targets: []targetAnswer{}}
	for _, status := range all {
		t := targetAnswer{Target: status.Target.Name, ConsecutiveFailures: status.ConsecutiveFailures}
		if report, ok := status.Report(); ok {
			since := status.Since.UTC().Truncate(time.Millisecond)
			t.Latest, t.Since = &report, &since
		}
		answer.Targets = append(answer.Targets, t)
	}
	return answer
}
