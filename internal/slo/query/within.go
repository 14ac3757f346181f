// What happened within the hours that matter: the part of an hour of the clock, and what its bad events were.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"maps"
	"slices"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// readWithin asks for the values within the period that matter, at times that are whole hours before now.
func (q *asking) readWithin(ctx context.Context) error {
	needed := map[int]bool{}
	for _, g := range q.groups.all {
		if g.problem == nil && !g.evaluated.IsZero() {
			g.needs(needed)
		}
	}
	var questions []func(context.Context) (func(), error)
	delete(needed, 0)
	for _, r := range runs(slices.Sorted(maps.Keys(needed))) {
		questions = append(questions, func(ctx context.Context) (func(), error) {
			matrix, err := q.matrix(ctx, q.selection.ofGroup(named(recordedThen)), v1.Range{Start: q.ago(r.last), End: q.ago(r.first), Step: time.Hour})
			return func() {
				for _, stream := range matrix {
					for _, pair := range stream.Values {
						q.keepThen(stream.Metric, int(q.at.Sub(pair.Timestamp.Time())/time.Hour), float64(pair.Value))
					}
				}
			}, err
		})
	}
	return q.together(ctx, questions...)
}

// ago is a time that is whole hours before now.
func (q *asking) ago(hours int) time.Time { return q.at.Add(-time.Duration(hours) * time.Hour) }

// needs adds the hours of a group that matter, by how long ago they ended. What was bad in an hour of the clock is in two hours of the period.
func (g *group) needs(needed map[int]bool) {
	c := g.clock()
	for j := 1; j < len(c.totals); j++ { // what is recorded now is known
		if c.totals[j].bad > 0 || c.uneven(j) {
			needed[j], needed[j-1] = true, true
		}
	}
}

// run is a number of hours one after the other.
type run struct{ first, last int }

// runs puts hours together so that few questions are asked, and not for much more than is needed.
func runs(hours []int) []run {
	const most = 6
	for gap := 6; ; gap *= 2 {
		var all []run
		for _, hour := range hours {
			if n := len(all); n > 0 && hour-all[n-1].last <= gap {
				all[n-1].last = hour
			} else {
				all = append(all, run{hour, hour})
			}
		}
		if len(all) <= most {
			return all
		}
	}
}

// splits are the labels that series of causes have besides those of the group.
var splits = map[string]string{metricBySteps: "step", metricByReasons: "reason"}

// keepThen keeps a value of a number of hours ago. Replicas' values are merged by the largest.
func (q *asking) keepThen(metric model.Metric, hour int, value float64) {
	name := string(metric[model.MetricNameLabel])
	split := splits[name]
	g := q.groups.of(metric, split)
	switch {
	case g == nil || !g.sound(name, value):
	case split != "":
		key := cause{split, string(metric[model.LabelName(split)]), hour}
		g.causes[key] = max(g.causes[key], value)
	case name == badPrefix+suffixSince:
		g.since[hour] = g.since[hour].larger(count{bad: value})
	default:
		g.since[hour] = g.since[hour].larger(count{events: value})
	}
}
