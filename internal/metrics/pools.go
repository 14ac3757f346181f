// Gauges of what targets share: the stretch of each API budget, and what each discovery found.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// Stretch says how many times longer than their own interval the intervals of the stable target groups of one pool are.
type Stretch struct {
	Account, Region, Service string // the pool, whose groups share one API budget
	Factor                   float64
}

type discovery struct {
	targets int
	at      time.Time // zero: not yet
}

// WatchStretch names who is asked at each scrape for the pools that there are. It must not call Metrics.
func (m *Metrics) WatchStretch(pools func() []Stretch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools = pools
}

// SetDiscoveries makes these the discoveries that may have series, by the names of their entries in the configuration; what others found is forgotten. Like SetTargets, call it before they run.
func (m *Metrics) SetDiscoveries(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.discoveries
	m.discoveries = map[string]discovery{}
	for _, name := range names {
		m.discoveries[clean(name)] = before[clean(name)]
	}
}

// Discovered tells how many targets a discovery found when it succeeded. One that SetDiscoveries does not name is dropped.
func (m *Metrics) Discovered(name string, targets int, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.discoveries[clean(name)]; ok {
		m.discoveries[clean(name)] = discovery{targets, at}
	}
}
