// Engine is Prometheus inside the exporter: Open replays what is on disk, Start collects and evaluates, Reload swaps rules, Close drains.
//
// SPDX-License-Identifier: Apache-2.0

// Package engine embeds Prometheus as libraries: its storage, rule manager, notifier and query API, fed straight from a registry.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/notifier"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
)

// Job is the label job of every sample that the engine collects.
const Job = "eks-slo-exporter"

// Prometheus' own defaults of its flags --rules.alert.* , --alertmanager.* and --query.*.
const (
	outageTolerance = time.Hour
	graceOfFor      = 10 * time.Minute
	resendDelay     = time.Minute
	queueCapacity   = 10_000
	queryTimeout    = 2 * time.Minute
	querySamples    = 50_000_000
)

// Options say what an engine stores, evaluates and notifies.
type Options struct {
	Dir           string        // the folder of the data; made when missing
	Retention     time.Duration // of samples; default 35 days
	Interval      time.Duration // of collections, and of rule groups that name none; default 15 seconds
	Rules         fs.FS         // the rule files: *.yaml at its root; nil for none
	Alertmanagers []*url.URL    // each with scheme, host and path prefix; user and password become basic authentication
	Gatherer      prometheus.Gatherer
	Registerer    prometheus.Registerer // of the engine's own few metrics; nil for none
	Instance      string                // the label instance of every sample
	ExternalURL   *url.URL              // where alerts link to; nil for no host
	Logger        *slog.Logger          // nil discards
}

func (o Options) withDefaults() (Options, error) {
	if o.Retention == 0 {
		o.Retention = 35 * 24 * time.Hour
	}
	if o.Interval == 0 {
		o.Interval = 15 * time.Second
	}
	if o.ExternalURL == nil {
		o.ExternalURL = &url.URL{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var errs []error
	if o.Dir == "" {
		errs = append(errs, errors.New("option Dir is empty"))
	}
	if o.Gatherer == nil {
		errs = append(errs, errors.New("option Gatherer is missing"))
	}
	if o.Instance == "" {
		errs = append(errs, errors.New("option Instance is empty"))
	}
	if o.Interval < time.Millisecond {
		errs = append(errs, fmt.Errorf("option Interval is %s, want at least 1ms", o.Interval))
	}
	if o.Retention < 0 {
		errs = append(errs, fmt.Errorf("option Retention is %s, want more than 0", o.Retention))
	}
	return o, errors.Join(errs...)
}

// Engine is an open storage with what reads and writes it.
type Engine struct {
	options    Options
	registerer *few
	prometheus *slog.Logger // for what Prometheus itself says
	store      *store
	query      *promql.Engine
	files      *ruleLoader
	rules      *rules.Manager
	notifier   *notifier.Manager
	targets    chan map[string][]*targetgroup.Group
	collector  *collector
	handler    http.Handler

	reloading  sync.Mutex
	start, end sync.Once
	evaluate   sync.Once
	collecting context.CancelFunc // ends the collections; nil before Start
	abort      context.CancelFunc // ends evaluations and notifications under way
	running    sync.WaitGroup     // the collections and evaluations
	notifying  sync.WaitGroup
}

// Open replays what is on disk and reads the rules. Errors of the storage are a *StorageError with a hint.
func Open(options Options) (*Engine, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening the engine: %w", err)
	}
	rules, err := readRules(options.Rules)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		options: options, registerer: &few{next: options.Registerer}, prometheus: newQuiet(options.Logger),
		files: &ruleLoader{}, targets: make(chan map[string][]*targetgroup.Group, 1),
	}
	if e.store, err = openStore(options, e.prometheus); err != nil {
		return nil, err
	}
	ctx, abort := context.WithCancel(context.Background())
	e.abort = abort
	e.query = promql.NewEngine(promql.EngineOpts{
		Logger: e.prometheus, Reg: e.registerer, MaxSamples: querySamples, Timeout: queryTimeout, ActiveQueryTracker: newTurns(),
		EnableAtModifier: true, EnableNegativeOffset: true,
	})
	e.notifier = newNotifier(ctx, e.registerer, e.prometheus)
	e.rules = e.newRules(ctx)
	e.collector = newCollector(options, e.store, e.registerer)
	e.handler = e.newHandler(ctx)
	if err := e.apply(rules, options.Alertmanagers); err != nil {
		return nil, errors.Join(err, e.Close(context.Background()))
	}
	return e, nil
}

func (e *Engine) newRules(ctx context.Context) *rules.Manager {
	return rules.NewManager(&rules.ManagerOptions{
		NameValidationScheme: model.UTF8Validation, ExternalURL: e.options.ExternalURL, GroupLoader: e.files,
		QueryFunc:  rules.EngineQueryFunc(e.query, e.store),
		NotifyFunc: rules.SendAlerts(e.notifier, e.options.ExternalURL.String()),
		Context:    ctx, Appendable: e.store, Queryable: e.store, Logger: e.prometheus, Registerer: e.registerer,
		OutageTolerance: outageTolerance, ForGracePeriod: graceOfFor, ResendDelay: resendDelay,
		DefaultRuleQueryOffset: func() time.Duration { return 0 },
	})
}

// Start begins to collect, evaluate and notify, and returns at once. A second call does nothing.
func (e *Engine) Start() {
	e.start.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		e.collecting = cancel
		e.notifying.Go(func() { e.notifier.Run(e.targets) })
		e.running.Go(func() { e.collector.run(ctx) })
		e.runRules()
	})
}

// runRules lets the manager's groups go; a manager that never ran cannot be stopped.
func (e *Engine) runRules() {
	e.evaluate.Do(func() { e.running.Go(e.rules.Run) })
}

// Reload swaps rules and Alertmanagers. Nothing changes when either is wrong.
func (e *Engine) Reload(files fs.FS, alertmanagers []*url.URL) error {
	rules, err := readRules(files)
	if err != nil {
		return err
	}
	return e.apply(rules, alertmanagers)
}

func (e *Engine) apply(rules *ruleSet, alertmanagers []*url.URL) error {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	if err := e.applyAlertmanagers(alertmanagers); err != nil {
		return err
	}
	e.files.current.Store(rules)
	if err := e.rules.Update(e.options.Interval, rules.names, noLabels, e.options.ExternalURL.String(), nil); err != nil {
		return fmt.Errorf("loading %d rule files: %w", len(rules.names), err)
	}
	return nil
}

// Close collects once more, lets evaluations and notifications under way end, and closes the storage. When ctx ends first, alerts that are not sent yet are dropped. Queries of the handler are ended, and
// later ones are told that the storage is not ready. A second call does nothing.
func (e *Engine) Close(ctx context.Context) (err error) {
	e.end.Do(func() {
		defer context.AfterFunc(ctx, e.abort)()
		started := false
		e.start.Do(func() {}) // from now on Start does nothing
		if e.collecting != nil {
			started = true
			e.collecting()
		}
		e.runRules()
		e.rules.Stop()
		e.running.Wait()
		if started {
			e.collector.collect(time.Now()) //nolint:contextcheck // a collection is short and is not cut off
		}
		e.notifier.Stop()
		e.notifying.Wait()
		e.abort()
		err = errors.Join(e.query.Close(), e.store.Close(ctx))
		e.registerer.unregister()
	})
	if err != nil {
		return fmt.Errorf("closing the engine in %q: %w", e.options.Dir, err)
	}
	return nil
}
