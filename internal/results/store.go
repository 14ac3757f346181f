// The store keeps what pages and APIs show of each target: the latest run, a strip of the last ones, and the failures worth reading.
//
// SPDX-License-Identifier: Apache-2.0

// Package results keeps the runs of every target in memory, bounded, as immutable values that any number of readers may share.
package results

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The bounds of what is kept per target. With one failure per distinct step and reason beside the last ones, the closed list of reasons is the bound of the rest.
const (
	StripLength    = 50 // runs in the strip
	FailuresLength = 10 // runs that failed, in full but for the targets of their readings
)

// Point is one run in a target's strip.
type Point struct {
	ID      string // of the run; Store.Run finds it while it is kept
	Slot    time.Time
	Outcome chain.Outcome
	Step    chain.Step
	Reason  chain.Reason
}

// Status is what is known of one target at one moment. It and everything in it is shared: read only.
type Status struct {
	Target chain.Target
	Latest *chain.Run // nil before the first run
	Since  time.Time  // when the first run began of those that end in the latest one with the same outcome, step and reason; zero before the first run
	// ConsecutiveFailures counts the failures since the last success. An unknown run is neither: it leaves the count as it is.
	ConsecutiveFailures int
	Strip               []Point     // the last StripLength runs, oldest first
	Failures            []chain.Run // newest first: the last FailuresLength that failed, then the newest of each (step, reason) that is not among them; without readings
	// Reading is what is known of an alb target's group, also while later runs could not read it (chain.Run.KnownReading); its time tells its age. nil: nothing.
	Reading *chain.GroupReading
}

// Report is the report of the latest run, with the known reading also when the run has none of its own; false before the first run.
func (s Status) Report() (Report, bool) {
	if s.Latest == nil {
		return Report{}, false
	}
	run := *s.Latest
	run.Reading = s.Reading
	return NewReport(run), true
}

// Store is safe for concurrent use: readers get values that never change.
type Store struct {
	mu     sync.RWMutex
	status map[string]*Status // by target name; a status is replaced, never written to
}

// NewStore returns a store that knows no target.
func NewStore() *Store { return &Store{status: map[string]*Status{}} }

// Retain makes targets the ones that the store knows: new ones have no run yet, those that stay keep theirs, all others are forgotten.
func (s *Store) Retain(targets []chain.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.status
	s.status = make(map[string]*Status, len(targets))
	for _, target := range targets {
		status := Status{}
		if known := before[target.Name]; known != nil {
			status = *known
		}
		status.Target = target
		s.status[target.Name] = &status
	}
}

// Record takes a finished run, which the caller does not change afterwards. A run of a target that the store does not know is dropped: the target was removed meanwhile.
func (s *Store) Record(run chain.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.status[run.Target.Name]; before != nil {
		s.status[run.Target.Name] = before.with(run)
	}
}

// Snapshot returns every target's status, by name.
func (s *Store) Snapshot() []Status {
	s.mu.RLock()
	all := make([]Status, 0, len(s.status))
	for status := range maps.Values(s.status) {
		all = append(all, *status)
	}
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Target.Name, b.Target.Name) })
	return all
}

// Target returns one target's status; false when it is not known.
func (s *Store) Target(name string) (Status, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if status := s.status[name]; status != nil {
		return *status, true
	}
	return Status{}, false
}

// Run returns a run that is still kept: the latest one, or a kept failure.
func (s *Store) Run(target, id string) (chain.Run, bool) {
	status, ok := s.Target(target)
	if !ok {
		return chain.Run{}, false
	}
	if status.Latest != nil && status.Latest.ID == id {
		return *status.Latest, true
	}
	for _, run := range status.Failures {
		if run.ID == id {
			return run, true
		}
	}
	return chain.Run{}, false
}

// with returns the status after one more run.
func (s *Status) with(run chain.Run) *Status {
	verdict := run.Verdict
	after := *s
	after.Latest, after.Reading = &run, run.KnownReading(s.Reading)
	if s.Latest == nil || !sameVerdict(s.Latest.Verdict, verdict) {
		after.Since = run.Started
	}
	kept := s.Strip[max(0, len(s.Strip)-StripLength+1):]
	after.Strip = slices.Concat(kept, []Point{{run.ID, run.Slot, verdict.Outcome, verdict.Step, verdict.Reason}})
	switch verdict.Outcome {
	case chain.OutcomeSuccess:
		after.ConsecutiveFailures = 0
	case chain.OutcomeFailure:
		after.ConsecutiveFailures++
		failure := run
		failure.Reading = nil // a thousand targets, times all that is kept: their counts are among the facts
		after.Failures = keep(slices.Concat([]chain.Run{failure}, s.Failures))
	case chain.OutcomeUnknown, chain.OutcomeSkipped:
	}
	return &after
}

func sameVerdict(a, b chain.Verdict) bool {
	return a.Outcome == b.Outcome && a.Step == b.Step && a.Reason == b.Reason
}

// keep drops, from failures newest first, those past the last ones whose step and reason a newer one shows.
func keep(failures []chain.Run) []chain.Run {
	seen := map[Point]bool{}
	kept := make([]chain.Run, 0, len(failures))
	for i, run := range failures {
		kind := Point{Step: run.Verdict.Step, Reason: run.Verdict.Reason}
		if i < FailuresLength || !seen[kind] {
			kept = append(kept, run)
		}
		seen[kind] = true
	}
	return kept
}
