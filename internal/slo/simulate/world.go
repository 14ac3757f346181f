// The world of a scenario: probes in their slots, what becomes of them, and when each prober is scraped.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// world makes the samples of a scenario.
type world struct {
	scenario *Scenario
	families []family
	probers  []*prober
	events   []*happening
	store    *store
	truth    *truth
}

// happening is an event with what is drawn for it as time goes by.
type happening struct {
	Event
	window
	random *rand.Rand
	seen   int  // slots since it began
	done   bool // of a restart
}

// newWorld prepares the world of a scenario. Its truth is counted over the last of the SLO's period.
func newWorld(s *Scenario, families []family, since int64) *world {
	w := &world{scenario: s, families: families, store: newStore()}
	for i, e := range s.Events {
		random := rand.New(rand.NewPCG(s.Seed, uint64(i)+1)) //nolint:gosec // a simulation that must repeat itself, no secret
		w.events = append(w.events, &happening{Event: blamed(e, families), window: s.window(e), random: random})
	}
	primary := w.newProber("exporter-1", window{s.begin(), s.end() + 1})
	w.probers = []*prober{primary}
	w.truth = newTruth(primary, since)
	for _, e := range w.events {
		if e.Kind == Replica {
			replica := w.newProber("exporter-2", e.window)
			replica.blind = e.Result == unknown
			w.probers = append(w.probers, replica)
		}
	}
	return w
}

// blamed gives an event that makes probes fail a step and a reason: those of the chain whose metrics are served.
func blamed(e Event, families []family) Event {
	if e.Step == chain.StepNone {
		e.Step, e.Reason = chain.StepEndpoint, chain.ReasonTCPTimeout
		if len(families) > 0 && !slices.ContainsFunc(families, func(f family) bool { return strings.HasPrefix(f.name, "eks_access") }) {
			e.Step, e.Reason = chain.StepHealth, chain.ReasonHealthCheckTimeout
		}
	}
	if e.Reason == "" {
		e.Reason = chain.ReasonsOf(e.Step)[0].Reason
	}
	return e
}

// run makes all samples.
func (w *world) run() {
	s := w.scenario
	cadence, interval := s.Cadence.Milliseconds(), s.ScrapeInterval.Milliseconds()
	slot := s.zero() - s.History.Milliseconds()/cadence*cadence
	if slot == s.begin() {
		slot += cadence // what begins has counted nothing yet
	}
	scrape := s.begin() + s.ScrapeOffset.Milliseconds()
	for scrape <= s.end() {
		if slot <= scrape {
			w.slot(slot)
			slot += cadence
			continue
		}
		w.scrape(scrape)
		scrape += interval
	}
	for ; slot <= s.end(); slot += cadence { // not scraped any more
		w.slot(slot)
	}
	w.truth.end()
}

// slot is one slot of every target.
func (w *world) slot(t int64) {
	w.restarts(t)
	e, happens := w.outcome(t)
	w.truth.at(t)
	for i, p := range w.probers {
		down := i == 0 && (w.active(Restart, t) || w.active(Replace, t))
		if !happens || down || !p.life.has(t) || w.active(Dead, t) {
			continue
		}
		seen := e
		if p.blind {
			seen = event{result: unknown, step: e.step, reason: unknownReason, times: e.times}
		}
		p.count(seen)
		if i == 0 {
			w.truth.count(p, seen)
		}
	}
}

// outcome is what a probe in this slot sees; nothing when no probe happens.
func (w *world) outcome(t int64) (event, bool) {
	e := event{result: success, seconds: .3, times: 1}
	happens := true
	for _, h := range w.events {
		if !h.has(t) {
			continue
		}
		h.seen++
		switch h.Kind {
		case Outage:
			e.result, e.step, e.reason = failure, h.Step, h.Reason
		case Failures:
			if h.fails() {
				e.result, e.step, e.reason = failure, h.Step, h.Reason
			}
		case Unknown:
			e.result, e.step, e.reason = unknown, h.Step, unknownReason
		case Slow:
			happens = happens && h.seen%max(h.Every, 1) == 0
		case Latency:
			e.seconds = h.Seconds
		case Rollout:
			e.absent = h.Count
		case Load:
			e.times = h.Count
		case Dead, Unscraped, ScrapeLoss, Restart, Replace, Replica, Relabel, PrometheusDown: // not of what is probed
		}
	}
	return e, happens
}

// fails says whether the probe that is seen now is one of those that fail.
func (h *happening) fails() bool {
	if h.Every == 0 {
		return h.random.Float64() < h.Ratio
	}
	first := h.First
	if first == 0 {
		first = h.Every
	}
	return h.seen >= first && (h.seen-first)%h.Every == 0
}

// instantaneous says whether the event has no length unless it is given one.
func (h *happening) instantaneous() bool { return h.Kind == Restart || h.Kind == Replace }

func (w *world) active(kind Kind, t int64) bool {
	for _, h := range w.events {
		if h.Kind == kind && h.has(t) && (h.For > 0 || !h.instantaneous()) {
			return true
		}
	}
	return false
}

// restarts lets the first prober begin anew where an event says so.
func (w *world) restarts(t int64) {
	for _, h := range w.events {
		if h.done || h.from > t || (h.Kind != Restart && h.Kind != Replace) {
			continue
		}
		h.done = true
		if h.Kind == Replace {
			w.probers[0].rename(h.from)
		}
		w.probers[0].reset()
	}
}

// scrape scrapes every prober at an instant.
func (w *world) scrape(t int64) {
	w.restarts(t)
	if w.active(PrometheusDown, t) {
		return
	}
	for i, p := range w.probers {
		switch {
		case !p.life.has(t):
			p.gone(t)
		case w.missed(i, t):
			p.missed(t)
		default:
			p.scraped(t)
		}
	}
}

// missed says whether the scrape of a prober does not succeed. A restart that takes a time is a prober that does not answer.
func (w *world) missed(prober int, t int64) bool {
	missed := false
	for _, h := range w.events {
		if !h.has(t) {
			continue
		}
		switch {
		case h.Kind == Unscraped, h.instantaneous() && prober == 0 && h.For > 0:
			missed = true
		case h.Kind == ScrapeLoss:
			missed = h.random.Float64() < h.Ratio || missed // drawn for every scrape, so that another event changes no draw
		}
	}
	return missed
}
