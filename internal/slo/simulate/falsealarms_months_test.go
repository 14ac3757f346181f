// False alarms: how often alerts fire when nothing is wrong but independent failures that the objective allows.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Chance is failures that come independently of each other.
type Chance struct {
	Probability float64 // of each probe to fail
	Severity    string  // of the alerts that are counted: page or ticket
	Months      int     // of 30 days
	Seed        uint64
}

// FalseAlarms counts how often the burn-rate alerts of a severity begin to fire. Every month is drawn anew, and begins after some days like it, so that no window is half empty. Only what these alerts need is evaluated.
func FalseAlarms(ctx context.Context, rules Rules, about SLO, c Chance) (int, error) {
	burns := rules.needed(func(r rule) bool { return r.alert && r.severity() == c.Severity && r.readsRatios() }).bare()
	lead := 12 * time.Hour
	if c.Severity != "page" {
		lead = 3 * slo.Day
	}
	alarms := 0
	for month := range c.Months {
		scenario := &Scenario{
			Name: "chance", Duration: lead + 30*slo.Day, Seed: c.Seed + uint64(month),
			Events: []Event{{Kind: Failures, Ratio: c.Probability}},
		}
		s := scenario.withDefaults(about.Cadence)
		w, err := s.world(burns, about)
		if err != nil {
			return 0, err
		}
		run, err := w.evaluated(ctx, burns, false)
		if err != nil {
			return 0, err
		}
		for _, alert := range run.alerts {
			for _, episode := range alert.Episodes {
				if !episode.FiringAt.IsZero() && episode.FiringAt.Sub(s.Start) > lead {
					alarms++
				}
			}
		}
	}
	return alarms, nil
}

// readsRatios tells the alerts of burn rates from those of missing data.
func (r rule) readsRatios() bool {
	for _, read := range r.reads {
		if strings.HasPrefix(read.name, ratioPrefix) {
			return true
		}
	}
	return false
}
