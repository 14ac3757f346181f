// A group reading is what one run saw of a target group: every target with its state and age, beside what the cluster says of it.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"slices"
	"time"
)

// GroupReading is one successful reading. It is never changed after the run.
type GroupReading struct {
	At       time.Time
	Group    GroupInfo
	Targets  []TargetReading // as DescribeTargetHealth orders them
	FailOpen bool            // the load balancer routes to targets that are not healthy, since too few are
	// Missing are ready endpoints, or nodes, of the cluster that are not among the targets; by address or instance id.
	Missing []string
}

// TargetReading is one target of a reading.
type TargetReading struct {
	TargetHealth
	Since time.Time // since when it is known to be in this state; zero: not known. ELB tells no times
	Pod   string    // or "" when the cluster does not know it
	Node  string
	// Foreign: the target belongs to no endpoint or node of the target's cluster, so that another cluster answers for it. Never set when no cluster is named.
	Foreign bool
}

// Count returns how many of the group's own targets are in a state.
func (g *GroupReading) Count(state TargetState) int {
	n := 0
	for _, t := range g.Targets {
		if t.State == state && !t.Foreign {
			n++
		}
	}
	return n
}

// Good returns how many of the group's own targets are healthy.
func (g *GroupReading) Good() int { return g.Count(TargetHealthy) }

// Bad returns how many of the group's own targets count against it.
func (g *GroupReading) Bad() int { return g.Count(TargetUnhealthy) + g.Count(TargetUnhealthyDraining) }

// Settled reports whether nothing is about to change: every target is healthy, or in a state that it does not leave by itself (unused, unavailable).
func (g *GroupReading) Settled() bool {
	for _, t := range g.Targets {
		if !slices.Contains([]TargetState{TargetHealthy, TargetUnused, TargetUnavailable}, t.State) {
			return false
		}
	}
	return len(g.Targets) > 0
}
