// The list of targets as its template shows it: plain values, made from one snapshot, the broken ones first.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// headView is what every page begins with.
type headView struct {
	Title string
	Read  moment
}

type indexView struct {
	headView
	Sections []sectionView
}

// sectionView holds the targets of one kind that are in one state.
type sectionView struct {
	ID, Title, Head string
	Targets         []rowView
}

// rowView is a target in the list.
type rowView struct {
	Name, Path string
	Pending    bool // no event yet: what follows is empty
	Outcome    chain.Outcome
	Where      string
	Short      string // the detail, cut
	HasFix     bool   // on the target's page
	Since      moment
	For        string // how long the verdict stands
	Age        string // of the last event
	Ladder     []chain.StepResult
	Group      *targetGroupView // alb; nil before the first reading

	kind chain.Kind
}

// states part the list into sections, the most urgent first. Their words are the outcomes'.
var states = []struct {
	id, title, count string
	has              func(rowView) bool
}{
	{"failure", "Failure", "%d failure", func(r rowView) bool { return !r.Pending && r.Outcome == chain.OutcomeFailure }},
	{"unknown", "Unknown: the probe could not tell", "%d unknown", func(r rowView) bool {
		return !r.Pending && r.Outcome != chain.OutcomeFailure && r.Outcome != chain.OutcomeSuccess
	}},
	{"pending", "No event yet", "%d without an event yet", func(r rowView) bool { return r.Pending }},
	{"success", "Success", "%d success", func(r rowView) bool { return !r.Pending && r.Outcome == chain.OutcomeSuccess }},
}

// kinds share the list: of each state first the access targets, then the target groups.
var kinds = []struct {
	kind            chain.Kind
	id, title, head string
}{
	{chain.KindAccess, "", "", "Target"},
	{chain.KindALB, "alb-", "Target groups · ", "Target group"},
}

func newIndexView(all []results.Status, now time.Time) indexView {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b results.Status) int { return cmp.Compare(a.Target.Cluster.Name, b.Target.Cluster.Name) })
	rows := make([]rowView, 0, len(all))
	for _, status := range all {
		rows = append(rows, newRowView(status, now))
	}
	view := indexView{headView: headView{"No targets", newMoment(now)}}
	var counts []string
	for _, state := range states {
		n := 0
		for _, k := range kinds {
			section := sectionView{ID: k.id + state.id, Title: k.title + state.title, Head: k.head}
			for _, row := range rows {
				if row.kind == k.kind && state.has(row) {
					section.Targets = append(section.Targets, row)
				}
			}
			if len(section.Targets) > 0 {
				view.Sections = append(view.Sections, section)
			}
			n += len(section.Targets)
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf(state.count, n))
		}
	}
	if len(counts) > 0 {
		view.Title = "Targets: " + strings.Join(counts, ", ")
	}
	return view
}

func newRowView(status results.Status, now time.Time) rowView {
	row := rowView{Name: visible(status.Target.Name), Path: "/targets/" + url.PathEscape(status.Target.Name), Pending: status.Latest == nil, kind: status.Target.Kind}
	if row.Pending {
		return row
	}
	run := status.Latest
	verdict := run.Verdict
	row.Outcome, row.Where, row.Short, row.HasFix = verdict.Outcome, where(verdict.Step, verdict.Reason), short(verdict.Detail), verdict.Fix != ""
	row.Since, row.For, row.Age, row.Ladder = newMoment(status.Since), span(now.Sub(status.Since)), span(now.Sub(run.Started)), run.Steps
	if group := groupOf(status); group != nil {
		row.Group = newTargetGroupView(group, status.Reading.At, now)
	}
	return row
}
