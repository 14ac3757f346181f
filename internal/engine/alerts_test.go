// A rule fires and resolves at a receiver with Alertmanager's API, and a pending alert outlives a restart.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
)

// posted is one alert as Alertmanager's API v2 takes it.
type posted struct {
	EndsAt       time.Time
	Labels       map[string]string
	Annotations  map[string]string
	GeneratorURL string
}

// receiver hands on every alert; user and password are asked for.
func receiver(t *testing.T) (*url.URL, <-chan posted) {
	t.Helper()
	alerts := make(chan posted, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		var all []posted
		if r.URL.Path != "/am/api/v2/alerts" || user != "u" || password != "p" || json.NewDecoder(r.Body).Decode(&all) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, a := range all {
			alerts <- a
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path, u.User = "/am", url.UserPassword("u", "p")
	return u, alerts
}

const downRule = `groups: [{name: g, interval: 40ms, rules: [
  {record: "broken:sum", expr: "sum(broken)"},
  {alert: Down, expr: "broken:sum > 0", labels: {severity: page}, annotations: {summary: "{{ $value }} broken"}}]}]`

func TestAlertFiresAndResolves(t *testing.T) {
	am, alerts := receiver(t)
	var broken atomic.Int64
	broken.Store(2)
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "broken"}, func() float64 { return float64(broken.Load()) }))
	o := options(t.TempDir(), r)
	o.Interval, o.Rules, o.Alertmanagers = 20*time.Millisecond, files(downRule), []*url.URL{am}
	o.ExternalURL = &url.URL{Scheme: "http", Host: "exporter.example", Path: "/prometheus"}
	e := open(t, o)
	e.Start()
	e.Start()
	fired := await(t, alerts)
	if fired.Labels["alertname"] != "Down" || fired.Labels["severity"] != "page" || fired.Annotations["summary"] != "2 broken" || !fired.EndsAt.After(time.Now()) {
		t.Errorf("fired: %+v", fired)
	}
	if !strings.HasPrefix(fired.GeneratorURL, "http://exporter.example/prometheus/graph?g0.expr=broken%3Asum+%3E+0") {
		t.Errorf("the alert links to %s", fired.GeneratorURL)
	}
	if _, body := get(t, e, "alerts"); !strings.Contains(body, `"state":"firing"`) {
		t.Errorf("alerts: %s", body)
	}
	broken.Store(0)
	for {
		if resolved := await(t, alerts); !resolved.EndsAt.After(time.Now()) {
			break
		}
	}
	closeEngine(t, e)
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	onGrid(t, o)
}

func await(t *testing.T, alerts <-chan posted) posted {
	t.Helper()
	select {
	case a := <-alerts:
		return a
	case <-time.After(20 * time.Second):
		t.Fatal("no alert in 20 seconds")
		return posted{}
	}
}

// onGrid reads what an engine stored: every sample is on the grid but the one of Close.
func onGrid(t *testing.T, o Options) {
	t.Helper()
	e := open(t, o)
	off := 0
	for _, values := range query(t, e, "up[1h]", time.Now()) {
		for point := range strings.FieldsSeq(values) {
			at, _, _ := strings.Cut(point, "=")
			whole, fraction, _ := strings.Cut(at, ".")
			ms, err := time.ParseDuration(whole + "." + fraction + "0s")
			if err != nil {
				t.Fatal(err)
			}
			if ms%o.Interval != 0 {
				off++
			}
		}
	}
	if off > 1 {
		t.Errorf("%d samples are not on the grid, want at most the last", off)
	}
}

func TestPendingAlertOutlivesARestart(t *testing.T) {
	r := prometheus.NewRegistry()
	o := options(t.TempDir(), r)
	o.Interval = 20 * time.Millisecond
	o.Rules = files(`groups: [{name: g, interval: 40ms, rules: [{alert: Up, expr: "up == 1", for: 1h}]}]`)
	first := open(t, o)
	since := time.Now().Add(-30 * time.Minute).Truncate(time.Second)
	app := first.store.Appender(t.Context())
	state := labels.FromStrings("__name__", "ALERTS_FOR_STATE", "alertname", "Up", "instance", "probe-1", "job", Job)
	if _, err := app.Append(0, state, time.Now().Add(-time.Second).UnixMilli(), float64(since.Unix())); err != nil {
		t.Fatal(err)
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, first)
	second := open(t, o)
	second.Start()
	awaitPending(t, second, since.Add(10*time.Minute)) // the time in between does not count, a few seconds here
}

// awaitPending waits until the API shows an alert that has been pending since before the limit.
func awaitPending(t *testing.T, e *Engine, limit time.Time) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	body := ""
	for range 1000 {
		_, body = get(t, e, "alerts")
		if _, rest, ok := strings.Cut(body, `"activeAt":"`); ok {
			text, _, _ := strings.Cut(rest, `"`)
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Before(limit) {
				return
			}
		}
		<-tick.C
	}
	t.Fatalf("no alert pending since before %s in 10 seconds: %s", limit, body)
}

// An Alertmanager that does not answer keeps Close no longer than its context lasts.
func TestCloseDoesNotWaitForASilentAlertmanager(t *testing.T) {
	asked, silent := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-silent
	}))
	defer server.Close()
	defer close(silent)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t.TempDir(), prometheus.NewRegistry())
	o.Interval, o.Rules, o.Alertmanagers = 20*time.Millisecond, files(`groups: [{name: g, interval: 40ms, rules: [{alert: Always, expr: "vector(1)"}]}]`), []*url.URL{u}
	e := open(t, o)
	e.Start()
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := e.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %s with 100ms to do it in", took)
	}
}
