// Tests of looking for a scenario by its name, and what tests of alerts share.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"testing"
)

// episodes are what the burn-rate alerts did, a line each time.
func episodes(r *Report) []string {
	var all []string
	for _, a := range r.Alerts {
		for _, e := range a.Episodes {
			if a.Name == "EKSAccessBudgetBurn" {
				all = append(all, fmt.Sprintf("%s %s to %s", a.Severity, r.after(e.FiringAt), r.after(e.ResolvedAt)))
			}
		}
	}
	return all
}

func named(t *testing.T, name string) *Scenario {
	t.Helper()
	s, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNamedNothing(t *testing.T) {
	_, err := Named("no such")
	if err == nil || err.Error()[:40] != `looking for the scenario "no such": ther` {
		t.Errorf("error: %v", err)
	}
}
