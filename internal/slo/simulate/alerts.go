// What alerts did: when each was pending, fired and resolved, as the alerting rules of Prometheus say.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// Alert is what one alert of one group of labels did.
type Alert struct {
	Name     string            `json:"name"`
	Severity string            `json:"severity,omitempty"` // the label sloth_severity, or severity
	Labels   map[string]string `json:"labels"`
	Episodes []*Episode        `json:"episodes"`

	place int
	open  bool // the last episode has not ended
}

// Episode is one time that an alert was active. A time that is zero did not come.
type Episode struct {
	PendingAt   time.Time         `json:"pending_at"`
	FiringAt    time.Time         `json:"firing_at,omitzero"`
	ResolvedAt  time.Time         `json:"resolved_at,omitzero"`
	Value       float64           `json:"value"` // of the alert's expression when it fired
	Annotations map[string]string `json:"annotations,omitempty"`

	labels labels.Labels
}

// Fired is how often the alert fired.
func (a Alert) Fired() int {
	n := 0
	for _, e := range a.Episodes {
		if !e.FiringAt.IsZero() {
			n++
		}
	}
	return n
}

// Flaps is how often the alert fired again within this time of its resolving.
func (a Alert) Flaps(within time.Duration) int {
	n := 0
	var resolved time.Time
	for _, e := range a.Episodes {
		if e.FiringAt.IsZero() {
			continue
		}
		if !resolved.IsZero() && e.FiringAt.Sub(resolved) <= within {
			n++
		}
		resolved = e.ResolvedAt
	}
	return n
}

type alertKey struct {
	place  int
	labels string
}

// observe notes the state of an alerting rule after its evaluation at an instant, and returns the episodes that began to fire then.
func (r *run) observe(rule rule, at int64, active []*rules.Alert) []*Episode {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fired []*Episode
	seen := map[alertKey]bool{}
	for _, a := range active {
		key := alertKey{rule.place, string(a.Labels.Bytes(nil))}
		seen[key] = true
		alert, ok := r.alerts[key]
		if !ok {
			alert = newAlert(rule, a.Labels)
			r.alerts[key] = alert
		}
		if !alert.open {
			alert.Episodes = append(alert.Episodes, &Episode{PendingAt: instant(at)})
			alert.open = true
		}
		last := alert.Episodes[len(alert.Episodes)-1]
		if a.State == rules.StateFiring && last.FiringAt.IsZero() {
			last.FiringAt, last.Value, last.Annotations, last.labels = instant(at), a.Value, a.Annotations.Map(), a.Labels
			fired = append(fired, last)
		}
	}
	for key, alert := range r.alerts {
		if key.place == rule.place && alert.open && !seen[key] {
			alert.Episodes[len(alert.Episodes)-1].ResolvedAt = instant(at)
			alert.open = false
		}
	}
	return fired
}

func newAlert(rule rule, lset labels.Labels) *Alert {
	shown := lset.Map()
	delete(shown, labels.AlertName)
	return &Alert{Name: rule.name, Severity: cmp.Or(shown["sloth_severity"], shown["severity"]), Labels: shown, place: rule.place}
}

// sorted returns the alerts in the order of their rules and labels.
func (r *run) sortedAlerts() []Alert {
	keys := make([]alertKey, 0, len(r.alerts))
	for key := range r.alerts {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b alertKey) int {
		return cmp.Or(cmp.Compare(a.place, b.place), strings.Compare(a.labels, b.labels))
	})
	alerts := make([]Alert, len(keys))
	for i, key := range keys {
		alerts[i] = *r.alerts[key]
	}
	return alerts
}

// templateError begins what Prometheus writes instead of an annotation that cannot be worked out.
const templateError = "<error expanding template"

// checkTemplates counts annotations that could not be worked out as failed evaluations.
func (r *run) checkTemplates() {
	for key, alert := range r.alerts {
		for _, e := range alert.Episodes {
			for _, text := range e.Annotations {
				if strings.Contains(text, templateError) {
					r.errors = append(r.errors, EvaluationError{e.FiringAt, alert.Name, text, key.place})
				}
			}
		}
	}
	r.sortErrors()
}
