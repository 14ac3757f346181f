// The query API is Prometheus' own, over the engine's storage and rules, with nothing that writes.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"time"

	"github.com/grafana/regexp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/route"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/notifications"
	v1 "github.com/prometheus/prometheus/web/api/v1"
)

// noOrigin is matched by no origin: a page of another site must not read the API.
var noOrigin = regexp.MustCompile(`^(?:\b\B)$`)

// Limits of remote reads: Prometheus' own defaults of --storage.remote.read-*.
const (
	readSamples     = 50_000_000
	readConcurrency = 10
	readFrame       = 1 << 20
)

// Handler serves Prometheus' HTTP API below /api/v1/. Administration and every way to write answer with an error.
func (e *Engine) Handler() http.Handler { return e.handler }

// newHandler makes a handler whose queries end with ctx.
func (e *Engine) newHandler(ctx context.Context) http.Handler {
	self := only{target: e.collector.metadata.target(e.options.Instance)}
	started := time.Now()
	api := v1.NewAPI(
		e.query, e.store, nil, nil, e.store,
		func(context.Context) v1.ScrapePoolsRetriever { return self },
		func(context.Context) v1.TargetRetriever { return self },
		func(context.Context) v1.AlertmanagerRetriever { return e.notifier },
		func() config.Config { return config.DefaultConfig },
		map[string]string{}, v1.GlobalURLOptions{},
		func(next http.HandlerFunc) http.HandlerFunc { return next },
		admin{e.store}, e.options.Dir, false, e.prometheus,
		func(context.Context) v1.RulesRetriever { return e.rules },
		readSamples, readConcurrency, readFrame, false, noOrigin,
		func() (v1.RuntimeInfo, error) {
			return v1.RuntimeInfo{
				StartTime: started, ServerTime: time.Now(), ReloadConfigSuccess: true, GoroutineCount: runtime.NumGoroutine(),
				GOMAXPROCS: runtime.GOMAXPROCS(0), StorageRetention: model.Duration(e.options.Retention).String(),
			}, nil
		},
		&v1.PrometheusVersion{Version: libraryVersion(), GoVersion: runtime.Version()},
		func() []notifications.Notification { return nil },
		func() (<-chan notifications.Notification, func(), bool) { return nil, func() {}, false },
		prometheus.Gatherers{}, e.registerer, nil,
		false, nil, false, false, false, false, 0, false, false, nil, nil, v1.OpenAPIOptions{},
	)
	router := route.New()
	api.Register(router.WithPrefix("/api/v1"))
	router.Get("/graph", showExpression)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":"error","errorType":"unavailable","error":"the engine is closed"}`)
			return
		}
		one, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		router.ServeHTTP(w, r.WithContext(one)) //nolint:contextcheck // it is the request's own
	})
}

// showExpression is where the links of alerts lead, which are made for Prometheus' own pages: to what the expression gives now.
func showExpression(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", "api/v1/query?"+url.Values{"query": {r.FormValue("g0.expr")}}.Encode()) // relative, since we are mounted somewhere
	w.WriteHeader(http.StatusFound)
}

// only is the exporter as the API's only target.
type only struct{ target *scrape.Target }

// ScrapePools gives the one job.
func (only) ScrapePools() []string { return []string{Job} }

// TargetsActive gives the one target.
func (o only) TargetsActive() map[string][]*scrape.Target {
	return map[string][]*scrape.Target{Job: {o.target}}
}

// TargetsDropped gives none.
func (only) TargetsDropped() map[string][]*scrape.Target { return nil }

// TargetsDroppedCounts gives none.
func (only) TargetsDroppedCounts() map[string]int { return nil }

// ScrapePoolConfig gives the defaults: nothing is scraped over HTTP.
func (only) ScrapePoolConfig(string) (*config.ScrapeConfig, error) {
	return &config.ScrapeConfig{JobName: Job}, nil
}

// admin gives the API the storage's statistics, and nothing that changes it.
type admin struct{ store *store }

var errReadOnly = errors.New("the storage is read through this API, and not changed")

// CleanTombstones refuses.
func (admin) CleanTombstones() error { return errReadOnly }

// Delete refuses.
func (admin) Delete(context.Context, int64, int64, ...*labels.Matcher) error { return errReadOnly }

// Snapshot refuses.
func (admin) Snapshot(string, bool) error { return errReadOnly }

// Stats are the head's.
func (a admin) Stats(label string, limit int) (*tsdb.Stats, error) {
	db, release, err := a.store.use()
	if err != nil {
		return nil, err
	}
	defer release()
	return db.Head().Stats(label, limit), nil
}

// WALReplayStatus is that of a storage that is open: done.
func (admin) WALReplayStatus() (tsdb.WALReplayStatus, error) { return tsdb.WALReplayStatus{}, nil }

// BlockMetas are those of the blocks on disk.
func (a admin) BlockMetas() ([]tsdb.BlockMeta, error) {
	db, release, err := a.store.use()
	if err != nil {
		return nil, err
	}
	defer release()
	return db.BlockMetas(), nil
}
