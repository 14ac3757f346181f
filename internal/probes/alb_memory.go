// What earlier runs saw of a target group: ELB tells no times, so since when a target is in its state is known only by having looked before.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// memoryGap is how long nobody may have looked for a state to count as unbroken. A budget of two reads a second reads about 2,300 groups in that time.
const memoryGap = 20 * time.Minute

// memoryLimit bounds how many groups, and how many departed targets of each, are remembered; ELB allows 1,000 targets in a group.
const memoryLimit = 5000

// groupMemory remembers target groups by the name of their target. Safe for concurrent use.
type groupMemory struct {
	mu     sync.Mutex
	groups map[string]*rememberedGroup
}

// rememberedGroup is what is known of one group. Targets that are no longer there are forgotten, but for those that a cluster misses.
type rememberedGroup struct {
	arn          string
	read         time.Time // the last good reading
	summary      string    // what it saw
	multiCluster bool      // what its binding said when it was last read
	targets      map[string]sight
	missing      map[string]absence
	departed     map[string]bool // were targets before
}

// sight is a target as it was seen.
type sight struct {
	state chain.TargetState
	since time.Time // the first reading that saw it in this state, without a break since
	exact bool      // the reading before saw it in another state, or not at all: the state began then
	local bool      // it was seen to be the cluster's own, now or earlier
}

// absence is an endpoint or node that should be a target and is not.
type absence struct {
	since   time.Time // the first reading that missed it, without a break since
	evicted bool      // it was a target before
}

func newGroupMemory() *groupMemory {
	return &groupMemory{groups: map[string]*rememberedGroup{}}
}

// note takes in a good reading, and returns how long each target is known to be in its state, in the reading's order.
func (m *groupMemory) note(name, arn string, at time.Time, targets []chain.TargetHealth) []sight {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[name]
	if g == nil || g.arn != arn {
		m.makeRoom()
		g = &rememberedGroup{arn: arn, departed: map[string]bool{}}
		m.groups[name] = g
	}
	unbroken := !g.read.IsZero() && at.Sub(g.read) <= memoryGap
	if !unbroken {
		g.missing, g.departed = nil, map[string]bool{}
	}
	now, sights := make(map[string]sight, len(targets)), make([]sight, len(targets))
	for i, t := range targets {
		before, known := g.targets[targetKey(t)]
		seen := sight{state: t.State, since: at, exact: unbroken, local: known && before.local}
		if known && unbroken && before.state == t.State {
			seen.since, seen.exact = before.since, before.exact
		}
		now[targetKey(t)], sights[i] = seen, seen
	}
	g.depart(targets)
	g.targets, g.read, g.summary = now, at, summarize(targets)
	return sights
}

// depart notes which targets have left since the last reading.
func (g *rememberedGroup) depart(present []chain.TargetHealth) {
	if len(g.departed) > memoryLimit {
		g.departed = map[string]bool{}
	}
	for key := range g.targets {
		g.departed[targetID(key)] = true
	}
	for _, t := range present {
		delete(g.departed, t.ID)
	}
}

// noteCluster takes in which targets of the last reading are the cluster's own, and what it misses among them, by id. It returns since when each is missed.
func (m *groupMemory) noteCluster(name string, at time.Time, own []chain.TargetHealth, missing []string) map[string]absence {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[name]
	if g == nil {
		return nil
	}
	for _, t := range own {
		if seen, ok := g.targets[targetKey(t)]; ok {
			seen.local = true
			g.targets[targetKey(t)] = seen
		}
	}
	now := make(map[string]absence, len(missing))
	for _, id := range missing {
		before, known := g.missing[id]
		if !known {
			before = absence{since: at}
		}
		before.evicted = before.evicted || g.departed[id]
		now[id] = before
	}
	g.missing, g.departed = now, map[string]bool{}
	return now
}

// noteMultiCluster remembers the flag of the group's binding, for a run that cannot read it.
func (m *groupMemory) noteMultiCluster(name string, flag bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g := m.groups[name]; g != nil {
		g.multiCluster = flag
	}
}

func (m *groupMemory) wasMultiCluster(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[name]
	return g != nil && g.multiCluster
}

// last tells the last good reading, such as "42s ago: 3 healthy"; "" when there is none.
func (m *groupMemory) last(name string, now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[name]
	if g == nil || g.read.IsZero() {
		return ""
	}
	return now.Sub(g.read).Round(time.Second).String() + " ago: " + g.summary
}

// makeRoom forgets the group that was read the longest time ago, when there are too many.
func (m *groupMemory) makeRoom() {
	if len(m.groups) < memoryLimit {
		return
	}
	oldest := ""
	for name, g := range m.groups {
		if oldest == "" || g.read.Before(m.groups[oldest].read) {
			oldest = name
		}
	}
	delete(m.groups, oldest)
}

// targetKey identifies a target within its group: one address or instance may be registered with several ports.
func targetKey(t chain.TargetHealth) string {
	return strconv.Itoa(int(t.Port)) + " " + t.ID
}

// targetID is the id within a key.
func targetID(key string) string {
	_, id, _ := strings.Cut(key, " ")
	return id
}
