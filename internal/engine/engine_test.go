// An engine's round trip: from the registry over the storage to the query API, across restarts.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func options(dir string, g prometheus.Gatherer) Options {
	return Options{Dir: dir, Gatherer: g, Instance: "probe-1"}
}

func open(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeEngine(t, e) })
	return e
}

func closeEngine(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// get asks the handler as the app mounts it, and gives the status and the body.
func get(t testing.TB, e *Engine, path string, query ...string) (int, string) {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(query); i += 2 {
		form.Add(query[i], query[i+1])
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/prometheus/api/v1/"+path+"?"+form.Encode(), nil)
	r.Header.Set("Origin", "http://elsewhere.example")
	http.StripPrefix("/prometheus", e.Handler()).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// series is the answer to a query: series by labels in the order of the API, each with its value or values.
func query(t testing.TB, e *Engine, expr string, at time.Time) map[string]string {
	t.Helper()
	code, body := get(t, e, "query", "query", expr, "time", seconds(at))
	if code != http.StatusOK {
		t.Fatalf("query %s: HTTP %d: %s", expr, code, body)
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range answer.Data.Result {
		name, _ := json.Marshal(r.Metric)
		for _, v := range r.Values {
			got[string(name)] += strconv.FormatFloat(v[0].(float64), 'f', -1, 64) + "=" + v[1].(string) + " "
		}
		if r.Values == nil {
			got[string(name)], _ = r.Value[1].(string)
		}
	}
	return got
}

func seconds(at time.Time) string {
	return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)
}

func want(t testing.TB, e *Engine, expr string, at time.Time, expected map[string]string) {
	t.Helper()
	if diff := cmp.Diff(expected, query(t, e, expr, at)); diff != "" {
		t.Errorf("%s at %s (-want +got):\n%s", expr, at, diff)
	}
}

var start = time.UnixMilli(1_800_000_000_000)

func TestRegistryReachesQueries(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "c_total", Help: "Counts."}, []string{"instance"})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "g", Help: "Gauges."})
	classic := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Help: "Both.", Buckets: []float64{1}, NativeHistogramBucketFactor: 2})
	r.MustRegister(counter, gauge, classic)
	counter.WithLabelValues("theirs").Add(3)
	gauge.Set(-1.5)
	classic.Observe(0.5)
	classic.Observe(4)
	e := open(t, options(t.TempDir(), r))
	e.collector.collect(start)
	const target = `"instance":"probe-1","job":"eks-slo-exporter"`
	want(t, e, "up", start, map[string]string{`{"__name__":"up",` + target + `}`: "1"})
	want(t, e, "c_total", start, map[string]string{`{"__name__":"c_total","exported_instance":"theirs",` + target + `}`: "3"})
	want(t, e, "g", start, map[string]string{`{"__name__":"g",` + target + `}`: "-1.5"})
	want(t, e, "h_bucket", start, map[string]string{
		`{"__name__":"h_bucket",` + target + `,"le":"1.0"}`: "1", `{"__name__":"h_bucket",` + target + `,"le":"+Inf"}`: "2",
	})
	want(t, e, "h_sum", start, map[string]string{`{"__name__":"h_sum",` + target + `}`: "4.5"})
	want(t, e, "histogram_count(h)", start, map[string]string{`{` + target + `}`: "2"})
	want(t, e, "up[1m]", start, map[string]string{`{"__name__":"up",` + target + `}`: "1800000000=1 "})
	if code, body := get(t, e, "metadata", "metric", "g"); code != http.StatusOK || !strings.Contains(body, `"g":[{"type":"gauge","unit":"","help":"Gauges."}]`) {
		t.Errorf("metadata: HTTP %d: %s", code, body)
	}
}

