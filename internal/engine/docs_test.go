// docs/metrics.md names every family that the engine may register.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestDocumentedMetrics(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	newCollectorMetrics(registry)
	families, err := registry.Gather()
	if err != nil || len(families) == 0 {
		t.Fatalf("%d families: %v", len(families), err)
	}
	names := slices.Clone(kept)
	for _, f := range families {
		names = append(names, f.GetName())
	}
	for _, name := range names {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/metrics.md does not name %s", name)
		}
	}
}
