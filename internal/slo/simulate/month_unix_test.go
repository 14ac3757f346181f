// The benchmark of a month: what the rules of one SLO may cost.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package simulate

import (
	"syscall"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// mostCPU is what a month at 15 s may cost: two cores for 5 s.
const mostCPU = 10 * time.Second

// BenchmarkMonth runs all rules of one SLO over 30 days at 15 s, and fails when that takes more of the processor than two cores give in 5 s, however busy the machine is besides.
func BenchmarkMonth(b *testing.B) {
	about := access(b)
	about.Cadence = 15 * time.Second
	rules := ours(b, about.Cadence)
	for b.Loop() {
		before := cpu(b)
		r, err := Run(b.Context(), rules, about, &Scenario{Name: "month", Duration: 30 * slo.Day, Seed: 3, Events: []Event{{Kind: Failures, Ratio: .0004}, {Kind: Outage, At: 9 * slo.Day, For: 10 * time.Minute}}})
		if err != nil {
			b.Fatal(err)
		}
		spent := cpu(b) - before
		b.ReportMetric(spent.Seconds(), "cpu-s/op")
		b.ReportMetric(float64(r.Evaluations), "evaluations/op")
		if spent > mostCPU {
			b.Errorf("a month took %s of processor time, want at most %s", spent, mostCPU)
		}
	}
}

// cpu is the processor time of this process.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
