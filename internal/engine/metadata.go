// Metadata of the collected families, in the form in which the query API reads a scrape target's.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"sync"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/scrape"
)

// metadata holds type, help and unit of the families of the last collection.
type metadata struct {
	mu       sync.RWMutex
	families []scrape.MetricMetadata
}

func (m *metadata) set(families []*dto.MetricFamily) {
	all := make([]scrape.MetricMetadata, 0, len(families))
	for _, f := range families {
		all = append(all, scrape.MetricMetadata{
			MetricFamily: f.GetName(), Type: model.MetricType(strings.ToLower(f.GetType().String())), Help: f.GetHelp(), Unit: f.GetUnit(),
		})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.families = all
}

// ListMetadata gives every family.
func (m *metadata) ListMetadata() []scrape.MetricMetadata {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.families
}

// GetMetadata gives one family.
func (m *metadata) GetMetadata(family string) (scrape.MetricMetadata, bool) {
	for _, f := range m.ListMetadata() {
		if f.MetricFamily == family {
			return f, true
		}
	}
	return scrape.MetricMetadata{}, false
}

// SizeMetadata is the number of bytes in all texts.
func (m *metadata) SizeMetadata() int {
	size := 0
	for _, f := range m.ListMetadata() {
		size += len(f.MetricFamily) + len(f.Type) + len(f.Help) + len(f.Unit)
	}
	return size
}

// LengthMetadata is the number of families.
func (m *metadata) LengthMetadata() int { return len(m.ListMetadata()) }

// target is the exporter itself, as the API's one target.
func (m *metadata) target(instance string) *scrape.Target {
	t := scrape.NewTarget(labels.FromStrings(model.JobLabel, Job, model.InstanceLabel, instance, model.AddressLabel, instance, model.SchemeLabel, "http", model.MetricsPathLabel, "/metrics"),
		&config.ScrapeConfig{JobName: Job}, nil, nil)
	t.SetMetadataStore(m)
	return t
}
