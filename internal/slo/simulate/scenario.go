// A scenario says what happens, and when: a clean history, then outages, lost scrapes, restarts and the like.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Scenario is a world to run rules over. Times of events count from the end of the history.
type Scenario struct {
	Name        string
	Description string

	Cadence            time.Duration // between two probes of one target; 0: the SLO's
	ScrapeInterval     time.Duration // 0: the cadence
	EvaluationInterval time.Duration // of rule groups that set none; 0: the scrape interval
	ScrapeOffset       time.Duration // of scrapes from the probes
	EvaluationOffset   time.Duration // of evaluations from the multiples of their interval

	Start    time.Time     // when the history ends, and events count from
	History  time.Duration // with no event in it; 0: the SLO is new
	Duration time.Duration // after the history
	Seed     uint64        // of what happens at random
	Targets  int           // that are probed, all alike
	Unprimed bool          // counters do not exist before their first event
	Events   []Event
	Series   map[string]string // of metrics that are not the product's: one for each of success, failure, unknown and slots

	Recording *Recording // samples of a real Prometheus, instead of a world that is made up
}

// Kind is a kind of event.
type Kind string

// The kinds.
const (
	Outage         Kind = "outage"          // every probe fails
	Failures       Kind = "failures"        // some probes fail: every n-th, or a share at random
	Slow           Kind = "slow"            // probes take longer than their cadence, so that only every n-th slot has one
	Latency        Kind = "latency"         // probes succeed, and take this long
	Load           Kind = "load"            // each slot has this many events, of one result
	Unknown        Kind = "unknown"         // the prober cannot tell
	Dead           Kind = "dead"            // the prober is scraped and counts nothing
	Unscraped      Kind = "unscraped"       // scrapes fail; the prober goes on
	ScrapeLoss     Kind = "scrape_loss"     // some scrapes fail at random
	Restart        Kind = "restart"         // the prober starts again: its counters are 0, its labels the same
	Replace        Kind = "replace"         // the prober's pod is replaced: another instance label
	Replica        Kind = "replica"         // a second prober of the same targets
	Rollout        Kind = "rollout"         // targets of a target group are replaced: some are not healthy yet
	Relabel        Kind = "relabel"         // the rules are written again with other values of their own labels
	PrometheusDown Kind = "prometheus_down" // nothing is scraped or evaluated; alerts are forgotten
)

// Event is one thing that happens. Which fields it reads depends on its kind.
type Event struct {
	Kind Kind
	At   time.Duration // from the end of the history
	For  time.Duration // 0: to the end

	Step    chain.Step        // that failures are blamed on; none: the first after which others follow
	Reason  chain.Reason      // of the failures; none: one of the step's
	Every   int               // of Failures and Slow: every n-th
	First   int               // of Failures: which probe of the event is the first to fail; 0: the n-th
	Ratio   float64           // of Failures and ScrapeLoss: the share, at random
	Seconds float64           // of Latency
	Result  string            // of Replica: unknown, or empty: what the first one sees
	Count   int               // of Rollout: targets that are not healthy yet; of Load: events
	Labels  map[string]string // of Relabel
}

// DefaultStart is when histories end unless a scenario says otherwise: a time that is no full hour, so that nothing is right by luck.
var DefaultStart = time.Date(2026, time.March, 2, 10, 7, 0, 0, time.UTC)

// withDefaults fills in what a scenario leaves open.
func (s Scenario) withDefaults(cadence time.Duration) Scenario {
	s.Cadence = cmp.Or(s.Cadence, cadence, 15*time.Second)
	s.ScrapeInterval = cmp.Or(s.ScrapeInterval, s.Cadence)
	s.EvaluationInterval = cmp.Or(s.EvaluationInterval, s.ScrapeInterval)
	s.Targets = cmp.Or(s.Targets, 1)
	if s.Start.IsZero() {
		s.Start = DefaultStart
	}
	return s
}

// window is a time in milliseconds since 1970: from ≤ t < to.
type window struct{ from, to int64 }

func (w window) has(t int64) bool { return w.from <= t && t < w.to }

func (s *Scenario) zero() int64  { return s.Start.UnixMilli() }
func (s *Scenario) begin() int64 { return s.zero() - s.History.Milliseconds() }
func (s *Scenario) end() int64   { return s.zero() + s.Duration.Milliseconds() }

func (s *Scenario) window(e Event) window {
	w := window{s.zero() + e.At.Milliseconds(), s.end() + 1}
	if e.For > 0 {
		w.to = w.from + e.For.Milliseconds()
	}
	return w
}

// spans are the times in which Prometheus runs, with the rules as they are written then.
func (s *Scenario) spans(rules Rules) []span {
	spans := []span{{from: s.begin(), to: s.end(), rules: rules, fresh: true}}
	inTime := slices.SortedStableFunc(slices.Values(s.Events), func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	for _, e := range inTime {
		if e.Kind != PrometheusDown && e.Kind != Relabel {
			continue
		}
		w := s.window(e)
		last := &spans[len(spans)-1]
		next := span{from: w.from, to: last.to, rules: last.rules}
		if e.Kind == PrometheusDown {
			next.from, next.fresh = w.to, true
		} else {
			next.rules = last.rules.relabeled(e.Labels)
		}
		last.to = w.from - 1
		spans = append(spans, next)
	}
	return spans
}
