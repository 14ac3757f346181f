// Random histories of a pool: whatever turns bad, comes, goes or stalls, its reads keep to the budget and no value gets older than a pass takes.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// history plays workers and a governor by a clock of its own, which makes thousands of hours cheap.
type history struct {
	t       *testing.T
	g       *Governor
	dice    *rand.Rand
	now     time.Time
	asks    asks
	pool    []chain.Target
	workers map[string]*walker
	most    int // that are bad at once
	bad     map[string]bool
	slack   time.Duration // what a change of the shares may add to a pass
	stretch PoolState     // of the pool, as it is now
	bucket  *rate.Limiter

	reads, asked int
	longest      time.Duration // wait for the bucket
	oldest       time.Duration
}

// walker is a worker: it asks at a time for the slot from earliest.
type walker struct {
	target   chain.Target
	at       time.Time
	earliest time.Time
	last     time.Time     // read, or the beginning
	allowed  time.Duration // the longest pass since then
	hot      bool          // read as bad, and nothing stretched hot ones since
}

type asks []*walker

func (a asks) Len() int           { return len(a) }
func (a asks) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a asks) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *asks) Push(w any)        { *a = append(*a, w.(*walker)) }
func (a *asks) Pop() any {
	last := len(*a) - 1
	w := (*a)[last]
	*a = (*a)[:last]
	return w
}

func newHistory(t *testing.T, seed uint64, most int, slack time.Duration) *history {
	h := &history{
		t: t, dice: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(1_000_000, 0), workers: map[string]*walker{},
		bad: map[string]bool{}, bucket: rate.NewLimiter(2, 5), most: most, slack: slack,
	}
	options := DefaultGovernorOptions()
	options.Now = func() time.Time { return h.now }
	g, err := NewGovernor(options)
	if err != nil {
		t.Fatal(err)
	}
	h.g, h.pool = g, groups(300)
	return h
}

// set makes n random targets the ones that are probed; those that are replaced are few.
func (h *history) set(n int) {
	h.dice.Shuffle(10, func(i, j int) {
		a, b := i*(len(h.pool)-1)/10, len(h.pool)-1-j
		h.pool[a], h.pool[b] = h.pool[b], h.pool[a]
	})
	wanted := map[string]bool{}
	for _, target := range h.pool[:n] {
		wanted[target.Name] = true
		if h.workers[target.Name] == nil {
			w := &walker{target: target, at: h.now, earliest: h.now, last: h.now, allowed: h.stretch.Pass}
			h.workers[target.Name] = w
			heap.Push(&h.asks, w)
		}
	}
	for name := range h.workers {
		if !wanted[name] {
			delete(h.workers, name)
			delete(h.bad, name)
		}
	}
	h.g.Set(h.pool[:n])
	h.change()
}

// turn makes some targets bad, or well again.
func (h *history) turn() {
	for name := range h.bad {
		if h.dice.IntN(2) == 0 {
			delete(h.bad, name)
		}
	}
	for range h.dice.IntN(h.most + 1) {
		if target := h.pool[h.dice.IntN(len(h.workers))]; len(h.bad) < h.most {
			h.bad[target.Name] = true
		}
	}
}

// change notes what everybody may have to wait from now on.
func (h *history) change() {
	now := h.g.Pools()[0]
	if now == h.stretch {
		return
	}
	h.stretch = now
	for _, w := range h.workers {
		w.allowed = max(w.allowed, now.Pass)
		w.hot = w.hot && now.HotFactor == 1
	}
}

func (h *history) play(until time.Time) {
	for len(h.asks) > 0 && h.asks[0].at.Before(until) {
		w, _ := heap.Pop(&h.asks).(*walker)
		if h.workers[w.target.Name] != w {
			continue
		}
		h.now = w.at
		h.asked++
		slot := h.g.Next(w.target, w.earliest)
		if slot.Before(w.earliest) {
			h.t.Fatalf("%s: slot %s before %s", w.target.Name, slot, w.earliest)
		}
		if wait := slot.Sub(h.now); wait > 0 {
			w.at = h.now.Add(pause(wait))
		} else {
			h.read(w, slot)
			w.earliest = slot.Add(own)
			w.at = w.earliest
		}
		heap.Push(&h.asks, w)
	}
	h.now = until
}

func (h *history) read(w *walker, slot time.Time) {
	h.reads++
	h.longest = max(h.longest, h.bucket.ReserveN(h.now, 1).DelayFrom(h.now))
	age, bad := slot.Sub(w.last), h.bad[w.target.Name]
	h.oldest = max(h.oldest, age)
	if w.hot && age != own {
		h.t.Errorf("%s: bad, and read again after %s", w.target.Name, age)
	}
	if age > w.allowed+h.slack {
		h.t.Errorf("%s: value %s old, and no pass took longer than %s", w.target.Name, age, w.allowed)
	}
	h.g.Observe(seen(w.target, slot, bad))
	h.change()
	w.last, w.allowed, w.hot = slot, h.stretch.Pass, bad && h.stretch.HotFactor == 1
}

func TestRandomHistories(t *testing.T) {
	for name, c := range map[string]struct {
		seeds  uint64
		most   int // bad at once
		slack  time.Duration
		oldest time.Duration // value of 300 groups
	}{
		"few are bad":  {130, 5, askAgain, MaxAge},
		"many are bad": {70, 300, own, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			oldest, longest, reads, asked := time.Duration(0), time.Duration(0), 0, 0
			for seed := range c.seeds {
				h := newHistory(t, seed, c.most, c.slack)
				h.set(1 + h.dice.IntN(300))
				began := h.now
				for h.now.Sub(began) < 10*time.Minute {
					switch h.dice.IntN(8) {
					case 0:
						h.set(1 + h.dice.IntN(300))
					default:
						h.turn()
					}
					h.play(h.now.Add(time.Duration(1+h.dice.IntN(40)) * time.Second))
				}
				if limit := int(h.now.Sub(began).Seconds()*1.9) + 5; h.reads > limit {
					t.Errorf("seed %d: %d reads, want at most %d", seed, h.reads, limit)
				}
				if h.longest > 2*time.Second {
					t.Errorf("seed %d: a read waited %s", seed, h.longest)
				}
				if h.oldest > c.oldest {
					t.Errorf("seed %d: a value was %s old", seed, h.oldest)
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
				oldest, longest, reads, asked = max(oldest, h.oldest), max(longest, h.longest), reads+h.reads, asked+h.asked
			}
			t.Logf("oldest value %s, longest wait %s, %d reads, %.1f questions for each", oldest, longest, reads, float64(asked)/float64(reads))
		})
	}
}
