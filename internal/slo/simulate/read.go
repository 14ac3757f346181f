// Reading a scenario from YAML, strictly: every mistake is told with its place.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// The messages. Those of YAML itself are diag's.
var (
	badTime      = &diag.Message{Text: "%s %q is no time", Hint: "write it as in \"2026-03-02T10:07:00Z\""}
	badNumber    = &diag.Message{Text: "%s must be %s, not %s", Hint: "%s"}
	unknownKind  = &diag.Message{Text: "unknown kind of event %q", Hint: "%s"}
	unknownStep  = &diag.Message{Text: "unknown step %q", Hint: "%s"}
	foreignWhy   = &diag.Message{Text: "step %q has no reason %q", Hint: "%s"}
	reasonAlone  = &diag.Message{Text: "reason %q without a step", Hint: "name the step that is blamed as well"}
	bothShares   = &diag.Message{Text: "every and ratio at once", Hint: "probes fail in turn (every) or at random (ratio)"}
	neverHappens = &diag.Message{Text: "the event is after the end", Hint: "the scenario ends %s after its history"}
	tooLong      = &diag.Message{Text: "%s %s is not within %s and %s", Hint: "%s"}
	badSeries    = &diag.Message{Text: "%q is no series", Hint: "write a name and labels, as in requests_total{code=\"500\"}"}
	foreignCount = &diag.Message{Text: "unknown count %q", Hint: "series count success, failure, unknown or slots"}
)

// messages are all of them, for tests.
func messages() []*diag.Message {
	return []*diag.Message{badTime, badNumber, unknownKind, unknownStep, foreignWhy, reasonAlone, bothShares, neverHappens, tooLong, badSeries, foreignCount}
}

// kinds are the kinds of events, with the keys of each besides kind, at and for.
var kinds = map[Kind][]string{
	Outage:         {"step", "reason"},
	Failures:       {"every", "first", "ratio", "step", "reason"},
	Slow:           {"every"},
	Latency:        {"seconds"},
	Unknown:        {"step"},
	Dead:           nil,
	Unscraped:      nil,
	ScrapeLoss:     {"ratio"},
	Restart:        nil,
	Replace:        nil,
	Replica:        {"result"},
	Rollout:        {"count"},
	Load:           {"count"},
	Relabel:        {"labels"},
	PrometheusDown: nil,
}

// Read reads a scenario. name stands in positions; the Scenario is nil when there are Problems.
func Read(name string, data []byte) (*Scenario, diag.Problems) {
	r := &reader{Reader: diag.NewReader(name, data, diag.Options{})}
	root := r.Document()
	if root == nil {
		return nil, r.Problems()
	}
	s := r.scenario(root)
	if problems := r.Problems(); len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

type reader struct{ *diag.Reader }

// The longest history and duration: what a run holds in memory grows with them.
const longest = 100 * 24 * time.Hour

func (r *reader) scenario(root *yaml.Node) *Scenario {
	f := r.Mapping(root, "the scenario", "name", "description", "cadence", "scrape_interval", "evaluation_interval", "scrape_offset", "evaluation_offset",
		"start", "history", "duration", "seed", "targets", "unprimed", "events", "series")
	f.Require("name", "what the scenario is called in reports")
	f.Require("duration", "how long the scenario lasts after its history, as in 8h")
	s := &Scenario{
		Name: f.Text("name"), Description: f.Text("description"), Start: DefaultStart,
		Cadence: r.duration(f, "cadence", time.Second, time.Hour), ScrapeInterval: r.duration(f, "scrape_interval", time.Second, time.Hour),
		EvaluationInterval: r.duration(f, "evaluation_interval", time.Second, time.Hour),
		ScrapeOffset:       r.duration(f, "scrape_offset", 0, time.Hour), EvaluationOffset: r.duration(f, "evaluation_offset", 0, time.Hour),
		History: r.duration(f, "history", 0, longest), Duration: r.duration(f, "duration", time.Second, longest),
		Seed:     uint64(r.whole(f, "seed", 0, 1<<53)), //nolint:gosec // it is not negative
		Targets:  r.whole(f, "targets", 1, 100),
		Unprimed: f.Flag("unprimed"),
	}
	if text := f.Text("start"); text != "" {
		start, err := time.Parse(time.RFC3339, text)
		if err != nil {
			r.Report(f.At("start"), badTime, "start", text)
		}
		s.Start = start.UTC()
	}
	for _, node := range f.List("events") {
		s.Events = append(s.Events, r.event(node, s.Duration))
	}
	s.Series = r.series(f)
	return s
}

func (r *reader) event(node *yaml.Node, end time.Duration) Event {
	all := []string{"kind", "at", "for"}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, kinds[kind]...)
	}
	slices.Sort(all[3:])
	f := r.Mapping(node, "an event", slices.Compact(all)...)
	f.Require("kind", "what happens, such as outage")
	e := Event{Kind: Kind(f.Text("kind")), At: r.duration(f, "at", 0, longest), For: r.duration(f, "for", 0, longest)}
	keys, known := kinds[e.Kind]
	if !known {
		if f.Has("kind") {
			r.Report(f.At("kind"), unknownKind, string(e.Kind), diag.DidYouMean{Word: string(e.Kind), Known: names(maps.Keys(kinds))})
		}
		return e
	}
	for _, key := range all[3:] {
		if f.Has(key) && !slices.Contains(keys, key) {
			r.Report(f.AtKey(key), diag.UnknownKey, key, diag.DidYouMean{Word: key, Known: slices.Values(append(keys, "at", "for"))})
		}
	}
	if e.At > end {
		r.Report(f.At("at"), neverHappens, end)
	}
	r.details(f, &e)
	return e
}