func TestHandlerReadsOnly(t *testing.T) {
	e := open(t, options(t.TempDir(), prometheus.NewRegistry()))
	for path, want := range map[string]int{
		"query?query=1": 200, "query?query=(": 400, "query_range?query=1&start=0&end=60&step=15": 200, "series?match[]=up": 200, "labels": 200, "label/job/values": 200,
		"metadata": 200, "rules": 200, "alerts": 200, "alertmanagers": 200, "targets": 200, "status/buildinfo": 200, "status/tsdb": 200,
		"status/runtimeinfo": 200, "status/config": 200, "status/flags": 200, "no_such_route": 404,
	} {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/"+path, nil))
		if w.Code != want {
			t.Errorf("GET %s: HTTP %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
	for path, want := range map[string]int{
		"write": 404, "otlp/v1/metrics": 404, "admin/tsdb/delete_series?match[]=up": 500, "admin/tsdb/snapshot": 500, "admin/tsdb/clean_tombstones": 500,
	} {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/v1/"+path, nil))
		if w.Code != want {
			t.Errorf("POST %s: HTTP %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}

func TestVanishedSeriesEnds(t *testing.T) {
	r := prometheus.NewRegistry()
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, []string{"of"})
	r.MustRegister(gauge)
	gauge.WithLabelValues("a").Set(1)
	gauge.WithLabelValues("b").Set(2)
	e := open(t, options(t.TempDir(), r))
	e.collector.collect(start)
	gauge.DeleteLabelValues("a")
	e.collector.collect(start.Add(15 * time.Second))
	want(t, e, "sum(g)", start.Add(14*time.Second), map[string]string{"{}": "3"})
	want(t, e, "sum(g)", start.Add(15*time.Second), map[string]string{"{}": "2"})
}

func TestCreationIsAZeroSample(t *testing.T) {
	created := start.Add(-4 * time.Second)
	r := prometheus.NewRegistry()
	r.MustRegister(collectors(func(ch chan<- prometheus.Metric) {
		ch <- prometheus.MustNewConstMetricWithCreatedTimestamp(prometheus.NewDesc("c_total", "", nil, nil), prometheus.CounterValue, 7, created)
	}))
	e := open(t, options(t.TempDir(), r))
	e.collector.collect(start)
	e.collector.collect(start.Add(15 * time.Second))
	want(t, e, "sum_over_time(c_total[1m])", start, map[string]string{`{"instance":"probe-1","job":"eks-slo-exporter"}`: "7"})
	want(t, e, "c_total[1m]", start.Add(15*time.Second), map[string]string{
		`{"__name__":"c_total","instance":"probe-1","job":"eks-slo-exporter"}`: "1799999996=0 1800000000=7 1800000015=7 ",
	})
	if n := e.collector.metrics.total(t); n != "samples=4" {
		t.Errorf("metrics: %s", n)
	}
}

type collectors func(chan<- prometheus.Metric)

func (c collectors) Describe(chan<- *prometheus.Desc)         {}
func (c collectors) Collect(metrics chan<- prometheus.Metric) { c(metrics) }

func TestRestartReplays(t *testing.T) {
	dir, r := t.TempDir(), prometheus.NewRegistry()
	first := open(t, options(dir, r))
	first.collector.collect(start)
	closeEngine(t, first)
	second := open(t, options(dir, r))
	second.collector.collect(start.Add(15 * time.Second))
	want(t, second, "count_over_time(up[1m])", start.Add(15*time.Second), map[string]string{`{"instance":"probe-1","job":"eks-slo-exporter"}`: "2"})
}

func TestRegistryThatCannotBeRead(t *testing.T) {
	var log bytes.Buffer
	broken := false
	o := options(t.TempDir(), nil)
	o.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	r := prometheus.NewRegistry()
	r.MustRegister(collectors(func(ch chan<- prometheus.Metric) {
		desc := prometheus.NewDesc("g", "", nil, nil)
		if broken {
			ch <- prometheus.NewInvalidMetric(desc, context.DeadlineExceeded)
			return
		}
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1)
	}))
	o.Gatherer = r
	e := open(t, o)
	for i, b := range []bool{false, true, true, false} {
		broken = b
		e.collector.collect(start.Add(time.Duration(i) * 15 * time.Second))
	}
	want(t, e, "sum(up)", start.Add(15*time.Second), map[string]string{"{}": "0"})
	want(t, e, "g", start.Add(15*time.Second), map[string]string{})
	want(t, e, "sum(g)", start.Add(45*time.Second), map[string]string{"{}": "1"})
	for _, line := range []string{"The registry could not be read", "The registry can be read again"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q was logged %d times, want once:\n%s", line, n, log.String())
		}
	}
}

func TestReloadKeepsTheLastGood(t *testing.T) {
	e := open(t, options(t.TempDir(), prometheus.NewRegistry()))
	good := files("groups: [{name: g, rules: [{record: r, expr: up}]}]")
	if err := e.Reload(good, []*url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}); err != nil {
		t.Fatal(err)
	}
	err := e.Reload(files("groups: [{name: g, rules: [{record: r, expr: up(}]}]"), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "rule file a.yaml:1:") {
		t.Errorf("a wrong rule: %v", err)
	}
	err = e.Reload(good, []*url.URL{{Scheme: "ftp", Host: "h", User: url.UserPassword("u", "s3cret")}})
	if err == nil || err.Error() != "taking up Alertmanager 1: want an http or https URL with a host" {
		t.Errorf("a wrong Alertmanager: %v", err)
	}
	if _, body := get(t, e, "rules"); !strings.Contains(body, `"query":"up"`) {
		t.Errorf("rules after wrong reloads: %s", body)
	}
}

func files(text string) fs.FS { return fstest.MapFS{"a.yaml": {Data: []byte(text)}} }

func TestOptions(t *testing.T) {
	_, err := Open(Options{Interval: time.Microsecond, Retention: -1})
	const want = "opening the engine: option Dir is empty\noption Gatherer is missing\noption Instance is empty\noption Interval is 1µs, want at least 1ms\noption Retention is -1ns, want more than 0"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestReleaseOf(t *testing.T) {
	for module, want := range map[string]string{"v0.310.0": "3.10.0", "v0.305.2": "3.5.2", "v1.8.2": "v1.8.2"} {
		if got := releaseOf(module); got != want {
			t.Errorf("releaseOf(%s) = %s, want %s", module, got, want)
		}
	}
}

func TestGrid(t *testing.T) {
	for now, want := range map[int64]int64{0: 15_000, 14_999: 15_000, 15_000: 30_000, 15_001: 30_000} {
		if got := nextOnGrid(time.UnixMilli(now), 15*time.Second).UnixMilli(); got != want {
			t.Errorf("after %d comes %d, want %d", now, got, want)
		}
	}
}
