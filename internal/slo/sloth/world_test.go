// A world for the rules: probers that make events at a cadence, a Prometheus that scrapes them and evaluates the generated file in the real engine, and the true count of events.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

// epoch is a full hour.
var epoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// world is a Prometheus with probers.
type world struct {
	t       testing.TB
	store   *teststorage.TestStorage
	engine  *promql.Engine
	groups  []*rules.Group
	probers []*prober
	cadence time.Duration
	scrape  time.Duration
	scraped func(at time.Time) bool // nil: always
	rules   func(at time.Time) bool // whether rules are evaluated; nil: always
	known   []event                 // that have been scraped
	pending map[*prober][]event     // that have not
	now     time.Time
	judged  time.Time // when the first group was evaluated last
	health  []string  // errors of rules
}

// event is one slot that ended.
type event struct {
	seen   time.Time // when it was scraped
	result result
}

// newWorld starts a Prometheus at epoch with the rules of the example.
func newWorld(t testing.TB, options Options, probers ...*prober) *world {
	t.Helper()
	return newWorldOf(t, generated(t, "testdata/access.yaml", options), probers...)
}

// newSlowWorld is newWorld with the rules evaluated once a minute, where half a minute does not matter: it takes half the time.
func newSlowWorld(t testing.TB, options Options, probers ...*prober) *world {
	t.Helper()
	rules := generated(t, "testdata/access.yaml", options)
	rules.Groups[0].Interval = model.Duration(time.Minute)
	return newWorldOf(t, rules, probers...)
}

// newWorldOf starts a Prometheus at epoch with rules.
func newWorldOf(t testing.TB, generated *Rules, probers ...*prober) *world {
	t.Helper()
	w := &world{t: t, store: teststorage.New(t), probers: probers, cadence: 15 * time.Second, scrape: 15 * time.Second, pending: map[*prober][]event{}, now: epoch}
	w.engine = promqltest.NewTestEngineWithOpts(t, promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true})
	w.load(generated)
	for _, p := range probers {
		p.start()
	}
	return w
}

