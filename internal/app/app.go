// App is the exporter: New joins its parts, Start listens and schedules, Reload swaps the configuration, Stop drains.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	toolkit "github.com/prometheus/exporter-toolkit/web"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
	"github.com/eks-slo/eks-slo-exporter/internal/scheduler"
	"github.com/eks-slo/eks-slo-exporter/internal/web"
)

// App is a running exporter, or one that is about to be.
type App struct {
	options   Options
	store     *results.Store
	metrics   *metrics.Metrics
	scheduler *scheduler.Scheduler
	probing   *probing
	discovery *discovery
	recorder  *recorder
	registry  *prometheus.Registry
	embedded  *embedded
	gates     *gatekeeper
	handler   http.Handler

	reloading sync.Mutex // one reload at a time
	plan      plan       // the last good configuration
	current   []chain.Target
	ready     atomic.Bool
	addr      string
	failed    chan error
	teardown  teardown
}

// New joins the parts. Nothing runs yet, and nothing is read.
func New(options Options) (*App, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if err := metrics.RegisterRuntime(registry); err != nil {
		return nil, fmt.Errorf("registering the runtime metrics: %w", err)
	}
	m, err := metrics.New(metrics.Options{Registry: registry, Version: options.Version})
	if err != nil {
		return nil, err
	}
	store := results.NewStore()
	a := &App{
		options: options, store: store, metrics: m, probing: &probing{}, registry: registry, embedded: &embedded{}, failed: make(chan error, 1),
	}
	a.discovery = newDiscovery(a.probing, a.rediscovered, m, options.Logger)
	a.recorder = newRecorder(store, m, a.probing, options.Logger)
	a.gates = &gatekeeper{metrics: m, logger: options.Logger}
	m.WatchStretch(a.probing.stretch)
	a.scheduler, err = scheduler.New(scheduler.Options{
		Runner: a.probing, Pacer: a.probing, Recorder: a.recorder, Logger: options.Logger, Watcher: m, Concurrency: options.Concurrency,
	})
	if err != nil {
		return nil, err
	}
	if a.handler, err = a.newHandler(); err != nil {
		return nil, err
	}
	return a, nil
}

// Start reads the configuration, listens and begins to probe. On an error nothing is left running.
func (a *App) Start(ctx context.Context) error {
	if err := a.start(ctx); err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	return nil
}

func (a *App) start(ctx context.Context) error {
	a.reloading.Lock() // a reload that comes while we start waits for its turn
	defer a.reloading.Unlock()
	plan, err := a.prepare(ctx)
	if err != nil {
		return err
	}
	if err := toolkit.Validate(*a.options.Web.WebConfigFile); err != nil {
		return fmt.Errorf("reading the web configuration %s: %w; correct it, or name another with --web.config.file", *a.options.Web.WebConfigFile, err)
	}
	listeners, err := a.listen()
	if err != nil {
		return err
	}
	a.serve(listeners)
	if err := a.openEngine(plan.query.Embedded); err != nil { //nolint:contextcheck // it runs until Stop
		return err
	}
	a.teardown.push("cluster connections", a.probing.close) // when no run is under way any more
	a.teardown.push("scheduler", a.scheduler.Stop)
	a.apply(plan)                              //nolint:contextcheck // runs outlive the start, and end with the scheduler
	a.background("discovery", a.discovery.run) //nolint:contextcheck // so does discovery
	a.background("gates", a.gates.run)         //nolint:contextcheck // and so do gates
	a.ready.Store(true)
	a.options.Logger.Info("started", "address", a.addr, "targets", len(a.current), "version", a.options.Version)
	return nil
}

// background runs something until Stop.
func (a *App) background(name string, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	a.teardown.push(name, func(context.Context) error {
		cancel()
		<-done
		return nil
	})
}

// Stop ends everything, last started first: no new slots, runs dropped, requests drained.
func (a *App) Stop(ctx context.Context) error {
	if a.ready.Swap(false) {
		a.options.Logger.Info("stopping")
		defer a.options.Logger.Info("stopped")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.options.DrainTimeout, fmt.Errorf("draining took more than %s", a.options.DrainTimeout))
	defer cancel()
	return a.teardown.run(ctx)
}

// Addr is the first address that the App listens on, with its port.
func (a *App) Addr() string { return a.addr }

// Failed tells when the web server ends by itself.
func (a *App) Failed() <-chan error { return a.failed }

// listen opens the configured addresses itself, so that a port 0 is known afterwards; systemd's and vsock sockets are left to the toolkit (nil listeners).
func (a *App) listen() ([]net.Listener, error) {
	addresses := *a.options.Web.WebListenAddresses
	if *a.options.Web.WebSystemdSocket || slices.ContainsFunc(addresses, func(address string) bool { return strings.HasPrefix(address, "vsock://") }) {
		return nil, nil
	}
	listeners := []net.Listener{}
	for _, address := range addresses {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listening on %s: %w; choose another with --web.listen-address", address, err)
		}
		a.teardown.push("listener "+address, func(context.Context) error {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) { // the web server closes it too
				return err
			}
			return nil
		})
		listeners = append(listeners, l)
	}
	a.addr = listeners[0].Addr().String()
	return listeners, nil
}

// serve starts the web server. It ends by Stop; when it ends by itself, Failed tells.
func (a *App) serve(listeners []net.Listener) {
	server := &http.Server{
		Handler: a.handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(a.options.Logger.Handler(), slog.LevelWarn),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		if listeners == nil {
			err = toolkit.ListenAndServe(server, a.options.Web, a.options.Logger)
		} else {
			err = toolkit.ServeMultiple(listeners, server, a.options.Web, a.options.Logger)
		}
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serving the web endpoints: %w", err)
		}
	}()
	a.teardown.push("web server", func(ctx context.Context) error {
		var err error
		if server.Shutdown(ctx) != nil { // a client that does not read is no reason to fail
			a.options.Logger.Warn("clients did not take their answers in time and were cut off", "cause", context.Cause(ctx))
			err = server.Close()
		}
		<-done
		return err
	})
}

// maxScrapes bounds what /metrics costs when many ask at once, or do not read; as many as node_exporter allows.
const maxScrapes = 40

func (a *App) newHandler() (http.Handler, error) {
	return web.NewHandler(web.Options{
		Results: a.store, Reload: a.Reload, Ready: a.ready.Load, Logger: a.options.Logger, Now: time.Now,
		Queries: a.embedded, Budgets: a.gates,
		Metrics: promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(a.options.Logger.Handler(), slog.LevelError), EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes}),
	})
}