// details reads what only some kinds have.
func (r *reader) details(f diag.Fields, e *Event) {
	e.Every, e.First, e.Count = r.whole(f, "every", 1, 1<<20), r.whole(f, "first", 1, 1<<20), r.whole(f, "count", 0, 1<<20)
	e.Ratio, e.Seconds = r.number(f, "ratio", 0, 1), r.number(f, "seconds", 0, 3600)
	if f.Has("every") && f.Has("ratio") {
		r.Report(f.AtKey("ratio"), bothShares)
	}
	switch {
	case e.Kind == Failures && !f.Has("every"):
		f.Require("ratio", "the share of the probes that fail, as in 0.02; or every: 50")
	case e.Kind == ScrapeLoss:
		f.Require("ratio", "the share of the scrapes that are lost, as in 0.1")
	case e.Kind == Slow:
		f.Require("every", "2 when every second slot passes without a probe")
	case e.Kind == Latency:
		f.Require("seconds", "how long a probe takes")
	case e.Kind == Relabel:
		f.Require("labels", "the new values of the labels of the rules")
	case e.Kind == Rollout:
		f.Require("count", "how many of a group's targets are not healthy yet")
	case e.Kind == Load:
		f.Require("count", "how many events each slot has")
	}
	if e.Result = f.Text("result"); e.Result != "" && e.Result != unknown {
		r.Report(f.At("result"), badNumber, "result", unknown, strconv.Quote(e.Result), "leave it out for a replica that sees what the first one sees")
	}
	for _, pair := range f.Pairs("labels") {
		if e.Labels == nil {
			e.Labels = map[string]string{}
		}
		e.Labels[pair.Name] = pair.Value
	}
	r.blame(f, e)
}

func (r *reader) blame(f diag.Fields, e *Event) {
	step, reason := f.Text("step"), f.Text("reason")
	if step == "" {
		if reason != "" {
			r.Report(f.At("reason"), reasonAlone, reason)
		}
		return
	}
	if err := e.Step.UnmarshalText([]byte(step)); err != nil {
		r.Report(f.At("step"), unknownStep, step, diag.DidYouMean{Word: step, Known: slices.Values(allSteps())})
		return
	}
	if e.Reason = chain.Reason(reason); reason == "" {
		return
	}
	if _, ok := chain.LookupReason(e.Step, e.Reason); !ok {
		var known []string
		for _, info := range chain.ReasonsOf(e.Step) {
			known = append(known, string(info.Reason))
		}
		r.Report(f.At("reason"), foreignWhy, step, reason, diag.DidYouMean{Word: reason, Known: slices.Values(known)})
	}
}

func allSteps() []string { return append(stepNames(chain.KindAccess), stepNames(chain.KindALB)...) }

func (r *reader) series(f diag.Fields) map[string]string {
	var series map[string]string
	for _, pair := range f.Pairs("series") {
		if !slices.Contains([]string{success, failure, unknown, slots}, pair.Name) {
			r.Report(r.At(pair.Key), foreignCount, pair.Name)
		}
		if _, err := parser.ParseMetric(pair.Value); err != nil {
			r.Report(r.At(pair.Node), badSeries, pair.Value)
		}
		if series == nil {
			series = map[string]string{}
		}
		series[pair.Name] = pair.Value
	}
	return series
}
