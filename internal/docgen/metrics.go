// The page metrics.md: every family of /metrics, with its type, labels, stability and meaning.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
)

const metricsIntro = `# Metrics

What /metrics serves. Every counter exists at 0 before its first event, and every label has a closed set of values: steps, results and reasons are those of
[reasons.md](reasons.md). The one exception is ` + "`eks_slo_exporter_aws_requests_total`" + `, whose codes are AWS's own: of it only ` + "`code=\"ok\"`" + ` of the usual operations is there from the start.

These sums hold at every scrape:

- ` + "`eks_access_probes_total`" + ` adds up over its results to ` + "`eks_access_slots_total`" + `.
- ` + "`eks_access_failures_total`" + ` adds up over its steps to ` + "`eks_access_probes_total{result=\"failure\"}`" + `.
- ` + "`eks_access_failure_reasons_total`" + ` adds up by cluster to ` + "`eks_access_failures_total`" + `, and ` + "`eks_access_unknown_reasons_total`" + ` to ` + "`eks_access_probes_total{result=\"unknown\"}`" + `. When a target is removed, its series vanish
  but its share stays in the counts of its cluster: a counter never falls.
- The same holds of ` + "`alb_…`" + `, with a region in the place of a cluster.

A target costs 14 series while it is good (13 beside the info series), 15 while it fails, 13 while it is unknown. Reasons are counted by cluster; which target fails why right now is ` + "`eks_access_failing`" + `.
When the last target of a cluster is removed, the cluster's series vanish. A target group costs 25 series while it is good, 26 while it fails, whatever the number of its targets; a request adds 3 step results, the end of its
certificate and a histogram, which is 1 series when it is scraped as a native one and 15 when not. Which group fails why is
` + "`alb_failing`" + `; the series of a region vanish with its last target group.

Histograms are native, and have classic buckets beside. Stable families change their name, labels or meaning in a major version only; evolving ones may change in any, with a line in the changelog.

The labels that are configured on a cluster or an identity are on ` + "`eks_access_target_info`" + ` alone. To use them, join:

` + "```promql" + `
sum by (team) (
  increase(eks_access_probes_total{result="failure"}[1h])
  * on (cluster, identity) group_left (team) eks_access_target_info
)
` + "```" + `

Those that are configured on a target group or its cluster are on ` + "`alb_target_info`" + `, with the region and the TargetGroupBinding:

` + "```promql" + `
sum by (cluster, namespace) (
  increase(alb_target_observations_total{result="bad"}[1h])
  * on (target_group) group_left (cluster, namespace) alb_target_info
)
` + "```" + `
`

func metricsPage() string {
	var b strings.Builder
	b.WriteString(generated + metricsIntro)
	sections := []struct{ title, prefix string }{{"Access", "eks_access_"}, {"Target groups", "alb_"}, {"Release gates", "eks_slo_gate_"}, {"The exporter itself", "eks_slo_exporter_"}}
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| family | type | labels | stability | meaning |\n|---|---|---|---|---|\n", section.title)
		for _, f := range metrics.Families() {
			if strings.HasPrefix(f.Name, section.prefix) {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.Type, labelCell(f.Labels), f.Stability, f.Help+bucketText(f.Buckets))
			}
		}
	}
	return b.String() + metricsOfEngine
}

// metricsOfEngine are served only with the embedded engine, which registers them itself; a test of internal/engine holds this against it.
const metricsOfEngine = `
## The embedded engine

Only with ` + "`query: {embedded: {}}`" + `. Evolving.

| family | type | labels | meaning |
|---|---|---|---|
| ` + "`eks_slo_engine_samples_total`" + ` | counter | | samples that the engine stored; after a full disk a few more may come back with a restart |
| ` + "`eks_slo_engine_failures_total`" + ` | counter | ` + "`stage`" + ` | collections that failed: the registry could not be read (` + "`gather`" + `), a sample was refused (` + "`append`" + `), or nothing could be stored (` + "`commit`" + `) |
| ` + "`eks_slo_engine_last_collection_timestamp_seconds`" + ` | gauge | | when the last collection was stored; 0 before the first |
| ` + "`prometheus_notifications_dropped_total`" + ` | counter | | Prometheus' own: alerts that reached no Alertmanager |
| ` + "`prometheus_rule_evaluation_failures_total`" + ` | counter | ` + "`rule_group`" + ` | Prometheus' own: evaluations of rules that failed |
| ` + "`prometheus_tsdb_compactions_failed_total`" + ` | counter | | Prometheus' own: compactions that failed |
| ` + "`prometheus_tsdb_wal_corruptions_total`" + ` | counter | | Prometheus' own: times that the write-ahead log was found corrupt |
`

func labelCell(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return "`" + strings.Join(labels, "`, `") + "`"
}

func bucketText(buckets []float64) string {
	if len(buckets) == 0 {
		return ""
	}
	var list []string
	for _, b := range buckets {
		list = append(list, strconv.FormatFloat(b, 'g', -1, 64))
	}
	return " Classic buckets: " + strings.Join(list, ", ") + "."
}
