// Tests of recorded ranges: a server on the loopback that speaks Prometheus' API, and what becomes of its samples.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/prometheus/promql"
)

// prometheus serves /api/v1/query from a store, by the real engine.
func prometheus(t *testing.T, held *store) Source {
	t.Helper()
	engine := newEngine(time.Minute)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := func(status int, body map[string]any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(body)
		}
		seconds, err := strconv.ParseFloat(r.FormValue("time"), 64)
		if err != nil || r.URL.Path != "/api/v1/query" {
			answer(http.StatusNotFound, map[string]any{"status": "error", "errorType": "bad_data", "error": "no such query"})
			return
		}
		query, err := engine.NewInstantQuery(r.Context(), held, nil, r.FormValue("query"), time.UnixMilli(int64(seconds*1000)))
		if err != nil {
			answer(http.StatusBadRequest, map[string]any{"status": "error", "errorType": "bad_data", "error": err.Error()})
			return
		}
		defer query.Close()
		result := query.Exec(r.Context())
		if result.Err != nil {
			answer(http.StatusUnprocessableEntity, map[string]any{"status": "error", "errorType": "execution", "error": result.Err.Error()})
			return
		}
		answer(http.StatusOK, map[string]any{"status": "success", "data": map[string]any{"resultType": result.Value.Type(), "result": result.Value}})
	}))
	t.Cleanup(server.Close)
	client, err := api.NewClient(api.Config{Address: server.URL, RoundTripper: &http.Transport{DisableKeepAlives: true}})
	if err != nil {
		t.Fatal(err)
	}
	return v1.NewAPI(client)
}

// A recorded range gives the same alerts as the world that it was recorded from.
func TestFetch(t *testing.T) {
	rules := rulesOf(t, "sloth.yaml")
	made := &Scenario{Name: "made", Duration: 6 * time.Hour, Events: []Event{{Kind: Outage, At: 4 * time.Hour, For: 10 * time.Minute}}}
	s := made.withDefaults(30 * time.Second)
	w, err := s.world(rules, access(t))
	if err != nil {
		t.Fatal(err)
	}
	fetched, err := Fetch(t.Context(), prometheus(t, w.store), rules, Range{From: s.Start, To: s.Start.Add(6 * time.Hour), Matchers: `cluster="simulated"`, Piece: 50 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Run(t.Context(), rules, access(t), fetched)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Run(t.Context(), rules, access(t), made)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(episodes(want), episodes(got)); diff != "" || len(episodes(want)) != 2 {
		t.Errorf("alerts of the world - and of its recording +:\n%s", diff)
	}
	if got.Budgets != nil || got.Gate.Verdict != "cannot tell" {
		t.Errorf("budgets %v and gate %v of a world of which nobody knows the truth", got.Budgets, got.Gate)
	}
}

// Every sample comes once, also when the server includes the beginning of a range.
func TestFetchTwice(t *testing.T) {
	held := newStore()
	up := held.column(metric("up", "instance", "a"), scrapedSeries)
	for i := range int64(100) {
		if err := held.add(up, promql.FPoint{T: 1_000_000 + i*60_000, F: float64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := ParseRules([]byte("groups: [{name: g, rules: [{record: r, expr: up}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Fetch(t.Context(), overlapping{prometheus(t, held)}, rules, Range{From: instant(940_000), To: instant(7_000_000), Piece: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(held.all()[0].points, s.Recording.columns[0].points); diff != "" {
		t.Errorf("held - and fetched +:\n%s", diff)
	}
}

func TestFetchErrors(t *testing.T) {
	rules := rulesOf(t, "sloth.yaml")
	now := DefaultStart
	cases := map[string]struct {
		source Source
		r      Range
		want   string
	}{
		"backwards": {nil, Range{From: now, To: now}, "that is no range"},
		"nothing":   {prometheus(t, newStore()), Range{From: now, To: now.Add(time.Hour)}, "there are none of what the rules read"},
		"matchers":  {prometheus(t, newStore()), Range{From: now, To: now.Add(time.Hour), Matchers: "cluster~x"}, "asking Prometheus for eks_access_probes_total{cluster~x}[3600000ms]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Fetch(t.Context(), c.source, rules, c.r)
			if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("scenario %v, error %v; want %q", s, err, c.want)
			}
		})
	}
}
