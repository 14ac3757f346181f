// Tests that what was measured with plain Sloth's rules in Prometheus comes out again in the named scenarios.
//
// SPDX-License-Identifier: Apache-2.0

// The race detector makes this ten times slower, and finds nothing here that it does not find in runners_test.go.
//go:build !race

package simulate

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlainSlothInTheNamedScenarios(t *testing.T) {
	cases := map[string][]string{
		"one-failure":      nil,
		"one-failure-60s":  {"page +0s to +4m"},
		"two-failures-40m": {"page +40m to +44m30s"},
		"two-failures-70m": nil,
		"outage-1m":        {"page +30s to +5m"}, // 4 min after recovery
		"outage-2m":        {"page +30s to +6m"},
		"outage-10m":       {"page +30s to +39m", "ticket +4m to +6h9m"}, // 29 min and 5 h 59 min after recovery
		"brownout-2pc":     {"page +44m30s to +49m", "page +1h9m30s to +1h14m", "page +1h34m30s to +1h39m", "page +1h59m30s to +3h19m"},
		"new-slo":          {"ticket +0s to +2h20m30s"}, // until it is 8 h 20 min old
		"blind-outage":     {"ticket +1h to +5h59m30s"}, // no page
		"first-failure":    nil,
	}
	if diff := cmp.Diff(Names(), slices.Sorted(maps.Keys(cases))); diff != "" {
		t.Errorf("scenarios - and cases +:\n%s", diff)
	}
	rules := rulesOf(t, "sloth.yaml")
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := Run(t.Context(), rules, access(t), named(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, episodes(r)); diff != "" {
				t.Errorf("alerts, want - and got +:\n%s", diff)
			}
		})
	}
}
