// Tests of how target groups are told to people.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestSummarize(t *testing.T) {
	for want, states := range map[string][]string{
		"no target": nil,
		"1 healthy": {"healthy"},
		"2 healthy, 3 unhealthy (Target.Timeout 2, Target.FailedHealthChecks 1), 1 draining": {failedCheck, "healthy", timedOut, "draining", timedOut, "healthy"},
		"1 healthy, 1 asleep (New.Code 1), 2 novel":                                          {"novel", "asleep New.Code", "healthy", "novel"},
	} {
		f := newALBFake()
		f.set(states...)
		if got := summarize(f.targets); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEnumerate(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for n, want := range map[int]string{0: "", 1: "a", 8: "a, b, c, d, e, f, g, h", 10: "a, b, c, d, e, f, g, h and 2 more"} {
		if got := enumerate(names[:n]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCheckText(t *testing.T) {
	check := chain.HealthCheck{Enabled: true, Protocol: "TCP", Port: "30080", Interval: 10 * time.Second, Timeout: 5 * time.Second, HealthyThreshold: 3, UnhealthyThreshold: 2}
	off := check
	off.Enabled = false
	for want, c := range map[string]chain.HealthCheck{
		"": {}, "disabled": off, "TCP:30080 every 10s, timeout 5s, healthy after 3, unhealthy after 2": check,
	} {
		if got := checkText(c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
