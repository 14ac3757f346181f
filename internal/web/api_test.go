// The test of the JSON API: field names, order, nulls and times are a contract, so all of it is compared.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestAPITargets(t *testing.T) {
	failed := newRun(release, now.Add(-15*time.Second), "✔✔✔✔✖·", notMapped)
	failed.Verdict.Fix = "aws eks create-access-entry --cluster-name prod\nThen wait <a minute>."
	store := results.NewStore()
	store.Retain([]chain.Target{release, deploy, auditor, fresh, shop, stale})
	store.Record(failed)
	store.Record(newRun(deploy, now, "✔✔✔✔✔✔", chain.StepResult{}))
	overrun := chain.UnknownRun("t7x2k2-00000001", auditor, now, chain.ReasonOverrun, "the run before it had not ended")
	overrun.Verdict.Fix = ""
	store.Record(overrun)
	for _, run := range []chain.Run{sickShop(now), newRun(stale, now, "?·✔", elbBusy)} {
		run.Verdict.Fix = ""
		store.Record(run)
	}

	golden := filepath.Join("testdata", "targets.json")
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(serve(t, options(store)).get("/api/v1/targets")), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the API differs from %s (-want +got); -update writes it:\n%s", golden, diff)
	}
}

func TestAPIWithoutTargets(t *testing.T) {
	if got := serve(t, options(results.NewStore())).get("/api/v1/targets"); got != `{"targets":[]}` {
		t.Errorf("got %s", got)
	}
}
