// The info series carry the labels of the configuration, for joins.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// targetInfo emits the info series, whose labels are those of the configuration. It describes nothing, so the registry lets the labels change with a reload.
type targetInfo struct{ *Metrics }

// infoRow is one series: what names the target, and what is configured for it.
type infoRow struct {
	values     []string // of the family's own labels
	configured map[string]string
}

// Describe implements prometheus.Collector.
func (targetInfo) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c targetInfo) Collect(ch chan<- prometheus.Metric) {
	var access, alb []infoRow
	c.mu.Lock()
	for key, target := range c.targets {
		access = append(access, infoRow{[]string{key.cluster, key.identity}, target.labels})
	}
	for name, g := range c.groups {
		alb = append(alb, infoRow{[]string{name, g.info.region, g.info.cluster, g.info.namespace, g.info.binding}, g.labels})
	}
	c.mu.Unlock()
	emitInfo(ch, families[accessTargetInfo], access)
	emitInfo(ch, families[albTargetInfo], alb)
}

// emitInfo puts every configured label name on every series of the family.
func emitInfo(ch chan<- prometheus.Metric, family Family, rows []infoRow) {
	configured := map[string]bool{}
	for _, row := range rows {
		for name := range row.configured {
			configured[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(configured))
	desc := prometheus.NewDesc(family.Name, family.Help, with(family.Labels, names...), nil)
	for _, row := range rows {
		values := slices.Clone(row.values)
		for _, name := range names {
			values = append(values, row.configured[name])
		}
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1, values...)
	}
}
