// Tests of the product's own specifications.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/slok/sloth/pkg/lib"
)

// TestPlainSlothReadsOurSpecs: what we add stands under keys that Sloth does not look at, so that its users can take the specifications as they are.
func TestPlainSlothReadsOurSpecs(t *testing.T) {
	generator, err := lib.NewPrometheusSLOGenerator(lib.PrometheusSLOGeneratorConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range ourSpecs(t) {
		plain, err := generator.GenerateFromRaw(t.Context(), []byte(content(t, spec.path)))
		if err != nil {
			t.Errorf("%s: %v", spec.path, err)
			continue
		}
		if len(plain.SLOResults) != len(spec.SLOs) {
			t.Fatalf("%s: Sloth reads %d SLOs, we %d", spec.path, len(plain.SLOResults), len(spec.SLOs))
		}
		for i, result := range plain.SLOResults {
			if result.SLO.ID != spec.SLOs[i].ID() {
				t.Errorf("%s: Sloth calls it %s, we %s", spec.path, result.SLO.ID, spec.SLOs[i].ID())
			}
		}
	}
}
