// The report of a simulation: alerts, budget, what was recorded, and what is wrong with it.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Report is what a simulation found.
type Report struct {
	Scenario    string `json:"scenario"`
	Description string `json:"description,omitempty"`
	SLO         string `json:"slo"`
	Objective   string `json:"objective"` // per cent
	Period      string `json:"period"`

	Start time.Time `json:"start"` // that the times of the scenario's events count from
	From  time.Time `json:"from"`  // when the history begins
	Shown time.Time `json:"shown"` // from when on recorded series are in the report: shortly before the start
	To    time.Time `json:"to"`

	Alerts  []Alert  `json:"alerts"`
	Budgets []Budget `json:"budgets"`
	Gate    Gate     `json:"gate"`

	Recorded    []Recorded        `json:"recorded"`
	NotFinite   int               `json:"not_finite"`  // samples recorded that are NaN or infinite
	Failed      int               `json:"failed"`      // evaluations of rules that were errors
	Errors      []EvaluationError `json:"errors"`      // the first of them
	Evaluations int               `json:"evaluations"` // of rules
	Samples     int               `json:"samples"`     // scraped and recorded

	happened []lane  // the scenario's events, for the picture
	budget   float64 // the share of the events that may be bad
}

// Budget is the error budget of one group at the end: the truth, and what the rules recorded.
type Budget struct {
	Count
	Allowed  float64  `json:"allowed"`            // bad events that the objective allows of the total
	Left     float64  `json:"left"`               // true share of the budget that is left; negative when it is overspent
	Recorded *float64 `json:"recorded,omitempty"` // the same as recorded; none when nothing is
	Bad30d   *float64 `json:"recorded_bad,omitempty"`
	Total30d *float64 `json:"recorded_total,omitempty"`
}

// Gate is whether a release would have been let through at the end.
type Gate struct {
	Verdict string `json:"verdict"` // allow, block or cannot tell
	Why     string `json:"why"`
}

// Recorded is a series that the rules recorded, thinned out.
type Recorded struct {
	Metric string            `json:"metric"`
	Labels map[string]string `json:"labels"`
	Times  []int64           `json:"times"` // seconds since 1970
	Values []float64         `json:"values"`
}

const (
	errorsShown  = 20
	pointsShown  = 400
	remaining    = "slo:period_error_budget_remaining:ratio"
	badPeriod    = "slo:bad_events:period"
	eventsPeriod = "slo:events:period"
	idLabel      = "sloth_id"
)

func newReport(ctx context.Context, w *world, run *run, about SLO) (*Report, error) {
	s := w.scenario
	r := &Report{
		Scenario: s.Name, Description: s.Description, SLO: about.ID, Objective: about.Objective.String(), Period: slo.FormatDuration(about.Period),
		Start: s.Start, From: instant(s.begin()), Shown: instant(s.shownFrom()), To: instant(s.end()),
		Alerts: run.sortedAlerts(), Evaluations: run.count,
		happened: s.lanes(),
	}
	r.budget, _ = about.Objective.Budget().Float64()
	run.checkTemplates()
	r.Failed, r.Errors = len(run.errors), run.errors[:min(len(run.errors), errorsShown)]
	for _, c := range w.store.all() {
		r.Samples += len(c.points)
		if c.order == scrapedSeries {
			continue
		}
		r.NotFinite += notFinite(c.points)
		if about.ID == "" || c.labels.Get(idLabel) == about.ID {
			r.Recorded = append(r.Recorded, thinned(c, s.shownFrom(), s.end()))
		}
	}
	counts, err := w.counts(ctx, about)
	if err != nil {
		return nil, err
	}
	for _, count := range counts {
		r.Budgets = append(r.Budgets, w.budget(count, about))
	}
	r.Gate = gate(r.Budgets)
	return r, nil
}

// counts is the truth of the period; nothing when the samples are of a real Prometheus, of which nobody knows it.
func (w *world) counts(ctx context.Context, about SLO) ([]Count, error) {
	if w.truth == nil || about.ErrorQuery == "" || about.TotalQuery == "" {
		return nil, nil
	}
	return w.truth.of(ctx, about.ErrorQuery, about.TotalQuery)
}

func (w *world) budget(count Count, about SLO) Budget {
	share, _ := about.Objective.Budget().Float64()
	b := Budget{Count: count, Allowed: share * count.Total, Left: 1}
	if b.Allowed > 0 {
		b.Left = 1 - count.Bad/b.Allowed
	}
	last := func(metric string) *float64 { return w.last(metric, count.Labels, about.ID) }
	b.Recorded, b.Bad30d, b.Total30d = last(remaining), last(badPeriod), last(eventsPeriod)
	return b
}

// last is the latest value of a recorded series of a group; none when there is no series, or it has ended.
func (w *world) last(metric string, group map[string]string, id string) *float64 {
	wanted := []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, metric)}
	for name, value := range group {
		wanted = append(wanted, labels.MustNewMatcher(labels.MatchEqual, name, value))
	}
	if id != "" {
		wanted = append(wanted, labels.MustNewMatcher(labels.MatchEqual, idLabel, id))
	}
	end := w.scenario.end()
	for _, c := range w.store.selected(end-lookback.Milliseconds()+1, end, wanted) {
		if n := len(c.points); n > 0 && !value.IsStaleNaN(c.points[n-1].F) {
			return &c.points[n-1].F
		}
	}
	return nil
}

func gate(budgets []Budget) Gate {
	g := Gate{Verdict: "allow", Why: "budget is left"}
	if len(budgets) == 0 {
		return Gate{Verdict: "cannot tell", Why: "there were no events"}
	}
	for _, b := range budgets {
		switch {
		case b.Recorded == nil || math.IsNaN(*b.Recorded):
			return Gate{Verdict: "cannot tell", Why: "no budget is recorded"}
		case *b.Recorded <= 0:
			g = Gate{Verdict: "block", Why: "the budget is spent"}
		}
	}
	return g
}

func notFinite(points []promql.FPoint) int {
	n := 0
	for _, p := range points {
		if !value.IsStaleNaN(p.F) && (math.IsNaN(p.F) || math.IsInf(p.F, 0)) {
			n++
		}
	}
	return n
}

// thinned keeps the least and the greatest sample of each of a number of equal times, and the last of all, so that a month can be drawn with its peaks.
func thinned(c column, from, to int64) Recorded {
	shown := c.labels.Map()
	delete(shown, model.MetricNameLabel)
	r := Recorded{Metric: c.labels.Get(model.MetricNameLabel), Labels: shown}
	keep := func(p promql.FPoint) {
		if n := len(r.Times); n == 0 || r.Times[n-1] < p.T/1000 {
			r.Times, r.Values = append(r.Times, p.T/1000), append(r.Values, p.F)
		}
	}
	points := slices.DeleteFunc(slices.Clone(within(c.points, from, to)), func(p promql.FPoint) bool { return math.IsNaN(p.F) || math.IsInf(p.F, 0) })
	every := max((to-from)/pointsShown, 1)
	for len(points) > 0 {
		end := search(points, from+((points[0].T-from)/every+1)*every)
		least, greatest := extremes(points[:end])
		keep(points[min(least, greatest)])
		keep(points[max(least, greatest)])
		if end == len(points) {
			keep(points[end-1])
		}
		points = points[end:]
	}
	return r
}

func extremes(points []promql.FPoint) (least, greatest int) {
	for i, p := range points {
		if p.F < points[least].F {
			least = i
		}
		if p.F > points[greatest].F {
			greatest = i
		}
	}
	return least, greatest
}

// JSON writes the report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
