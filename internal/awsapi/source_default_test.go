// Source default: a provider that is too slow is not one that has nothing.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestDefaultOutOfTime(t *testing.T) {
	w := newWorld(t)
	w.profiles("[profile process]\ncredential_process = exec sleep 60\n", "")
	w.metadata(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, c := range map[string]struct {
		variable, value string
		want            verdict
		detail          string
	}{
		"container": {"AWS_REGION", "us-west-2", unknown(chain.ReasonReadFailed), "opening the source default: the container's credentials service at 127.0.0.1:"},
		"metadata":  {agentVariable, "", failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "opening the source default: the instance metadata service at 127.0.0.1:"},
		"a process": {"AWS_PROFILE", "process", unknown(chain.ReasonReadFailed), "opening the source default: it did not end within the run's time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
			defer cancel()
			_, err := w.client.Login(ctx, chain.Identity{Source: chain.SourceDefault}, region, "run-1")
			e := wantVerdict(t, err, c.want)
			wantText(t, e.Detail, c.detail)
			if name != "a process" {
				wantText(t, e.Detail, "no answer in time, while waiting for the answer")
			}
		})
	}
}
