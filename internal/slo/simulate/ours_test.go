// Our rules for tests: as the generator writes them now, beside those of plain Sloth for the same queries.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

// accessSpec is the specification that testdata/sloth.yaml is plain Sloth's output for, with our settings.
const accessSpec = `version: prometheus/v1
service: eks-access
slos:
  - name: availability
    objective: 99.9
    description: The identity gets into the cluster.
    labels: {team: first}
    sli:
      events:
        error_query: ` + errorQuery + `
        total_query: ` + totalQuery + `
    alerting:
      name: EKSAccessBudgetBurn
      page_alert: {labels: {severity: page}}
      ticket_alert: {labels: {severity: ticket}}
    x-probes:
      cadence: CADENCE
      fixed_cadence: true
      slots_query: sum by (cluster, identity) (increase(eks_access_slots_total[{{.window}}]))
      failures_by:
        step: sum by (cluster, identity, step) (increase(eks_access_failures_total[{{.window}}]))
        reason: sum by (cluster, reason) (increase(eks_access_failure_reasons_total[{{.window}}]))
      runbook: docs/runbooks/access-availability.md
`

// ours are our rules for probes at this cadence.
func ours(t testing.TB, cadence time.Duration) Rules {
	t.Helper()
	return generated(t, strings.Replace(accessSpec, "CADENCE", slo.FormatDuration(cadence), 1))
}

// uneven are our rules for the same queries when nothing is known of a cadence.
func uneven(t testing.TB) Rules {
	t.Helper()
	spec, _, _ := strings.Cut(accessSpec, "    x-probes:")
	return generated(t, spec)
}

func generated(t testing.TB, text string) Rules {
	t.Helper()
	spec, problems := sloth.Read("access.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	all, err := sloth.Generate(t.Context(), spec, sloth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := sloth.WriteRules(&written, all); err != nil {
		t.Fatal(err)
	}
	rules, err := ParseRules(written.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, written.String())
	}
	return rules
}
