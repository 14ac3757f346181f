// A prober: its counters, and the samples that scrapes take of them.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

const job = "eks-slo-exporter"

// prober is one exporter as Prometheus sees it.
type prober struct {
	store    *store
	instance string
	targets  int
	unprimed bool
	life     window // in which Prometheus knows it
	blind    bool   // every event is unknown to it

	series  []*served
	effects map[event][]int // the series that an event adds 1 to
	up      *column
	pods    int // that were replaced
}

// served is a series that a prober serves.
type served struct {
	kind   int // the place of the family
	family family
	row    []string
	column *column
	value  float64
	absent bool // until its first event
	there  bool // in the latest scrape
}

// newProber makes a prober with all series at 0.
func (w *world) newProber(instance string, life window) *prober {
	p := &prober{store: w.store, instance: instance, targets: w.scenario.Targets, unprimed: w.scenario.Unprimed, life: life, effects: map[event][]int{}}
	for kind, f := range w.families {
		known := map[string]bool{}
		for i := range w.scenario.Targets {
			for _, row := range f.primed(targetName(i)) {
				key := strings.Join(row, "\xff")
				if !known[key] && w.serves(f, row) {
					p.series = append(p.series, &served{kind: kind, family: f, row: row})
				}
				known[key] = true
			}
		}
	}
	p.reset()
	p.attach()
	return p
}

// serves leaves out the reasons that nothing is blamed on: they stay at 0, and there are more than a hundred.
func (w *world) serves(f family, row []string) bool {
	n := len(f.labels)
	if n < 2 || f.labels[n-1] != "reason" || f.labels[n-2] != "step" {
		return true
	}
	for _, h := range w.events {
		if row[n-2] == h.Step.String() && row[n-1] == string(h.Reason) {
			return true
		}
	}
	return false
}

// attach names the series by the prober's instance.
func (p *prober) attach() {
	own := []string{"instance", p.instance, "job", job}
	p.up = p.store.column(labels.FromStrings(append(own, model.MetricNameLabel, "up")...), scrapedSeries)
	for _, s := range p.series {
		pairs := append([]string{model.MetricNameLabel, s.family.name}, own...)
		for i, name := range s.family.labels {
			pairs = append(pairs, name, s.row[i])
		}
		s.column = p.store.column(labels.FromStrings(pairs...), scrapedSeries)
	}
}

// reset is a start of the exporter: counters are 0, gauges what they are when all is well.
func (p *prober) reset() {
	for _, s := range p.series {
		s.value, s.absent = 0, p.unprimed && s.family.counts != nil
		if s.family.gauge != nil {
			s.value = s.family.gauge(s.row, event{result: success})
		}
	}
}

// rename is another pod in the prober's place: its series have ended, others begin.
func (p *prober) rename(t int64) {
	p.gone(t)
	p.pods++
	p.instance = fmt.Sprintf("exporter-1-%d", p.pods)
	p.attach()
}

// count adds an event to the counters. All targets see the same.
func (p *prober) count(e event) {
	effects, ok := p.effects[e]
	if !ok {
		effects = p.effectsOf(e)
		p.effects[e] = effects
	}
	for _, i := range effects {
		p.series[i].value += float64(e.times)
		p.series[i].absent = false
	}
	for _, s := range p.series {
		if s.family.gauge != nil {
			s.value = s.family.gauge(s.row, e)
		}
	}
}

func (p *prober) effectsOf(e event) []int {
	index := map[string]int{}
	done := map[int]bool{}
	for i, s := range p.series {
		index[s.family.name+"\xff"+strings.Join(s.row, "\xff")] = i
	}
	var effects []int
	for _, s := range p.series {
		if s.family.counts == nil || done[s.kind] {
			continue
		}
		done[s.kind] = true
		for t := range p.targets {
			for _, row := range s.family.counts(targetName(t), e) {
				if i, ok := index[s.family.name+"\xff"+strings.Join(row, "\xff")]; ok {
					effects = append(effects, i)
				}
			}
		}
	}
	return effects
}

// scraped is a scrape that succeeds.
func (p *prober) scraped(t int64) {
	_ = p.store.add(p.up, promql.FPoint{T: t, F: 1}) // scrapes are in the order of time
	for _, s := range p.series {
		p.serve(s, t)
	}
}

// serve is one series in a scrape.
func (p *prober) serve(s *served, t int64) {
	if s.absent || math.IsNaN(s.value) {
		s.end(p.store, t)
		return
	}
	s.there = true
	_ = p.store.add(s.column, promql.FPoint{T: t, F: s.value})
}

// end marks a series that the scrape before had.
func (s *served) end(into *store, t int64) {
	if s.there {
		_ = into.add(s.column, stale(t))
	}
	s.there = false
}

// missed is a scrape that does not: Prometheus writes up as 0, and that all series have ended.
func (p *prober) missed(t int64) {
	p.ended(t)
	_ = p.store.add(p.up, promql.FPoint{T: t, F: 0})
}

// gone is a prober that Prometheus does not know, or no more.
func (p *prober) gone(t int64) {
	p.ended(t)
	if n := len(p.up.points); n > 0 && p.up.points[n-1].F == p.up.points[n-1].F { // not marked yet
		_ = p.store.add(p.up, stale(t))
	}
}

func (p *prober) ended(t int64) {
	for _, s := range p.series {
		s.end(p.store, t)
	}
}
