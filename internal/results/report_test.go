// Tests of the JSON report, byte for byte: its names and order are a contract.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var prod = chain.Target{Name: "ci@prod", Kind: chain.KindAccess, Identity: chain.Identity{Name: "ci"}, Cluster: chain.Cluster{Name: "prod"}}

func TestReport(t *testing.T) {
	cet := time.FixedZone("CET", 3600)
	for name, c := range map[string]struct {
		run  chain.Run
		want string
	}{
		"failure": {
			chain.Run{
				ID: "x", Target: prod, Slot: epoch, Started: time.Date(2026, 1, 2, 4, 0, 0, 250_999_999, cet), Duration: 1234567 * time.Microsecond,
				Steps: []chain.StepResult{
					{Step: chain.StepCredentials, Outcome: chain.OutcomeSuccess, Duration: 400 * time.Microsecond, Facts: chain.Facts{chain.FactProvider: "irsa", chain.FactProfile: ""}},
					{Step: chain.StepSTS, Outcome: chain.OutcomeSuccess, Duration: 90 * time.Millisecond, Facts: chain.Facts{chain.FactPrincipal: "arn:aws:iam::111122223333:role/ci"}},
					{Step: chain.StepToken, Outcome: chain.OutcomeUnknown, Reason: chain.ReasonEKSAPIThrottled, Detail: "throttled", Duration: time.Millisecond},
					{Step: chain.StepEndpoint, Outcome: chain.OutcomeFailure, Reason: chain.ReasonTCPRefused, Detail: `refused "it"`, Duration: 1500 * time.Nanosecond},
					{Step: chain.StepAccessEntry, Outcome: chain.OutcomeSkipped},
				},
				Verdict: chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepEndpoint, Reason: chain.ReasonTCPRefused, Detail: `refused "it"`, Fix: "open port 443"},
			},
			`{"target":"ci@prod","kind":"access","cluster":"prod","identity":"ci","principal":"arn:aws:iam::111122223333:role/ci",` +
				`"result":"failure","step":"endpoint","reason":"tcp_refused","detail":"refused \"it\"","fix":"open port 443","started":"2026-01-02T03:00:00.25Z","duration_ms":1234.567,"steps":[` +
				`{"step":"credentials","result":"success","reason":"","detail":"","duration_ms":0.4,"evidence":{"provider":"irsa"}},` +
				`{"step":"sts","result":"success","reason":"","detail":"","duration_ms":90,"evidence":{"principal":"arn:aws:iam::111122223333:role/ci"}},` +
				`{"step":"token","result":"unknown","reason":"eks_api_throttled","detail":"throttled","duration_ms":1,"evidence":{}},` +
				`{"step":"endpoint","result":"failure","reason":"tcp_refused","detail":"refused \"it\"","duration_ms":0.002,"evidence":{}},` +
				`{"step":"access_entry","result":"skipped","reason":"","detail":"","duration_ms":0,"evidence":{}},` +
				`{"step":"rbac","result":"skipped","reason":"","detail":"","duration_ms":0,"evidence":{}}]}`,
		},
		"unknown without a step": {
			chain.UnknownRun("x", prod, epoch, chain.ReasonOverrun, "late"),
			`{"target":"ci@prod","kind":"access","cluster":"prod","identity":"ci","principal":"","result":"unknown","step":"","reason":"overrun","detail":"late",` +
				`"fix":` + quote(chain.Fix(chain.StepNone, chain.ReasonOverrun, chain.Facts{chain.FactCluster: "prod", chain.FactIdentity: "ci"})) + `,` +
				`"started":"2026-01-02T03:00:00Z","duration_ms":0,"steps":[` + skipped("credentials", "sts", "token", "endpoint", "access_entry", "rbac") + `]}`,
		},
		"no chain": {
			chain.Run{Started: epoch},
			`{"target":"","kind":"","cluster":"","identity":"","principal":"","result":"unknown","step":"","reason":"","detail":"","fix":"","started":"2026-01-02T03:00:00Z","duration_ms":0,"steps":[]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(NewReport(c.run))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReportReadsBack(t *testing.T) {
	want := NewReport(chain.UnknownRun("x", prod, epoch, chain.ReasonMissedSlot, "lost"))
	data, err := json.Marshal(want.Steps)
	if err != nil {
		t.Fatal(err)
	}
	var got []StepReport
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Steps, got); diff != "" {
		t.Error(diff)
	}
}

func skipped(steps ...string) string {
	var list []string
	for _, step := range steps {
		list = append(list, `{"step":"`+step+`","result":"skipped","reason":"","detail":"","duration_ms":0,"evidence":{}}`)
	}
	return strings.Join(list, ",")
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}