// load loads a rule file, in place of what was loaded.
func (w *world) load(generated *Rules) {
	w.t.Helper()
	var file bytes.Buffer
	if err := WriteRules(&file, generated); err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
	manager := rules.NewManager(&rules.ManagerOptions{
		NameValidationScheme: model.UTF8Validation, ExternalURL: &url.URL{}, Context: w.t.Context(), Appendable: w.store, Queryable: w.store,
		QueryFunc: rules.EngineQueryFunc(w.engine, w.store), NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	groups, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, path)
	if errs != nil {
		w.t.Fatal(errors.Join(errs...))
	}
	w.groups = nil
	for _, group := range groups {
		w.groups = append(w.groups, group)
		for _, rule := range group.AlertingRules() {
			rule.SetRestored(true) // else no ALERTS are written
		}
	}
	slices.SortFunc(w.groups, func(a, b *rules.Group) int { return int(a.Interval() - b.Interval()) })
}

// Slots, scrapes and evaluations have different phases, as in life.
const (
	slotPhase   = 11 * time.Second
	scrapePhase = 3 * time.Second
	rulesPhase  = 17 * time.Second
)

// run lets time pass.
func (w *world) run(d time.Duration) {
	w.t.Helper()
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(time.Second) {
		since := w.now.Sub(epoch)
		w.slots(since)
		if since%w.scrape == scrapePhase && (w.scraped == nil || w.scraped(w.now)) {
			w.scrapeAll()
		}
		for _, group := range w.groups {
			if since%group.Interval() == rulesPhase && (w.rules == nil || w.rules(w.now)) {
				w.evaluate(group)
			}
		}
	}
}

// slots makes the events of this second.
func (w *world) slots(since time.Duration) {
	for _, p := range w.probers {
		if (since-slotPhase-p.shift)%w.cadence != 0 {
			continue
		}
		up := p.up == nil || p.up(w.now)
		if up && !p.was {
			delete(w.pending, p) // died unscraped
			p.start()            // and probes a cadence later
			continue
		}
		p.was = up
		if !up {
			continue
		}
		r := p.slot(w.now)
		if r == missed {
			continue
		}
		n := 1
		if p.each != nil {
			n = p.each(w.now)
		}
		p.add("eks_access_slots_total", float64(n))
		p.add("eks_access_probes_total", float64(n), "result", string(r))
		for range n {
			w.pending[p] = append(w.pending[p], event{result: r})
		}
		if r == bad {
			p.add("eks_access_failures_total", float64(n), "step", "sts")
			p.add("eks_access_failure_reasons_total", float64(n), "step", "sts", "reason", "sts_unreachable")
		}
	}
}

// scrapeAll scrapes the probers that are up.
func (w *world) scrapeAll() {
	w.t.Helper()
	app := w.store.Appender(w.t.Context())
	for _, p := range w.probers {
		if !p.was || (p.up != nil && !p.up(w.now)) {
			continue
		}
		for key, v := range p.counts {
			if _, err := app.Append(0, p.series[key], w.now.UnixMilli(), v); err != nil {
				w.t.Fatal(err)
			}
		}
		for _, e := range w.pending[p] {
			e.seen = w.now
			w.known = append(w.known, e)
		}
		w.pending[p] = nil
	}
	if err := app.Commit(); err != nil {
		w.t.Fatal(err)
	}
}

// evaluate evaluates a group as Prometheus does.
func (w *world) evaluate(group *rules.Group) {
	group.Eval(w.t.Context(), w.now)
	if group == w.groups[0] {
		w.judged = w.now
	}
	for _, rule := range group.Rules() {
		if err := rule.LastError(); err != nil {
			w.health = append(w.health, rule.Name()+" at "+w.now.Sub(epoch).String()+": "+err.Error())
		}
	}
}

// truth is how many events with these results were scraped in a window that ends with the last evaluation.
func (w *world) truth(window time.Duration, results ...result) float64 {
	n := 0.0
	for _, e := range w.known {
		if slices.Contains(results, e.result) && e.seen.After(w.judged.Add(-window)) && !e.seen.After(w.judged) {
			n++
		}
	}
	return n
}

// query evaluates an expression now.
func (w *world) query(expr string) promql.Vector {
	w.t.Helper()
	query, err := w.engine.NewInstantQuery(w.t.Context(), w.store, nil, expr, w.now.Add(-time.Second))
	if err != nil {
		w.t.Fatal(err)
	}
	defer query.Close()
	vector, err := query.Exec(w.t.Context()).Vector()
	if err != nil {
		w.t.Fatalf("%s: %v", expr, err)
	}
	return slices.Clone(vector)
}

// value is the one value of an expression now; NaN when there is none.
func (w *world) value(expr string) float64 {
	w.t.Helper()
	switch vector := w.query(expr); len(vector) {
	case 0:
		return math.NaN()
	case 1:
		return vector[0].F
	default:
		w.t.Fatalf("%s has %d values: %v", expr, len(vector), vector)
		return 0
	}
}

// recorded are all samples of the recordings, but for stale markers.
func (w *world) recorded(visit func(series labels.Labels, at time.Time, v float64)) {
	w.t.Helper()
	querier, err := w.store.Querier(math.MinInt64, math.MaxInt64)
	if err != nil {
		w.t.Fatal(err)
	}
	defer querier.Close()
	set := querier.Select(w.t.Context(), true, nil, labels.MustNewMatcher(labels.MatchRegexp, "__name__", "slo.*"))
	for set.Next() {
		w.samples(set.At(), visit)
	}
	if err := set.Err(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) samples(series storage.Series, visit func(series labels.Labels, at time.Time, v float64)) {
	for it := series.Iterator(nil); it.Next() != 0; {
		if at, v := it.At(); !value.IsStaleNaN(v) {
			visit(series.Labels(), time.UnixMilli(at), v)
		}
	}
}

// firing are the names of the alerts that fire, with their severity.
func (w *world) firing() []string {
	var names []string
	for _, group := range w.groups {
		for _, rule := range group.AlertingRules() {
			for _, alert := range rule.ActiveAlerts() {
				if alert.State == rules.StateFiring {
					names = append(names, rule.Name()+" "+alert.Labels.Get("sloth_severity"))
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// generated generates the rules of a specification file.
func generated(t testing.TB, file string, options Options) *Rules {
	t.Helper()
	rules, err := Generate(t.Context(), read(t, file), options)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// read reads a specification file.
func read(t testing.TB, file string) *Spec {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, problems := Read(file, data)
	if problems != nil {
		t.Fatal(problems)
	}
	return spec
}
