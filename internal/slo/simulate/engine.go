// The two ways to evaluate rules over a world: instant by instant as the rule manager does, and span by span with the same results.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/promql"
)

// lookback is Prometheus' default: how old the latest sample of a series may be.
const lookback = 5 * time.Minute

func newEngine(interval time.Duration) *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: math.MaxInt, Timeout: time.Hour, LookbackDelta: lookback, EnableAtModifier: true, EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return interval.Milliseconds() },
	})
}

// span is a time in which Prometheus runs with one set of rules.
type span struct {
	from, to int64 // both included
	rules    Rules
	fresh    bool // Prometheus has restarted before it: what it held in memory is lost
}

// run is one evaluation of rules over a world.
type run struct {
	store    *store
	engine   *promql.Engine
	interval time.Duration // of groups that set none
	offset   int64         // of evaluations from the multiples of their interval
	spans    []span
	pieces   int // into how many queries a span is cut at most: they are asked at the same time
	piece    int // how many steps are worth a query of their own

	mu     sync.Mutex
	alerts map[alertKey]*Alert
	errors []EvaluationError
	count  int // evaluations of rules
}

func newRun(store *store, interval time.Duration, offset int64, spans []span) *run {
	return &run{store: store, engine: newEngine(interval), interval: interval, offset: offset, spans: spans, pieces: runtime.GOMAXPROCS(0), piece: leastPiece, alerts: map[alertKey]*Alert{}}
}

// EvaluationError is an evaluation of a rule that did not succeed. In Prometheus the rule records nothing then, and an alert keeps its state.
type EvaluationError struct {
	At    time.Time `json:"at"`
	Rule  string    `json:"rule"`
	Error string    `json:"error"`

	place int
}

func (r *run) failed(at int64, rule rule, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, EvaluationError{instant(at), rule.name, err.Error(), rule.place})
}

func (r *run) sortErrors() {
	slices.SortStableFunc(r.errors, func(a, b EvaluationError) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.place, b.place))
	})
}

func (r *run) counted(evaluations int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count += evaluations
}

// steps are the instants of a span at which a group is evaluated: multiples of its interval, moved by the offset.
type steps struct{ first, last, interval int64 }

func (r *run) steps(s span, g group) steps {
	interval := cmp.Or(g.interval, r.interval).Milliseconds()
	first := s.from - r.offset
	if rest := first % interval; rest != 0 {
		first += interval - rest
	}
	first += r.offset
	if first > s.to {
		return steps{first, first - interval, interval}
	}
	return steps{first, first + (s.to-first)/interval*interval, interval}
}

func (s steps) none() bool     { return s.last < s.first }
func (s steps) len() int       { return int((s.last-s.first)/s.interval) + 1 }
func (s steps) at(i int) int64 { return s.first + int64(i)*s.interval }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func (s steps) every() time.Duration { return time.Duration(s.interval) * time.Millisecond }

// pieces cuts the steps into at most n parts in order.
func (s steps) pieces(n int) []steps {
	n = max(1, min(n, s.len()))
	pieces := make([]steps, n)
	for i := range pieces {
		pieces[i] = steps{s.at(i * s.len() / n), s.at((i+1)*s.len()/n - 1), s.interval}
	}
	return pieces
}

// without are the instants but for some, both in order.
func (s steps) without(some []int64) []int64 {
	instants := make([]int64, 0, s.len())
	for at := s.first; at <= s.last; at += s.interval {
		if len(some) > 0 && some[0] == at {
			some = some[1:]
			continue
		}
		instants = append(instants, at)
	}
	return instants
}
