// A Prometheus for tests: the real engine and storage, behind the part of the HTTP API that is asked.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/teststorage"
)

// server is a Prometheus.
type server struct {
	t      testing.TB
	store  storage.Storage
	engine *promql.Engine
	now    time.Time
	rules  string // what /api/v1/rules answers; "": 404
	warn   []string
	asked  atomic.Int64
}

func newServer(t testing.TB, now time.Time) *server {
	t.Helper()
	store := teststorage.New(t, func(o *tsdb.Options) { o.OutOfOrderTimeWindow = (100 * 24 * time.Hour).Milliseconds() })
	store.DisableCompactions() // series come one after the other, each from the beginning
	return &server{
		t: t, store: store, now: now, rules: `{"groups":[]}`,
		engine: promqltest.NewTestEngineWithOpts(t, promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true}),
	}
}

// reader is a reader over a real connection.
func (s *server) reader(options ReaderOptions) *Reader {
	s.t.Helper()
	listener := httptest.NewServer(s)
	s.t.Cleanup(listener.Close)
	if options.Now == nil {
		options.Now = func() time.Time { return s.now }
	}
	client := newClient(s.t, Options{URL: listener.URL})
	return NewReader(client, options)
}

// newClient makes a client that leaves no connection behind.
func newClient(t testing.TB, options Options) API {
	t.Helper()
	if options.Transport == nil {
		transport, err := options.transport()
		if err != nil {
			t.Fatal(err)
		}
		options.Transport, options.SigV4 = transport, nil
		t.Cleanup(func() { (&http.Client{Transport: transport}).CloseIdleConnections() })
	}
	api, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// add stores samples of one series.
func (s *server) add(series labels.Labels, points ...promql.FPoint) {
	s.t.Helper()
	app := s.store.Appender(s.t.Context())
	for _, p := range points {
		if _, err := app.Append(0, series, p.T, p.F); err != nil {
			s.t.Fatalf("%s at %d: %v", series, p.T, err)
		}
	}
	if err := app.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

// record stores one value now.
func (s *server) record(name string, value float64, pairs ...string) {
	s.t.Helper()
	s.add(labels.FromStrings(append([]string{"__name__", name}, pairs...)...), promql.FPoint{T: s.now.UnixMilli(), F: value})
}

// ServeHTTP answers as Prometheus does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	var query promql.Query
	var err error
	switch r.URL.Path {
	case "/api/v1/query":
		at := s.now
		if r.FormValue("time") != "" {
			at = parsedTime(r.FormValue("time"))
		}
		query, err = s.engine.NewInstantQuery(r.Context(), s.store, nil, r.FormValue("query"), at)
	case "/api/v1/query_range":
		step, _ := strconv.ParseFloat(r.FormValue("step"), 64)
		query, err = s.engine.NewRangeQuery(r.Context(), s.store, nil, r.FormValue("query"), parsedTime(r.FormValue("start")), parsedTime(r.FormValue("end")), time.Duration(step*float64(time.Second)))
	case "/api/v1/rules":
		if s.rules == "" {
			http.NotFound(w, r)
			return
		}
		answer(w, http.StatusOK, map[string]any{"status": "success", "data": json.RawMessage(s.rules)})
		return
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"status": "error", "errorType": "bad_data", "error": err.Error()})
		return
	}
	defer query.Close()
	result := query.Exec(r.Context())
	if result.Err != nil {
		answer(w, http.StatusUnprocessableEntity, map[string]any{"status": "error", "errorType": "execution", "error": result.Err.Error()})
		return
	}
	if matrix, ok := result.Value.(promql.Matrix); ok {
		_, _ = w.Write(fast(matrix))
		return
	}
	answer(w, http.StatusOK, map[string]any{"status": "success", "warnings": s.warn, "data": map[string]any{"resultType": result.Value.Type(), "result": result.Value}})
}

// fast writes a matrix without reflection, as Prometheus does.
func fast(matrix promql.Matrix) []byte {
	out := []byte(`{"status":"success","data":{"resultType":"matrix","result":[`)
	for i, series := range matrix {
		if i > 0 {
			out = append(out, ',')
		}
		metric, _ := json.Marshal(series.Metric)
		out = append(append(append(out, `{"metric":`...), metric...), `,"values":[`...)
		for j, point := range series.Floats {
			if j > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendFloat(append(out, '['), float64(point.T)/1000, 'f', -1, 64)
			out = strconv.AppendFloat(append(out, `,"`...), point.F, 'f', -1, 64)
			out = append(out, `"]`...)
		}
		out = append(out, "]}"...)
	}
	return append(out, "]}}"...)
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// parsedTime reads a time as Prometheus does.
func parsedTime(text string) time.Time {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	s, ns := math.Modf(f)
	return time.Unix(int64(s), int64(math.Round(ns*1000)/1000*float64(time.Second))).UTC()
}
