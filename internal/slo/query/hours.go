// The hours of a period, which end where the period does, from what is recorded of the full hours of the clock.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"math"
	"slices"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// The hours of a status are not those of the clock: they end at the time t of the evaluation, at t - 1h, and so on. Each is made of the end of one hour of the clock and the beginning of the next:
//
//	what came since the full hour, at t - k·1h, and
//	what the hour of the clock before that had, less what came in it until t - (k+1)·1h.
//
// That is the arithmetic of slo:events:period, so the hours add up to it. The hours of the clock are kept every few minutes only, and a month of them is read fast. What came since the full hour is
// recorded twice a minute: it is read at the ends of the period, and in hours that have bad events or other numbers of events than those beside them. In every other hour nothing was bad, and
// events came evenly.

// readClosed asks for the full hours of the clock. What is kept of one is read a minute before the next ends, as the rules do.
func (q *asking) readClosed(prefix string) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		end := q.at.Truncate(time.Hour)
		matrix, err := q.multiples(ctx, "last_over_time("+prefix+suffixHours+q.selection.ofGroup()+"[59m] offset 1m)", v1.Range{Start: end.Add(-q.longest), End: end, Step: time.Hour})
		return func() {
			for _, stream := range matrix {
				if g := q.groups.of(stream.Metric, ""); g != nil {
					g.keepClosed(prefix, stream.Values)
				}
			}
		}, err
	}
}

// keepClosed keeps hours that were read at the end of the next.
func (g *group) keepClosed(prefix string, values []model.SamplePair) {
	for _, pair := range values {
		if value := float64(pair.Value); g.sound(prefix+suffixHours, value) {
			end := hourOf(pair.Timestamp.Time()) - 1
			g.closed[end] = g.total(end).larger(only(prefix, value))
		}
	}
}

// hourOf is the number of the hour of the clock that a time is in, or at whose beginning it is.
func hourOf(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

// only is a count of which one half is known.
func only(prefix string, value float64) count {
	if prefix == badPrefix {
		return count{bad: value, events: -1}
	}
	return count{bad: -1, events: value}
}

// total is what is known of a full hour; -1 is not known.
func (g *group) total(end int64) count {
	if known, ok := g.closed[end]; ok {
		return known
	}
	return count{-1, -1}
}

// clock are the hours of the clock that a period touches, the latest first: the one that is not over, and one more than the period has hours.
type clock struct {
	totals []count // and 0 where nothing is known
	known  []bool
}

// clock puts the hours of the clock in order.
func (g *group) clock() clock {
	full := hourOf(g.evaluated)
	n := int(g.period()/time.Hour) + 1
	c := clock{make([]count, n), make([]bool, n)}
	c.totals[0], c.known[0] = g.counted(suffixSince)
	for j := 1; j < n; j++ {
		total := g.total(full + 1 - int64(j))
		if last, ok := g.counted(suffixHour); j == 1 && ok {
			total = last
		}
		if total.bad >= 0 && total.events >= 0 {
			c.totals[j], c.known[j] = total, true
		}
	}
	if !c.known[0] {
		c.totals[0] = count{}
	}
	return c
}

// uneven says whether it must be read how an hour of the clock came about.
func (c clock) uneven(j int) bool {
	differs := func(other int) bool {
		if other < 1 || other >= len(c.totals) {
			return false
		}
		a, b := c.totals[j].events, c.totals[other].events
		return math.Abs(a-b) > max(2, .02*max(a, b))
	}
	return j == len(c.totals)-1 || (c.known[j] && (c.totals[j].bad > 0 || differs(j-1) || differs(j+1)))
}

// sinceFull is what came since the full hour before t - j·1h.
func (g *group) sinceFull(c clock, j int) count {
	if j == 0 {
		return c.totals[0]
	}
	passed := float64(g.evaluated.Sub(g.evaluated.Truncate(time.Hour))) / float64(time.Hour)
	since := count{events: c.totals[j].events * passed}
	if read, ok := g.since[j]; ok {
		since = read
	}
	return count{min(max(0, since.bad), c.totals[j].bad), min(max(0, since.events), c.totals[j].events)}
}

// hours are the hours of the period, oldest first.
//
// They are rounded so that the latest hours together, however many, are rounded once: what will be left of the period when the others have left it.
func (g *group) hours() []slo.Hour {
	c := g.clock()
	n := len(c.totals) - 1
	hours := make([]slo.Hour, 0, n)
	var sum count
	var before slo.Counts
	for k, since := 0, g.sinceFull(c, 0); k < n; k++ {
		sum = sum.plus(since)
		since = g.sinceFull(c, k+1)
		sum = sum.plus(c.totals[k+1].less(since))
		rounded := sum.rounded()
		if c.known[k] || c.known[k+1] {
			hours = append(hours, slo.Hour{End: g.evaluated.Add(-time.Duration(k) * time.Hour), Counts: slo.Counts{Bad: rounded.Bad - before.Bad, Events: rounded.Events - before.Events}})
		}
		before = rounded
	}
	slices.Reverse(hours)
	return hours
}
