// A status is all that is known of one SLO at one time: what budgets, gates, pages and the API are made of.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import "time"

// Counts are events of one target or group over one window: slots that ended in success or failure, and how many of them were bad. What several replicas counted is divided by them and
// rounded to whole events, halves upwards.
type Counts struct {
	Bad    int64 `json:"bad"`
	Events int64 `json:"events"`
	Slots  int64 `json:"slots,omitempty"` // what should have ended in an event; 0 when the specification counts none
}

// Window is counts over a time that ends at the status' time.
type Window struct {
	Length time.Duration
	Counts
}

// Cause is the share of the period's bad events that one layer and reason has. Step or Reason is "" where the specification does not count by it, or where nothing explains an event.
type Cause struct {
	Step   string `json:"step,omitempty"`
	Reason string `json:"reason,omitempty"`
	Bad    int64  `json:"bad"`
}

// Hour is what was counted in one hour. Hours of a status are contiguous, end at its time, and cover its period; those without data are missing.
type Hour struct {
	End time.Time `json:"end"`
	Counts
}

// Status is what is known of one SLO, for one group of the labels that its specification groups by. All times are of Prometheus' clock.
type Status struct {
	ID        string            // Sloth's id, such as eks-access-availability
	Service   string            // such as eks-access
	Name      string            // such as availability
	Labels    map[string]string // the group, such as cluster: prod
	Objective Objective
	Period    time.Duration

	At      time.Time // what it is the status of
	Newest  time.Time // the newest sample of the events; zero when there is none
	Spent   Counts    // over the period
	Windows []Window  // the alerts' windows, shortest first
	Hours   []Hour    // of the period, oldest first

	Observed     float64  // the share of the period's hours that have data; below 1 every figure of the period is partial
	Coverage     *float64 // (success + failure) / slots over the period; nil when the specification counts no slots
	CoverageHour *float64 // and over the last hour

	Firing []Severity // its burn alerts that fire, the most urgent first
	Steps  []Cause    // the period's bad events by layer; they add up to Spent.Bad; most first
	Causes []Cause    // and by reason
}
