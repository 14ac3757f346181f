// Tests of the JSON API of budgets and gates: codes, and that a decision is the same in every way of asking.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// gatesOf are gates whose answers are given.
type gatesOf struct {
	answers map[string]slo.Finding
	trouble *slo.Trouble
	change  string // that was last asked for
}

func (g *gatesOf) SLOs(context.Context) ([]slo.BudgetRow, *slo.Trouble) { return nil, g.trouble }

func (g *gatesOf) Gates() []string { return []string{"good", "shut", "dark"} }

func (g *gatesOf) Decide(_ context.Context, gate, change string) (slo.Decision, bool) {
	g.change = change
	finding, ok := g.answers[gate]
	return slo.Decision{Gate: gate, Finding: finding, Change: change, At: time.Unix(0, 0).UTC()}, ok
}

func TestGatesAPI(t *testing.T) {
	gates := &gatesOf{answers: map[string]slo.Finding{
		"good": {Answer: slo.Allow, Because: slo.BecauseWithinBudget},
		"shut": {Answer: slo.Block, Because: slo.BecauseBudgetSpent, Message: `<script>alert("x")</script>`},
		"dark": {Answer: slo.CannotTell, Because: slo.BecauseUnreachable},
	}}
	o := options(fleet())
	o.Budgets = gates
	handler := newHandler(t, o)
	for request, want := range map[string]struct {
		code int
		body string // a part of it
	}{
		"GET /api/v1/gates/good":                  {200, `"decision":"allow","because":"within_budget"`},
		"POST /api/v1/gates/good":                 {200, `"decision":"allow"`},
		"GET /api/v1/gates/shut":                  {200, `"decision":"block","because":"budget_spent"`},
		"POST /api/v1/gates/shut?change=security": {412, `"change":"security"`},
		"GET /api/v1/gates/dark":                  {200, `"decision":"unknown"`},
		"POST /api/v1/gates/dark":                 {503, `"because":"prometheus_unreachable"`},
		"GET /api/v1/gates/none":                  {404, "gates: good, shut, dark"},
		"POST /api/v1/gates/none":                 {404, `"gates":["good","shut","dark"]`},
		"GET /api/v1/gates":                       {200, `{"gates":["good","shut","dark"]}`},
		"GET /api/v1/slos":                        {200, `{"slos":[],"problem":null}`},
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
		if answer.Code != want.code || !strings.Contains(answer.Body.String(), want.body) || !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%s: %d %s", request, answer.Code, answer.Body)
		}
		if kind := answer.Header().Get("Content-Type"); kind != "application/json" || strings.Contains(answer.Body.String(), "<script>") {
			t.Errorf("%s: content type %q, %s", request, kind, answer.Body)
		}
	}
	gates.trouble = &slo.Trouble{Kind: "timeout", Message: "no answer in 10s"}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/slos", nil))
	if answer.Code != 503 || !strings.Contains(answer.Body.String(), `"problem":{"kind":"timeout"`) {
		t.Errorf("without budgets: %d %s", answer.Code, answer.Body)
	}
}
