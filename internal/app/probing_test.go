// Probers that reloads replace: they end with their last run, and none is left behind.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/kube"
)

// isClosed reports whether a prober's connections are ended.
func isClosed(t *testing.T, p *Prober) bool {
	t.Helper()
	_, err := p.reader.List(t.Context(), kube.ClusterReads{})
	return err != nil && strings.Contains(err.Error(), "the reader is closed")
}

func (e *exporter) reloadWithBudget(config string, reads int) {
	e.t.Helper()
	write(e.t, e.file, config+fmt.Sprintf("aws_api_budget: {elb_reads_per_second: %d}\n", reads))
	if err := e.Reload(); err != nil {
		e.t.Fatal(err)
	}
}

// Another budget makes another prober; the one before is closed as soon as its last run has returned.
func TestReloadClosesTheProberBefore(t *testing.T) {
	scene := newScene(t)
	scene.Config = foundGroups
	e := startExporter(t, scene)
	before := e.probing.take()
	e.reloadWithBudget(foundGroups, 3)
	if isClosed(t, before) {
		t.Error("it was closed under a run")
	}
	e.probing.giveBack(before)
	e.await("the end of the prober before", func() bool { return isClosed(t, before) })
	if now := e.probing.prober; now == before || isClosed(t, now) {
		t.Error("the new prober is not in use")
	}
}

// A reload that comes while the exporter stops leaves nothing open either.
func TestReloadWhileStopping(t *testing.T) {
	scene := newScene(t)
	scene.Config = foundGroups
	e := startExporter(t, scene)
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for n := range 20 {
			e.reloadWithBudget(foundGroups, 3+n%2)
		}
	})
	if err := e.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	reloads.Wait()
	if !isClosed(t, e.probing.prober) || len(e.probing.users) != 0 {
		t.Errorf("the last prober is open, or used: %v", e.probing.users)
	}
}
