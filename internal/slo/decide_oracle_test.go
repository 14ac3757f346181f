// A gate is never open unless all is known and good, or something permits it: random inputs against an oracle that counts reasons to say no.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// world is a random question, and what the oracle knows of it, written down while it is made.
type world struct {
	gate Gate
	in   Inputs

	frozen    bool
	closed    bool // an SLO is, for certain
	blocked   bool // by either
	doubtful  bool // something is not known
	permitted bool // an exemption or an override

	random *rand.Rand
}

// flaw makes a status less than good; it says what it has done.
type flaw func(w *world, s *Status)

var flaws = []flaw{
	func(w *world, s *Status) { s.Spent.Bad, w.closed = 78+w.n(40_000), true },
	func(w *world, s *Status) { s.Firing, w.closed = []Severity{Page}, true },
	func(_ *world, s *Status) { s.Firing = []Severity{Ticket} },
	func(w *world, s *Status) {
		s.Newest, w.doubtful = w.in.Clock.Add(-w.gate.MaxAge-1-time.Duration(w.n(1<<40))), true
	},
	func(w *world, s *Status) { s.Newest, w.doubtful = time.Time{}, true },
	func(w *world, s *Status) {
		s.Newest, w.doubtful = w.in.Clock.Add(MaxSkew+1+time.Duration(w.n(1<<40))), true
	},
	func(w *world, s *Status) {
		s.At, w.doubtful = w.in.Clock.Add(-w.gate.MaxAge-1-time.Duration(w.n(1<<40))), true
	},
	func(w *world, s *Status) { s.Observed, w.doubtful = float64(w.n(900))/1001, true },
	func(w *world, s *Status) { *s.Coverage, w.doubtful = float64(w.n(900))/1001, true },
	func(w *world, s *Status) { *s.CoverageHour, w.doubtful = float64(w.n(900))/1001, true },
	func(w *world, s *Status) { s.Coverage, w.doubtful = nil, true },
	func(w *world, s *Status) { s.Spent, w.doubtful = Counts{}, true },
	func(w *world, s *Status) {
		s.Observed, w.doubtful = []float64{math.NaN(), math.Inf(1), -1}[w.n(3)], true
	},
	func(w *world, s *Status) { s.Objective, w.doubtful = Objective{}, true },
	func(w *world, _ *Status) { w.in.Trouble, w.doubtful = &Trouble{Kind: fmt.Sprint(w.n(9))}, true },
	func(w *world, _ *Status) { w.in.Problems, w.doubtful = []Problem{{ID: "x"}}, true },
	func(w *world, _ *Status) { w.in.Statuses, w.doubtful = nil, true },
	func(w *world, _ *Status) {
		w.gate.Freezes = append(w.gate.Freezes, Freeze{gateNow.Add(-Day), gateNow.Add(Day), "x"})
		w.frozen = true
	},
	func(w *world, _ *Status) {
		w.gate.Freezes = append(w.gate.Freezes, Freeze{gateNow.Add(time.Hour), gateNow.Add(Day), "later"}, Freeze{gateNow.Add(-Day), gateNow, "over"})
	},
}

var permissions = []func(w *world){
	func(w *world) { w.in.Change, w.permitted = "security", true },
	func(w *world) { w.in.Change = "feature" },
	func(w *world) {
		w.in.Overrides, w.permitted = append(w.in.Overrides, Override{w.gate.Name, "Ada", "x", gateNow.Add(3 * Day)}), true
	},
	func(w *world) { w.in.Overrides = append(w.in.Overrides, Override{w.gate.Name, "Ada", "x", gateNow}) },
	func(w *world) {
		w.in.Overrides = append(w.in.Overrides, Override{"dev", "Ada", "x", gateNow.Add(3 * Day)})
	},
	func(w *world) { w.gate.OnNoData = NoDataAllow },
}

func (w *world) n(n int) int64 { return w.random.Int64N(int64(n)) }

// newWorld makes a question of one to three SLOs with up to three flaws and up to two permissions. A status has at most one flaw, so that none hides another.
func newWorld(t *testing.T, seed uint64) *world {
	w := &world{gate: prodRelease(), in: inputs(), random: rand.New(rand.NewPCG(seed, 6))}
	for i := range 1 + w.n(3) {
		s := month99(t, w.n(78))
		s.ID = fmt.Sprint("slo-", i)
		w.in.Statuses = append(w.in.Statuses, s)
	}
	statuses := slices.Clone(w.in.Statuses)
	for i := range min(int(w.n(4)), len(statuses)) {
		flaws[w.n(len(flaws))](w, &statuses[i])
	}
	if w.in.Statuses != nil {
		w.in.Statuses = statuses
	} else {
		w.closed = false // nobody sees it
	}
	w.blocked = w.frozen || w.closed
	for range w.n(3) {
		permissions[w.n(len(permissions))](w)
	}
	if w.in.Change == "feature" {
		w.permitted = slices.ContainsFunc(w.in.Overrides, func(o Override) bool { return o.Gate == w.gate.Name && o.Until.After(gateNow) })
	}
	if w.n(8) == 0 {
		w.in.Skew, w.doubtful = time.Duration(1-2*w.n(2))*(MaxSkew+1+time.Duration(w.n(int(time.Hour)))), true
	}
	return w
}

// answer is the oracle's.
func (w *world) answer() Answer {
	switch {
	case w.permitted || (!w.blocked && !w.doubtful):
		return Allow
	case w.blocked:
		return Block
	case w.gate.OnNoData == NoDataAllow:
		return Allow
	}
	return CannotTell
}

func TestDecideAgainstAnOracle(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(8_000) {
		w := newWorld(t, seed)
		d := Decide(t.Context(), w.gate, w.in)
		if d.Answer != w.answer() {
			t.Fatalf("seed %d: %s because %s: %s; want %s (blocked %v, doubtful %v, permitted %v)", seed, d.Answer, d.Because, d.Message, w.answer(), w.blocked, w.doubtful, w.permitted)
		}
		if good := !w.blocked && !w.doubtful; (d.Because == BecauseWithinBudget) != good {
			t.Fatalf("seed %d: %s, and good is %v", seed, d.Because, good)
		}
		if open := d.Open(); (open == nil) != (d.Answer == CannotTell) || (open != nil && *open != (d.Answer == Allow)) {
			t.Fatalf("seed %d: %s is open: %v", seed, d.Answer, open)
		}
		count[d.Answer.String()+d.Exception()]++
	}
	for _, kind := range []string{"allow", "allowexempt", "allowoverride", "allowno_data", "block", "unknown"} {
		if count[kind] < 80 {
			t.Errorf("%d of 8000 end in %s: too few to tell anything", count[kind], kind)
		}
	}
}
