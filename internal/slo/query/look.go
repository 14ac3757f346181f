// A look into one hour of a status, by which its steps are told apart.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"maps"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Look tells what happened within the hours of a status of this reader's, in steps of at least the interval at which rules are evaluated. Where a step was not recorded, its events are in the next one
// that was. The error is of type *Error; KindNoData says that nothing of the hour is kept in such detail.
func (r *Reader) Look(status slo.Status) slo.Look {
	return func(ctx context.Context, hour slo.Hour, step time.Duration) ([]slo.Counts, error) {
		selector := maps.Clone(status.Labels)
		if selector == nil {
			selector = map[string]string{}
		}
		selector["id"] = status.ID
		selected, err := newSelection(selector)
		if err != nil {
			return nil, err
		}
		q := r.asking(selected)
		start := hour.End.Add(-time.Hour)
		matrix, err := q.matrix(ctx, q.selection.ofGroup(named("slo:(bad_)?events:"+suffixSince)), v1.Range{Start: start, End: hour.End, Step: step})
		if err != nil {
			return nil, r.from(err)
		}
		l := look{start: start, step: step, since: map[int]count{}}
		for _, stream := range matrix {
			if labels, _ := q.groups.identity(stream.Metric, ""); len(labels) == len(status.Labels) {
				if err := l.keep(stream); err != nil {
					return nil, r.from(err)
				}
			}
		}
		steps, err := l.steps(hour)
		return steps, r.from(err)
	}
}

// look is what came since the full hour, at the ends of steps; 0 is the beginning of the first.
type look struct {
	start time.Time
	step  time.Duration
	since map[int]count
}

func (l look) keep(stream *model.SampleStream) error {
	bad := string(stream.Metric[model.MetricNameLabel]) == badPrefix+suffixSince
	scratch := group{id: string(stream.Metric[labelID])}
	for _, pair := range stream.Values {
		value, i := float64(pair.Value), int(pair.Timestamp.Time().Sub(l.start).Round(l.step)/l.step)
		if !scratch.sound(string(stream.Metric[model.MetricNameLabel]), value) {
			return scratch.problem
		}
		known, ok := l.since[i]
		if !ok {
			known = count{-1, -1}
		}
		if bad {
			known.bad = max(known.bad, value)
		} else {
			known.events = max(known.events, value)
		}
		l.since[i] = known
	}
	return nil
}

// steps are the events of each step. In the first hour of the clock they are counted from the beginning, in the next one from the end: what is between them is the rest of the hour.
func (l look) steps(hour slo.Hour) ([]slo.Counts, error) {
	n := int(time.Hour / l.step)
	var until slo.Counts
	known := false
	steps := make([]slo.Counts, n)
	for i := 1; i <= n; i++ {
		upTo := until
		switch at, ok := l.upTo(i, hour); {
		case i == n:
			upTo = hour.Counts
		case ok:
			known = true
			if at.Bad > hour.Bad+1 || at.Events > hour.Events+1 { // 1: both are rounded
				return nil, errorOf(KindNoData, "the minutes of the hour that ended at %s have more events than the hour", hour.End.Format(time.RFC3339))
			}
			upTo = slo.Counts{Bad: min(max(at.Bad, until.Bad), hour.Bad), Events: min(max(at.Events, until.Events), hour.Events)}
		}
		steps[i-1] = slo.Counts{Bad: upTo.Bad - until.Bad, Events: upTo.Events - until.Events}
		until = upTo
	}
	if !known {
		return nil, errorOf(KindNoData, "nothing is kept of the minutes of the hour that ended at %s", hour.End.Format(time.RFC3339))
	}
	return steps, nil
}

// upTo is what came until the end of a step, if that is known.
func (l look) upTo(i int, hour slo.Hour) (slo.Counts, bool) {
	since, ok := l.at(i)
	if !ok {
		return slo.Counts{}, false
	}
	if l.start.Add(time.Duration(i) * l.step).Before(hour.End.Truncate(time.Hour)) {
		first, _ := l.at(0) // none at all when counting began later
		return since.less(first).rounded(), true
	}
	last, ok := l.at(int(time.Hour / l.step))
	rest := last.less(since).rounded()
	return slo.Counts{Bad: hour.Bad - rest.Bad, Events: hour.Events - rest.Events}, ok
}

// at is what came since the full hour, if that is known.
func (l look) at(i int) (count, bool) {
	since, ok := l.since[i]
	if !ok || since.bad < 0 || since.events < 0 {
		return count{}, false
	}
	return since, true
}
