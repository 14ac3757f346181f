// A group is one SLO of one group of labels, while it is put together from what the server answers.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// windows are those of the alerts of which events are counted. Of shorter ones only a ratio is recorded.
var windows = []struct {
	name   string
	length time.Duration
}{{"1h", time.Hour}, {"2h", 2 * time.Hour}, {"6h", 6 * time.Hour}, {"1d", slo.Day}, {"3d", 3 * slo.Day}}

// group holds what is recorded of one SLO for one group.
type group struct {
	id, service, name string
	labels            map[string]string

	now       map[string]float64 // the last values, by the name of the series
	evaluated time.Time          // when the rules recorded them
	firing    []slo.Severity
	closed    map[int64]count   // the full hours of the clock, by the number of the hour in which they end
	since     map[int]count     // since the full hour, by how many hours before now
	causes    map[cause]float64 // bad events of hours by layer or reason
	problem   *Error            // the first; nil: none
}

// cause is one hour of a series that is split by layer or by reason.
type cause struct {
	split, value string
	hour         int // that ended so many hours before now
}

// count is events before they are rounded.
type count struct{ bad, events float64 }

// groups are those of an answer, by identity.
type groups struct {
	ignored []string
	all     map[string]*group
}

// identity is what tells an SLO of a group apart: labels without Sloth's, without those that tell replicas of Prometheus apart, and without the one that a series is split by.
func (g *groups) identity(metric model.Metric, split string) (labels map[string]string, key string) {
	labels = map[string]string{}
	for name, value := range metric {
		label := string(name)
		if label == model.MetricNameLabel || label == split || strings.HasPrefix(label, labelPrefix) || slices.Contains(g.ignored, label) {
			continue
		}
		labels[label] = string(value)
	}
	return labels, string(metric[labelID]) + " " + written(labels)
}

// of finds the group of a series; nil when there is none.
func (g *groups) of(metric model.Metric, split string) *group {
	_, key := g.identity(metric, split)
	return g.all[key]
}

// open finds the group of a series, and makes it when it is new.
func (g *groups) open(metric model.Metric) *group {
	labels, key := g.identity(metric, "")
	if g.all[key] == nil {
		g.all[key] = &group{
			id: string(metric[labelID]), service: string(metric[labelService]), name: string(metric[labelName]), labels: labels,
			now: map[string]float64{}, closed: map[int64]count{}, since: map[int]count{}, causes: map[cause]float64{},
		}
	}
	return g.all[key]
}

// sorted are the groups in the order of their identities.
func (g *groups) sorted() []*group {
	var sorted []*group
	for _, key := range slices.Sorted(maps.Keys(g.all)) {
		sorted = append(sorted, g.all[key])
	}
	return sorted
}

// set keeps a present value; of several replicas' the largest.
func (g *group) set(name string, value float64) {
	if !g.sound(name, value) {
		return
	}
	if known, ok := g.now[name]; !ok || value > known {
		g.now[name] = value
	}
}

// sound says whether a value can be used. If not, that is the group's problem: nothing of it is used then.
func (g *group) sound(name string, value float64) bool {
	if value >= 0 && !math.IsInf(value, 1) {
		return true
	}
	g.fail(errorOf(KindNotANumber, "%s of %s is %v", name, g, value))
	return false
}

// fail keeps the first problem.
func (g *group) fail(e *Error) {
	if g.problem == nil {
		g.problem = e
	}
}

// String names the group, such as eks-access-availability{cluster="prod"}.
func (g *group) String() string {
	if len(g.labels) == 0 {
		return g.id
	}
	return g.id + written(g.labels)
}

// value is a present value, and whether there is one.
func (g *group) value(name string) (float64, bool) {
	value, ok := g.now[name]
	return value, ok
}

// counted are the bad events and all events of a series' suffix, when both are known.
func (g *group) counted(suffix string) (count, bool) {
	bad, known := g.now[badPrefix+suffix]
	events, both := g.now[eventsPrefix+suffix]
	return count{bad, events}, known && both
}

// whole rounds halves upwards. What floats lose of a half in adding up is given back.
func whole(x float64) int64 { return int64(math.Floor(x + .5 + 1e-6)) }

// rounded are whole events.
func (c count) rounded() slo.Counts { return slo.Counts{Bad: whole(c.bad), Events: whole(c.events)} }

func (c count) plus(other count) count { return count{c.bad + other.bad, c.events + other.events} }

// less takes away what is a part of the count.
func (c count) less(part count) count {
	return count{max(0, c.bad-part.bad), max(0, c.events-part.events)}
}

// larger is the larger of both, each: what another replica of Prometheus has missed is not known to it.
func (c count) larger(other count) count {
	return count{max(c.bad, other.bad), max(c.events, other.events)}
}

// objective is what slo:objective:ratio holds, exactly: the shortest decimal that is this float.
func objective(ratio float64) (slo.Objective, error) {
	exact, ok := slo.Exact(ratio)
	if !ok {
		return slo.Objective{}, fmt.Errorf("reading the objective %v: it is no number", ratio)
	}
	return slo.ParseObjective(slo.Decimal(exact.Mul(exact, big.NewRat(100, 1))))
}
