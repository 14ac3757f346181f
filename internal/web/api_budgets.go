// The JSON API of error budgets and gates: what is left, and whether a change may go out.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Budgets is where budgets are read and gates are asked. Safe for concurrent use.
type Budgets interface {
	// SLOs are all of them. The trouble, when there is one, is why none can be told.
	SLOs(ctx context.Context) ([]slo.BudgetRow, *slo.Trouble)
	// Decide asks a gate for a class of change, "" for an ordinary one; false: there is no such gate.
	Decide(ctx context.Context, gate, change string) (slo.Decision, bool)
	// Gates are the gates' names.
	Gates() []string
}

// slosAnswer is GET /api/v1/slos: 200, or 503 when none can be told.
type slosAnswer struct {
	SLOs    []slo.BudgetRow `json:"slos"` // by id and labels
	Problem *slo.Trouble    `json:"problem"`
}

// gatesAnswer is GET /api/v1/gates, and what there is instead of a gate that is not there.
type gatesAnswer struct {
	Error string   `json:"error,omitempty"`
	Gates []string `json:"gates"` // the names
}

func (s *server) apiSLOs(w http.ResponseWriter, r *http.Request) {
	rows, trouble := s.Budgets.SLOs(r.Context())
	code := http.StatusOK
	if trouble != nil {
		code = http.StatusServiceUnavailable
	}
	s.json(w, code, slosAnswer{append([]slo.BudgetRow{}, rows...), trouble})
}

func (s *server) apiGates(w http.ResponseWriter, _ *http.Request) {
	s.json(w, http.StatusOK, gatesAnswer{Gates: append([]string{}, s.Budgets.Gates()...)})
}

// apiGate is GET /api/v1/gates/NAME?change=CLASS, which says 200 and the decision, and POST, which says 200 for allow, 412 for block and 503 for what cannot be told.
func (s *server) apiGate(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	decision, ok := s.Budgets.Decide(r.Context(), name, r.URL.Query().Get("change"))
	if !ok {
		gates := append([]string{}, s.Budgets.Gates()...)
		s.json(w, http.StatusNotFound, gatesAnswer{"there is no gate of this name; gates: " + strings.Join(gates, ", "), gates})
		return
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		code = decision.Answer.HTTPStatus()
	}
	s.json(w, code, decision)
}

func (s *server) json(w http.ResponseWriter, code int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		s.fail(w, "encoding the answer", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	s.write(w, body)
}
