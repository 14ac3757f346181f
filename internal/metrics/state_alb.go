// The state of target groups as plain data: events, observations, and the latest reading of each.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

type groupState struct {
	events
	steps       stepCounts
	good, bad   int                 // targets observed
	reading     *chain.GroupReading // the latest; nil: none
	requested   bool                // a request is made
	certExpires time.Time           // zero: not known
	info        groupInfo
	labels      map[string]string // as configured; never written to
}

// groupInfo is where a target group is, and what fills it.
type groupInfo struct{ region, cluster, namespace, binding string }

// setGroups returns the groups and regions that have no target any more. A group that moved to another region begins anew, since its failures are counted in the region.
func (s *state) setGroups(targets []chain.Target) (gone []string) {
	before, regionsBefore := s.groups, s.regions
	s.groups, s.regions = map[string]groupState{}, map[string]causes{}
	for _, target := range targets {
		if target.Kind != chain.KindALB {
			continue
		}
		info := groupInfo{clean(target.Group.Region), clean(target.Cluster.Name), clean(target.Group.Binding.Namespace), clean(target.Group.Binding.Name)}
		known := before[clean(target.Name)]
		if known.info.region != info.region {
			known = groupState{}
		}
		known.info, known.labels = info, infoLabels(families[albTargetInfo].Labels, target.Cluster.Labels, target.Group.Labels)
		if known.requested = target.Group.Request != nil; !known.requested {
			known.certExpires = time.Time{}
		}
		s.groups[clean(target.Name)] = known
		if _, ok := s.regions[info.region]; ok {
			continue
		}
		counted, ok := regionsBefore[info.region]
		if !ok {
			counted = newCauses(chain.KindALB)
		}
		s.regions[info.region] = counted
	}
	for name, known := range before {
		if s.groups[name].info.region != known.info.region {
			gone = append(gone, name)
		}
	}
	return gone
}

// recordGroup counts a run; false: its target is not known.
func (s *state) recordGroup(run chain.Run) bool {
	name := clean(run.Target.Name)
	group, ok := s.groups[name]
	if !ok {
		return false
	}
	group.count(run.Verdict)
	s.regions[group.info.region].count(run)
	group.steps.count(run)
	if seen := run.Reading; seen != nil {
		group.good += seen.Good()
		group.bad += seen.Bad()
	}
	group.reading = run.KnownReading(group.reading)
	if request := requestOf(run); request != nil && group.requested {
		end, err := time.Parse(time.RFC3339, request.Facts[chain.FactTLSNotAfter])
		if err == nil || request.Outcome == chain.OutcomeSuccess { // a success without a certificate had no TLS
			group.certExpires = end
		}
	}
	s.groups[name] = group
	return true
}

// requestOf returns what the step request showed; nil when the run does not mention it.
func requestOf(run chain.Run) *chain.StepResult {
	for i := range run.Steps {
		if run.Steps[i].Step == chain.StepRequest {
			return &run.Steps[i]
		}
	}
	return nil
}

// statesOf counts a reading's own targets by state: every state of the API, and those that it has besides.
func statesOf(reading *chain.GroupReading) map[string]int {
	count := map[string]int{}
	for _, state := range chain.TargetStates {
		count[string(state)] = 0
	}
	for _, target := range reading.Targets {
		if !target.Foreign {
			count[clean(string(target.State))]++
		}
	}
	return count
}
