// A pool is an API budget with the targets that share it: who is next, and when.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// poolKey names a budget: AWS limits the reads of an account in a region.
type poolKey struct{ account, region string }

func poolOf(target chain.Target) poolKey {
	return poolKey{account: target.Group.Pool(), region: target.Group.Region}
}

// pool shares a budget. The order of turns is told by a virtual clock, which goes slower than the real one by the stretch of the stable targets: a target is due one own interval of virtual time
// after its last slot. So a change of the stretch changes nobody's place, and targets of different intervals are stretched alike.
type pool struct {
	usable      float64 // reads a second
	free        time.Time
	clock       clock
	members     map[*member]struct{}
	hot, stable lane
	alike       bool // most of the budget is asked for by hot ones: all take turns in the lane of the stable ones
}

// member is a target in its pool.
type member struct {
	name             string
	interval, window time.Duration // of the target
	pool             *pool
	hot              bool
	due              float64 // by the pool's virtual clock
	left             float64 // virtual seconds until due, on the way into a pool
	waits            *lane   // where it stands in line; nil: it does not
	earliest         time.Time
	promised         time.Time // what Next last said
}

// lane is one class of a pool's targets, with those of them that wait for their turn.
type lane struct {
	rate    float64   // reads a second at most
	stretch float64   // what own intervals are multiplied by; at least 1
	free    time.Time // when the rate allows the next read
	line    []*member // by due, then by name
}

func newPool(usable float64, now time.Time) *pool {
	return &pool{usable: usable, clock: clock{at: now, slowed: 1}, members: map[*member]struct{}{}, hot: lane{stretch: 1}, stable: lane{stretch: 1}}
}

func (p *pool) lane(m *member) *lane {
	if m.hot && !p.alike {
		return &p.hot
	}
	return &p.stable
}

// share divides the budget by what the members ask for, each at its own interval: half of it is the hot ones', and what the stable ones leave. When the hot ones ask for most of too much, then
// half would be less than their part: all are alike.
func (p *pool) share(now time.Time) {
	var hot, stable float64
	for m := range p.members {
		if m.hot {
			hot += 1 / m.interval.Seconds()
		} else {
			stable += 1 / m.interval.Seconds()
		}
	}
	p.alike = hot > stable && hot+stable > p.usable
	if p.alike {
		hot, stable = 0, hot+stable
	}
	p.hot.rate = max(p.usable/2, p.usable-stable)
	p.hot.stretch = max(1, hot/p.hot.rate)
	p.stable.rate = p.usable
	p.stable.stretch = max(1, stable/(p.usable-min(hot, p.hot.rate)))
	p.clock.slow(now, p.stable.stretch)
	for _, m := range slices.Concat(p.hot.line, p.stable.line) {
		if l := p.lane(m); l != m.waits {
			p.leave(m)
			l.join(m)
		}
	}
}

// adopt takes a member in from another pool, or from nowhere; what it still had to wait there, it waits here.
func (p *pool) adopt(m *member, now time.Time) {
	if m.pool != nil {
		m.left = m.due - m.pool.clock.read(now)
		m.pool.remove(m)
	}
	m.pool, m.due = p, p.clock.read(now)+min(m.left, m.interval.Seconds())
	p.members[m] = struct{}{}
}

func (p *pool) remove(m *member) {
	p.leave(m)
	delete(p.members, m)
}

// next answers Governor.Next: the slot, which costs a read, when the member's turn has come; else when that is expected. A slot that nobody came for in time is lost and costs nothing.
func (p *pool) next(m *member, earliest, now time.Time) time.Time {
	l := p.lane(m)
	if !m.earliest.Equal(earliest) {
		m.earliest, m.promised = earliest, earliest
		if now.Sub(earliest) > m.window { // nobody asked in time: the slots that passed are the stretched ones
			m.promised = earliest.Add(l.stretched(m.interval) - m.interval)
		}
	}
	if now.Sub(m.promised) > m.window { // lost
		return p.end(m, m.promised)
	}
	l.join(m)
	l.drop(m, now)
	if turn := p.turn(m, l, now); turn.After(now) {
		m.promised = turn
		return turn
	}
	slot := m.promised
	if slot.After(now) {
		slot = now
	}
	p.spend(l, now)
	return p.end(m, slot)
}

// turn is when it is the member's turn, if the others in line take theirs and no more come. A stable one's comes when the whole budget is free, so that it gives way to the hot ones. A hot one's
// comes at once, unless they take turns; who is left in line when they need to no more goes with the stable ones, so as not to come in a crowd.
func (p *pool) turn(m *member, l *lane, now time.Time) time.Time {
	free, rate := p.free, p.usable
	switch {
	case l == &p.hot && l.stretch > 1:
		free, rate = l.free, l.rate
	case l == &p.hot && !m.promised.After(m.earliest):
		return m.earliest
	}
	if ahead := l.ahead(m); ahead > 0 {
		free = later(free, now).Add(seconds(float64(ahead) / rate))
	}
	return later(free, m.earliest)
}

// spend takes a read out of the budget.
func (p *pool) spend(l *lane, now time.Time) {
	p.free = later(p.free, now).Add(seconds(1 / p.usable))
	l.free = later(l.free, now).Add(seconds(1 / l.rate))
}

// end closes the question for a slot with its answer, and says when the one after is due.
func (p *pool) end(m *member, slot time.Time) time.Time {
	p.leave(m)
	m.earliest = time.Time{}
	m.due = p.clock.read(slot) + m.interval.Seconds()
	return slot
}

func (p *pool) leave(m *member) {
	if l := m.waits; l != nil {
		at := l.ahead(m)
		l.line = slices.Delete(l.line, at, at+1)
		m.waits = nil
	}
}

func (l *lane) join(m *member) {
	if m.waits == nil {
		l.line = slices.Insert(l.line, l.ahead(m), m)
		m.waits = l
	}
}

// drop takes out of the front of the line who did not come for its turn, so that nobody waits for it. It keeps its place for when it comes.
func (l *lane) drop(asks *member, now time.Time) {
	for first := l.line[0]; first != asks && now.Sub(first.promised) > near; first = l.line[0] {
		l.line = slices.Delete(l.line, 0, 1)
		first.waits = nil
	}
}

// ahead is how many in line come before a member.
func (l *lane) ahead(m *member) int {
	at, _ := slices.BinarySearchFunc(l.line, m, func(a, b *member) int { return cmp.Or(cmp.Compare(a.due, b.due), strings.Compare(a.name, b.name)) })
	return at
}

func (l *lane) stretched(interval time.Duration) time.Duration {
	return seconds(interval.Seconds() * l.stretch)
}

// clock is a virtual clock. It never jumps: when it is slowed or sped up, it goes on from where it is.
type clock struct {
	at     time.Time
	shows  float64 // seconds, at that time
	slowed float64 // real seconds for one of the clock's
}

func (c *clock) read(t time.Time) float64 { return c.shows + t.Sub(c.at).Seconds()/c.slowed }

func (c *clock) slow(now time.Time, by float64) { c.shows, c.at, c.slowed = c.read(now), now, by }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// seconds is a duration; one that no Duration holds is a century.
func seconds(s float64) time.Duration {
	const century = 100 * 365 * 24 * 3600
	return time.Duration(min(s, century) * float64(time.Second))
}
