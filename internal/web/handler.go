// The handler serves the pages, the JSON API and the endpoints that every Prometheus server has.
//
// SPDX-License-Identifier: Apache-2.0

// Package web serves what the exporter knows: pages for people, JSON for machines, and the health, readiness and reload endpoints.
package web

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

//go:embed assets
var assets embed.FS

// Results is where the pages read. Safe for concurrent use; what it returns is read only.
type Results interface {
	// Snapshot returns every target, by name.
	Snapshot() []results.Status
	// Target returns one target; false when it is not known.
	Target(name string) (results.Status, bool)
}

// Options are what a handler needs, all of them.
type Options struct {
	Results Results
	Metrics http.Handler
	Queries http.Handler // what is below /prometheus/
	Budgets Budgets
	Reload  func() error // reads the configuration again; an error means that nothing has changed, and its text is shown to the caller
	Ready   func() bool
	Now     func() time.Time
	Logger  *slog.Logger
}

type server struct {
	Options
	pages *template.Template
}

func (o Options) validate() error {
	switch {
	case o.Results == nil:
		return errors.New("web: Options.Results is not set")
	case o.Metrics == nil:
		return errors.New("web: Options.Metrics is not set")
	case o.Queries == nil:
		return errors.New("web: Options.Queries is not set")
	case o.Budgets == nil:
		return errors.New("web: Options.Budgets is not set")
	case o.Reload == nil:
		return errors.New("web: Options.Reload is not set")
	case o.Ready == nil:
		return errors.New("web: Options.Ready is not set")
	case o.Now == nil:
		return errors.New("web: Options.Now is not set")
	case o.Logger == nil:
		return errors.New("web: Options.Logger is not set")
	}
	return nil
}

// NewHandler returns the handler of every path. It is safe for concurrent use, as its options must be. The error names the option that is not set.
func NewHandler(options Options) (http.Handler, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	s := &server{options, template.Must(template.New("").Funcs(template.FuncMap{"mark": mark}).ParseFS(assets, "assets/*.html"))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /targets/{name}", s.target)
	files := http.FileServerFS(assets)
	mux.Handle("GET /assets/style.css", files)
	mux.Handle("GET /assets/icon.svg", files)
	mux.Handle("GET /metrics", s.Metrics)
	mux.HandleFunc("GET /api/v1/targets", s.apiTargets)
	mux.HandleFunc("GET /api/v1/slos", s.apiSLOs)
	mux.HandleFunc("GET /api/v1/gates", s.apiGates)
	mux.HandleFunc("GET /api/v1/gates/{name}", s.apiGate)
	mux.HandleFunc("POST /api/v1/gates/{name}", s.apiGate)
	mux.Handle("GET /prometheus/", s.Queries)
	mux.Handle("POST /prometheus/", s.Queries) // long queries are posted
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { s.text(w, http.StatusOK, "healthy") })
	mux.HandleFunc("GET /-/ready", s.isReady)
	mux.HandleFunc("POST /-/reload", s.reload)
	return secure(http.NewCrossOriginProtection().Handler(mux)), nil
}

// secure sets the headers that keep a page from running anything that is not its own, and an old answer from passing for the present one.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (s *server) index(w http.ResponseWriter, _ *http.Request) {
	s.page(w, "index.html", newIndexView(s.Results.Snapshot(), s.Now()))
}

func (s *server) target(w http.ResponseWriter, r *http.Request) {
	status, ok := s.Results.Target(r.PathValue("name"))
	if !ok {
		s.text(w, http.StatusNotFound, "no such target; / lists them")
		return
	}
	s.page(w, "target.html", newTargetView(status, s.Now()))
}

func (s *server) apiTargets(w http.ResponseWriter, _ *http.Request) {
	s.json(w, http.StatusOK, newTargetsAnswer(s.Results.Snapshot()))
}

func (s *server) isReady(w http.ResponseWriter, _ *http.Request) {
	if !s.Ready() {
		s.text(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	s.text(w, http.StatusOK, "ready")
}

func (s *server) reload(w http.ResponseWriter, _ *http.Request) {
	if err := s.Reload(); err != nil {
		s.text(w, http.StatusInternalServerError, "the configuration was not reloaded, the last good one stays:\n"+err.Error())
		return
	}
	s.text(w, http.StatusOK, "reloaded")
}

// page renders into memory first, so that a fault never leaves half a page behind a 200.
func (s *server) page(w http.ResponseWriter, name string, view any) {
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, view); err != nil {
		s.fail(w, "rendering "+name, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	s.write(w, b.Bytes())
}

func (s *server) text(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	s.write(w, fmt.Appendln(nil, text))
}

func (s *server) fail(w http.ResponseWriter, doing string, err error) {
	s.Logger.Error("page not served", "doing", doing, "error", err)
	s.text(w, http.StatusInternalServerError, doing+": see the log")
}

// write ends an answer. An error here is the client's leaving, which is nobody's fault.
func (s *server) write(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		s.Logger.Debug("answer not taken", "error", err)
	}
}
