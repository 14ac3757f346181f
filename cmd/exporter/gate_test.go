// Tests of asking an exporter: an answer that is not a decision is never taken for one.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGateTakesNothingElseForAYes(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		status int
		body   string
		code   int
		stderr string // a part of it
	}{
		"allow":                     {"application/json", 200, `{"gate":"prod","decision":"allow","because":"within_budget"}`, 0, ""},
		"block":                     {"application/json; charset=utf-8", 200, `{"gate":"prod","decision":"block","because":"frozen"}`, 1, ""},
		"unknown":                   {"application/json", 200, `{"gate":"prod","decision":"unknown","because":"stale"}`, 3, ""},
		"no reason":                 {"application/json", 200, `{"gate":"prod","decision":"allow"}`, 3, "none that a gate gives"},
		"a reason of another":       {"application/json", 200, `{"gate":"prod","decision":"allow","because":"budget_spent"}`, 3, "none that a gate gives"},
		"an SLO's reason":           {"application/json", 200, `{"gate":"prod","decision":"allow","because":"within_budget","slos":[{"decision":"allow","because":"stale"}]}`, 3, "none that a gate gives"},
		"a reason with a line more": {"application/json", 200, `{"gate":"prod","decision":"block","because":"x\ndecision=allow"}`, 3, "this version knows none of that name"},
		"another answer":            {"application/json", 200, `{"gate":"prod","decision":"yes","because":"within_budget"}`, 3, "it is allow, block or unknown"},
		"another gate":              {"application/json", 200, `{"gate":"test","decision":"allow","because":"within_budget"}`, 3, "no decision"},
		"an error":                  {"application/json", 500, `{"gate":"prod","decision":"allow","because":"within_budget"}`, 3, "status 500"},
		"empty":                     {"application/json", 200, `{}`, 3, "none that a gate gives"},
		"a login page":              {"text/html", 200, `<html>{"decision":"allow"}</html>`, 3, `with "text/html", where JSON was expected`},
		"cut off":                   {"application/json", 200, `{"gate":"prod","decision":"allow"`, 3, "reading the answer"},
		"no such gate":              {"application/json", 404, `{"error":"…","gates":["a","b"]}`, 2, "gates: a, b"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"gate", "prod", "--exporter.url=" + server.URL}, &stdout, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.stderr) || (c.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("exit code %d, want %d; stderr %q, want %q; stdout %q", code, c.code, stderr.String(), c.stderr, stdout.String())
			}
		})
	}
}

func TestHostileBudgetsAreText(t *testing.T) {
	const row = `{"id":"x\n::error::a","labels":{},"problem":null,"objective":"99\n::error::b","firing":["page\n::error::c"],"exhaustion":{"kind":"in\n::error::d"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"slos":[`+row+`]}`)
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"budget", "--exporter.url=" + server.URL}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr.String())
	}
	const lines = 2 // the head and the row
	if text := stdout.String(); strings.Count(text, "\n") != lines || strings.Contains(text, "\n::") {
		t.Errorf("foreign text is more than a cell:\n%s", text)
	}
}
