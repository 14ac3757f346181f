// Discovery: what the entries by load balancer, tags or bindings find is looked up again and again, and becomes targets beside the configured ones.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
)

const (
	discoverEvery   = time.Minute
	discoverTimeout = 45 * time.Second
)

// discovery looks for targets. What an entry found stays until it finds something else: an entry that cannot be read takes no target away.
type discovery struct {
	discover func(context.Context, chain.Discovery) ([]chain.Target, error)
	changed  func() // told when targets came, went or are others
	metrics  *metrics.Metrics
	logger   *slog.Logger
	again    chan struct{} // a place for one wish to look at once

	mu      sync.Mutex
	entries []chain.Discovery
	found   map[string][]chain.Target // by entry
	trouble map[string]string         // what was last logged of an entry
}

func newDiscovery(p *probing, changed func(), m *metrics.Metrics, logger *slog.Logger) *discovery {
	return &discovery{
		discover: p.discover, changed: changed, metrics: m, logger: logger,
		again: make(chan struct{}, 1), found: map[string][]chain.Target{}, trouble: map[string]string{},
	}
}

// set makes entries the ones that are looked up; what unchanged ones found stays.
func (d *discovery) set(entries []chain.Discovery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, names := map[string][]chain.Target{}, []string{}
	for _, entry := range entries {
		names = append(names, entry.Name)
		if slices.ContainsFunc(d.entries, func(before chain.Discovery) bool { return reflect.DeepEqual(before, entry) }) {
			kept[entry.Name] = d.found[entry.Name]
		}
	}
	d.entries, d.found, d.trouble = entries, kept, map[string]string{}
	d.metrics.SetDiscoveries(names)
}

// targets are what is found beside the configured ones.
func (d *discovery) targets(configured []chain.Target) []chain.Target {
	d.mu.Lock()
	defer d.mu.Unlock()
	return unite(configured, d.entries, d.found)
}

// unite returns the found targets, less those that are configured too, or that an earlier entry finds, under names that nobody else has. A group that several clusters fill is a target in each of
// them; one that is known without a cluster, or found without one later, is one target. Entries keep their order, so that a name does not depend on who was read first.
func unite(configured []chain.Target, entries []chain.Discovery, found map[string][]chain.Target) (all []chain.Target) {
	taken, known := map[string]bool{}, map[string]bool{}
	note := func(t chain.Target) {
		taken[t.Name] = true
		if t.Group.ARN != "" {
			known[t.Group.ARN], known[t.Group.ARN+" "+t.Cluster.Name] = true, true
		}
	}
	for _, t := range configured {
		note(t)
	}
	for _, entry := range entries {
		news := slices.DeleteFunc(slices.Clone(found[entry.Name]), func(t chain.Target) bool {
			return known[t.Group.ARN+" "+t.Cluster.Name] || known[t.Group.ARN+" "] || t.Cluster.Name == "" && known[t.Group.ARN]
		})
		probes.NameTargets(news, entry.Name, func(name string) bool { return taken[name] })
		for _, t := range news {
			note(t)
		}
		all = append(all, news...)
	}
	return all
}

// wake asks for a look at once.
func (d *discovery) wake() {
	select {
	case d.again <- struct{}{}:
	default:
	}
}

// run looks until ctx ends.
func (d *discovery) run(ctx context.Context) {
	ticker := time.NewTicker(discoverEvery)
	defer ticker.Stop()
	for {
		d.look(ctx)
		select {
		case <-ticker.C:
		case <-d.again:
		case <-ctx.Done():
			return
		}
	}
}

// look asks every entry once. What one finds is taken in before the next is asked, which may take its time.
func (d *discovery) look(ctx context.Context) {
	d.mu.Lock()
	entries := d.entries
	d.mu.Unlock()
	for _, entry := range entries {
		found, err := discoverInTime(ctx, entry, d.ask)
		if errors.Is(ctx.Err(), context.Canceled) {
			return
		}
		if d.keep(entry, found, err) {
			d.changed()
		}
	}
}

// discoverInTime gives a discovery its time: what it asks may never answer.
func discoverInTime(ctx context.Context, entry chain.Discovery, discover func(context.Context, chain.Discovery) ([]chain.Target, error)) ([]chain.Target, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, discoverTimeout, fmt.Errorf("the discovery %s had %s", entry.Name, discoverTimeout))
	defer cancel()
	return discover(ctx, entry)
}

// ask asks one entry. Like a run, a discovery that crashes could not tell, and takes nothing else with it.
func (d *discovery) ask(ctx context.Context, entry chain.Discovery) (found []chain.Target, err error) {
	defer func() {
		if value := recover(); value != nil {
			d.logger.Error("discovery panicked", "discovery", entry.Name, "panic", chain.Redact(fmt.Sprint(value)), "stack", string(debug.Stack()))
			err = errors.New("the discovery itself crashed: the log has the stack")
		}
	}()
	return d.discover(ctx, entry)
}

// keep writes down what an entry found, and reports whether that is news.
func (d *discovery) keep(entry chain.Discovery, found []chain.Target, err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.entries, func(now chain.Discovery) bool { return reflect.DeepEqual(now, entry) }) {
		return false // a reload took the entry away meanwhile
	}
	trouble := ""
	if err != nil {
		trouble = chain.Redact(err.Error())
	}
	before := d.trouble[entry.Name]
	d.trouble[entry.Name] = trouble
	switch {
	case trouble != "" && trouble != before:
		d.logger.Warn("discovery could not tell what is there, what it found before stays", "discovery", entry.Name, "targets", len(d.found[entry.Name]), "error", trouble)
		return false
	case trouble != "":
		return false
	case before != "":
		d.logger.Info("discovery works again", "discovery", entry.Name)
	}
	d.metrics.Discovered(entry.Name, len(found), time.Now())
	if reflect.DeepEqual(found, d.found[entry.Name]) {
		return false
	}
	d.logger.Info("discovery found targets", "discovery", entry.Name, "targets", len(found), "before", len(d.found[entry.Name]))
	d.found[entry.Name] = found
	return true
}
