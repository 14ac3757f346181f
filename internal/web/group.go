// A target group as the templates show it: counts by state in the list, and on its page every target, what AWS says and what the cluster says.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// memberLimit is how many targets a page shows; the API has all.
const memberLimit = 200

// targetGroupView is a target group's reading.
type targetGroupView struct {
	Counts   []countView
	Age      string // of the reading
	Read     moment
	AWS      string
	Cluster  string // "" when no cluster was asked
	FailOpen string // what it means; "" when it is not
	Members  []memberView
	More     int // members beyond the limit
}

// stateView is the state of targets: its shape and colour, and its word.
type stateView struct{ Mark, Class, Text string }

type countView struct {
	stateView
	N int
}

// memberView is one registered target.
type memberView struct {
	stateView
	Code, ID, Zone, For, Who string
}

// groupOf describes the target group's reading, which may be older than the latest run; nil before the first.
func groupOf(status results.Status) *results.Group {
	if status.Latest == nil {
		return nil
	}
	run := *status.Latest
	run.Reading = status.Reading
	return results.NewGroup(run)
}

// newTargetGroupView has no members yet: the list counts them only.
func newTargetGroupView(group *results.Group, at, now time.Time) *targetGroupView {
	view := &targetGroupView{Age: span(now.Sub(at)), Read: newMoment(at), AWS: visible(group.AWS), Cluster: visible(group.Cluster), FailOpen: visible(group.FailOpen)}
	for _, c := range group.Counts {
		view.Counts = append(view.Counts, countView{newStateView(c.State), c.N})
	}
	return view
}

func (v *targetGroupView) addMembers(targets []chain.TargetReading, now time.Time) {
	v.More = max(0, len(targets)-memberLimit)
	for _, t := range targets[:len(targets)-v.More] {
		v.Members = append(v.Members, newMemberView(t, now))
	}
}

// newStateView shows good and bad as outcomes are shown, and what is neither as a ring.
func newStateView(state chain.TargetState) stateView {
	view := stateView{"○", "neither", visible(string(state))}
	switch {
	case state == chain.TargetHealthy:
		view.Mark, view.Class = mark(chain.OutcomeSuccess), chain.OutcomeSuccess.String()
	case state.Bad():
		view.Mark, view.Class = mark(chain.OutcomeFailure), chain.OutcomeFailure.String()
	}
	return view
}

func newMemberView(t chain.TargetReading, now time.Time) memberView {
	view := memberView{stateView: newStateView(t.State), Code: visible(t.Code), ID: visible(results.TargetAddress(t)), Zone: visible(t.Zone), Who: visible(results.TargetOwner(t))}
	if !t.Since.IsZero() {
		view.For = span(now.Sub(t.Since))
	}
	return view
}
