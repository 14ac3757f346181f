// A group is a target group's reading for people: its targets, the worst first, and what AWS says beside what the cluster says.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Group is what there is to say of a target group, for the ladder of a terminal and the pages alike.
type Group struct {
	Targets []chain.TargetReading // the worst first, those of another cluster last
	Counts  []chain.StateCount    // the group's own, by state
	Foreign int                   // targets of another cluster
	AWS     string                // such as "2 healthy, 1 unhealthy (Target.Timeout)"
	Cluster string                // such as "3 ready, 1 not ready, 0 terminating; not registered: 10.0.1.14"; "" when no cluster was asked
	// FailOpen says where the load balancer routes to all targets, what that means, and what it does not; "" when it does nowhere.
	FailOpen string
}

// missingLimit is how many unregistered addresses a line names.
const missingLimit = 8

// NewGroup describes the reading of an alb run; nil when it has none.
func NewGroup(run chain.Run) *Group {
	reading := run.Reading
	if reading == nil {
		return nil
	}
	group := &Group{Targets: slices.Clone(reading.Targets), Counts: chain.CountStates(own(reading.Targets))}
	slices.SortStableFunc(group.Targets, func(a, b chain.TargetReading) int { return cmp.Compare(rank(a), rank(b)) })
	var said []string
	group.Foreign = len(reading.Targets)
	for _, c := range group.Counts {
		said = append(said, stateText(c))
		group.Foreign -= c.N
	}
	if group.Foreign > 0 {
		said = append(said, fmt.Sprintf("%d not of this cluster", group.Foreign))
	}
	group.AWS = cmp.Or(strings.Join(said, ", "), "no targets")
	facts := run.Facts()
	group.Cluster = clusterSays(facts[chain.FactEndpoints], reading.Missing)
	if reading.FailOpen {
		group.FailOpen = "Fail-open: " + cmp.Or(facts[chain.FactFailOpen], "too few targets are healthy") +
			". The load balancer then routes to all targets, healthy or not; this is not called an outage, since users may still be served."
	}
	return group
}

// own are the targets that are not of another cluster.
func own(targets []chain.TargetReading) []chain.TargetHealth {
	var all []chain.TargetHealth
	for _, t := range targets {
		if !t.Foreign {
			all = append(all, t.TargetHealth)
		}
	}
	return all
}

// stateText is such as "3 unhealthy (Target.Timeout 2, Target.FailedHealthChecks 1)"; a code that all of them have is not counted again.
func stateText(c chain.StateCount) string {
	var codes []string
	for _, of := range c.Codes {
		if of.N < c.N {
			codes = append(codes, fmt.Sprintf("%s %d", of.Code, of.N))
		} else {
			codes = append(codes, of.Code)
		}
	}
	text := fmt.Sprintf("%d %s", c.N, c.State)
	if len(codes) > 0 {
		text += " (" + strings.Join(codes, ", ") + ")"
	}
	return text
}

func clusterSays(endpoints string, missing []string) string {
	if len(missing) == 0 {
		return endpoints
	}
	named := "not registered: " + strings.Join(missing[:min(len(missing), missingLimit)], ", ")
	if more := len(missing) - missingLimit; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	if endpoints == "" {
		return named
	}
	return endpoints + "; " + named
}

// TargetAddress is a target's id, with its port when it has one.
func TargetAddress(t chain.TargetReading) string {
	if t.Port == 0 {
		return t.ID
	}
	return net.JoinHostPort(t.ID, strconv.Itoa(int(t.Port)))
}

// TargetOwner is who a target is in the cluster, such as "shop-1 on node-a", or "not of this cluster"; "" when the cluster does not say.
func TargetOwner(t chain.TargetReading) string {
	switch {
	case t.Foreign:
		return "not of this cluster"
	case t.Pod != "" && t.Node != "":
		return t.Pod + " on " + t.Node
	}
	return t.Pod + t.Node
}

// worstFirst is the order of states in which something may have to be done. A state that is not known stands before healthy.
var worstFirst = []chain.TargetState{chain.TargetUnhealthy, chain.TargetUnhealthyDraining, chain.TargetUnused, chain.TargetUnavailable, chain.TargetInitial, chain.TargetDraining}

func rank(t chain.TargetReading) int {
	at := slices.Index(worstFirst, t.State)
	switch {
	case t.Foreign:
		return len(worstFirst) + 2
	case t.State == chain.TargetHealthy:
		return len(worstFirst) + 1
	case at < 0:
		return len(worstFirst)
	}
	return at
}
