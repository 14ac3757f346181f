// The request has its own time, whatever the reads before it take.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// An ELB API that never answers and a load balancer that hangs: each is told by itself.
func TestSlowReadsLeaveTheRequestItsTime(t *testing.T) {
	scene := newScene(t)
	scene.ALB.Behave(sandbox.ALBSilent)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel connects, and nobody says a word
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	scene.Env["AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2"] = "https://" + silent.Addr().String()
	run := probeOnce(t, scene, "shop")
	if v := run.Verdict; v.Outcome != chain.OutcomeFailure || v.Step != chain.StepRequest || v.Reason != chain.ReasonTimeout || marksOf(run) != "?·✖" {
		t.Errorf("got %+v %s", v, marksOf(run))
	}
	if registration := run.Steps[0]; registration.Reason != chain.ReasonObserverUnavailable {
		t.Errorf("registration showed %+v", registration)
	}
	if run.Duration > run.Target.Timeout+500*time.Millisecond {
		t.Errorf("took %s", run.Duration)
	}
}
