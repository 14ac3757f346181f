// The embedded engine of a configuration that asks for one: it evaluates the rules, sends alerts and answers queries while probes go on, whatever becomes of it.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/eks-slo/eks-slo-exporter/deploy/prometheus/rules"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/engine"
)

// queryPrefix is where the engine's query API is served: a Grafana data source is the exporter's address with it.
const queryPrefix = "/prometheus"

// embedded is the engine, once it is open. Its folder and retention stay those of the start.
type embedded struct{ engine atomic.Pointer[engine.Engine] }

// ServeHTTP answers queries; 404 without an engine.
func (e *embedded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	engine := e.engine.Load()
	if engine == nil {
		http.Error(w, "there is no embedded engine here: the configuration has no query: {embedded: {}}, or its folder could not be opened, which the log tells", http.StatusNotFound)
		return
	}
	http.StripPrefix(queryPrefix, engine.Handler()).ServeHTTP(w, r)
}

// openEngine opens the engine when the configuration has one. A folder that cannot be used is told and leaves the exporter probing: metrics are worth more than budgets.
// Rules that cannot be read are an error of the configuration.
func (a *App) openEngine(c *config.Embedded) error {
	if c == nil {
		return nil
	}
	files, err := ruleFiles(c.Rules)
	if err != nil {
		return err
	}
	opened, err := engine.Open(engine.Options{
		Dir: c.Path, Retention: c.Retention, Rules: files, Alertmanagers: c.Alertmanagers, Gatherer: a.registry, Registerer: a.registry,
		Instance: a.instance(), ExternalURL: &url.URL{Scheme: "http", Host: a.instance(), Path: queryPrefix}, Logger: a.options.Logger.With("component", "engine"),
	})
	if storage, ok := errors.AsType[*engine.StorageError](err); ok {
		a.options.Logger.Error("no embedded engine: probes and metrics go on, rules, budgets and gates do not", "error", storage, "hint", storage.Hint)
		return nil
	}
	if err != nil {
		return fmt.Errorf("starting the embedded engine: %w", err)
	}
	opened.Start()
	a.embedded.engine.Store(opened)
	a.teardown.push("embedded engine", func(ctx context.Context) error { return opened.Close(ctx) })
	return nil
}

// reloadEngine gives an open engine the rules and Alertmanagers of a configuration, all or nothing. What only a restart can change is told.
func (a *App) reloadEngine(c *config.Embedded) error {
	open, before := a.embedded.engine.Load(), a.plan.query.Embedded
	if c == nil || open == nil {
		if c != nil || open != nil {
			a.options.Logger.Warn("the embedded engine is opened and closed at a restart only")
		}
		return nil
	}
	if before != nil && (before.Path != c.Path || before.Retention != c.Retention) {
		a.options.Logger.Warn("path and retention of the embedded engine change at a restart only", "path", before.Path, "retention", before.Retention)
	}
	files, err := ruleFiles(c.Rules)
	if err != nil {
		return err
	}
	if err := open.Reload(files, c.Alertmanagers); err != nil {
		return fmt.Errorf("reloading the embedded engine: %w", err)
	}
	return nil
}

// instance is how samples and links name this exporter: its host's name, and the port that it listens on.
func (a *App) instance() string {
	host, port, err := net.SplitHostPort(a.addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && !ip.IsUnspecified() {
		return a.addr
	}
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return net.JoinHostPort(name, port)
}

// ruleFiles are these files and folders as one; without any, those that come with the exporter.
func ruleFiles(names []string) (fs.FS, error) {
	if len(names) == 0 {
		return rules.Files, nil
	}
	all := ruleFS{}
	for _, name := range names {
		found := []string{name}
		if info, err := os.Stat(name); err != nil {
			return nil, fmt.Errorf("looking for rule files: %w", err)
		} else if info.IsDir() {
			if found, err = yamlFiles(name); err != nil {
				return nil, err
			}
		}
		for _, file := range found {
			base := filepath.Base(file)
			if other, twice := all[base]; twice && other != file {
				return nil, fmt.Errorf("looking for rule files: %s and %s have one name; rename one of the two", other, file)
			}
			all[base] = file
		}
	}
	return all, nil
}

// yamlFiles are those of a folder.
func yamlFiles(folder string) (found []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("looking for rule files: %w", err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".yaml" {
			found = append(found, filepath.Join(folder, entry.Name()))
		}
	}
	return found, nil
}

// ruleFS is a file system of rule files by their base names. They are read when they are asked for, so that a reload sees what they hold then.
type ruleFS map[string]string

// Open implements fs.FS.
func (s ruleFS) Open(name string) (fs.File, error) {
	path, ok := s[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return os.Open(path) //nolint:wrapcheck // fs.FS wants a PathError as it is
}

// Glob implements fs.GlobFS.
func (s ruleFS) Glob(pattern string) (names []string, err error) {
	for name := range s {
		match, err := filepath.Match(pattern, name)
		if err != nil {
			return nil, err //nolint:wrapcheck // as fs.Glob returns it
		}
		if match || filepath.Ext(name) != ".yaml" { // a file that is named counts whatever its ending
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
