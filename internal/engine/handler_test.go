// The handler while the engine ends, where the links of alerts lead, and queries that wait for their turn.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/tsdb"
)

func TestLinkOfAnAlertLeadsToItsExpression(t *testing.T) {
	e := open(t, options(t.TempDir(), prometheus.NewRegistry()))
	server := httptest.NewServer(http.StripPrefix("/prometheus", e.Handler()))
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/prometheus/graph?g0.expr=vector%281%29+%2B+1&g0.tab=1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if got := answer.Request.URL.RequestURI(); got != "/prometheus/api/v1/query?query=vector%281%29+%2B+1" || answer.StatusCode != http.StatusOK {
		t.Errorf("the link leads to %s: HTTP %d", got, answer.StatusCode)
	}
}

func TestClosedEngineIsNotReady(t *testing.T) {
	e := open(t, options(t.TempDir(), prometheus.NewRegistry()))
	e.collector.collect(start)
	closeEngine(t, e)
	for _, path := range []string{"query?query=up", "series?match[]=up", "labels", "status/tsdb"} {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/"+path, nil))
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"error":"the engine is closed"`) {
			t.Errorf("%s: HTTP %d: %s", path, w.Code, w.Body)
		}
	}
	app := e.store.Appender(t.Context())
	if err := app.Commit(); !errors.Is(err, tsdb.ErrNotReady) {
		t.Errorf("writing: %v", err)
	}
}

func TestCloseWaitsForQueries(t *testing.T) {
	e := open(t, options(t.TempDir(), prometheus.NewRegistry()))
	q, err := e.store.Querier(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("no more time"))
	defer cancel()
	if err := e.store.Close(short); err == nil || err.Error() != "waiting for the queries under way: no more time" {
		t.Errorf("closing under a query: %v", err)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if err := e.store.Close(t.Context()); err != nil {
		t.Errorf("closing after it: %v", err)
	}
}

func TestQueriesTakeTurns(t *testing.T) {
	turns := newTurns()
	for range turns.GetMaxConcurrent() {
		if _, err := turns.Insert(t.Context(), "up"); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the client is gone"))
	if _, err := turns.Insert(ended, "up"); err == nil || err.Error() != "waiting for one of 20 queries to end: the client is gone" {
		t.Errorf("a query too many: %v", err)
	}
	turns.Delete(0)
	if _, err := turns.Insert(t.Context(), "up"); err != nil {
		t.Error(err)
	}
}
