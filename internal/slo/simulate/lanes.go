// Lanes are the times that a picture shows as bars: what happened, and which alerts were active.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"time"
)

// lane is a row of bars.
type lane struct {
	name string
	bars []bar
}

// bar is a time, and what kind of it.
type bar struct {
	from, to time.Time
	shade    shade
	label    string
}

// shade says what a bar stands for.
type shade int

const (
	eventShade shade = iota
	pendingShade
	pageShade
	ticketShade
	otherShade
)

// shownFrom is when the picture begins: shortly before anything happens.
func (s *Scenario) shownFrom() int64 {
	return max(s.begin(), s.zero()-s.Duration.Milliseconds()/12)
}

// lanes are what happens in a scenario, one lane a kind of event.
func (s *Scenario) lanes() []lane {
	var lanes []lane
	index := map[string]int{}
	for _, e := range s.Events {
		name := e.String()
		i, ok := index[name]
		if !ok {
			i = len(lanes)
			index[name] = i
			lanes = append(lanes, lane{name: name})
		}
		w := s.window(e)
		to := min(w.to, s.end())
		if e.For == 0 && (e.Kind == Restart || e.Kind == Replace || e.Kind == Relabel) {
			to = w.from
		}
		lanes[i].bars = append(lanes[i].bars, bar{from: instant(w.from), to: instant(to)})
	}
	return lanes
}

// String is the event in a few words.
func (e Event) String() string {
	switch {
	case e.Kind == Failures && e.Every > 0:
		return fmt.Sprintf("every %dth probe fails", e.Every)
	case e.Kind == Failures:
		return fmt.Sprintf("%.3g %% of the probes fail", 100*e.Ratio)
	case e.Kind == ScrapeLoss:
		return fmt.Sprintf("%.3g %% of the scrapes lost", 100*e.Ratio)
	case e.Kind == Slow:
		return fmt.Sprintf("one probe in %d slots", e.Every)
	case e.Kind == Latency:
		return fmt.Sprintf("probes take %.3g s", e.Seconds)
	case e.Kind == Replica && e.Result == unknown:
		return "replica that sees nothing"
	case e.Kind == Load:
		return fmt.Sprintf("%d events a slot", e.Count)
	case e.Kind == PrometheusDown:
		return "Prometheus down"
	}
	words := map[Kind]string{
		Outage: "outage", Unknown: "prober cannot tell", Dead: "prober stands still", Unscraped: "prober not scraped", Restart: "prober restarts", Replace: "prober's pod replaced",
		Replica: "second replica", Rollout: "rollout", Relabel: "label of the rules changed",
	}
	return cmp.Or(words[e.Kind], string(e.Kind))
}

// labelled is how often an alert may fire for its times to be written beside its bars.
const labelled = 3

// alertLanes are the alerts that were active in the time that is shown.
func (r *Report) alertLanes() []lane {
	var lanes []lane
	for _, a := range r.Alerts {
		l := lane{name: a.Name}
		if a.Severity != "" {
			l.name += " (" + a.Severity + ")"
		}
		for _, e := range a.Episodes {
			end := e.ResolvedAt
			if end.IsZero() {
				end = r.To
			}
			fires := e.FiringAt
			if fires.IsZero() {
				fires = end
			}
			if end.Before(r.Shown) {
				continue
			}
			label := r.after(fires)
			if !e.ResolvedAt.IsZero() {
				label += " to " + r.after(e.ResolvedAt)
			}
			if a.Fired() > labelled {
				label = ""
			}
			l.bars = append(l.bars, bar{from: e.PendingAt, to: fires, shade: pendingShade})
			if !e.FiringAt.IsZero() {
				l.bars = append(l.bars, bar{fires, end, shadeOf(a.Severity), label})
			}
		}
		if len(l.bars) > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes
}

func shadeOf(severity string) shade {
	switch severity {
	case "page":
		return pageShade
	case "ticket":
		return ticketShade
	}
	return otherShade
}
