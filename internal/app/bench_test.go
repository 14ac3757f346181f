// Benchmarks against the floor, as ratios measured side by side in one run, since the speed of a machine drifts.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package app

import (
	"context"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// roundTrips are those of the critical path of one cold chain with a web identity and one hop. Connections: TCP 1, TLS 1.3 1. STS: a connection (2), AssumeRoleWithWebIdentity,
// AssumeRole, GetCallerIdentity. The apiserver: a connection (2), /readyz, the review, and all access reviews at once. Each waits for the one before: the hops need the
// credentials of the hop before, the token those of the last, and a layer that fails must not be hidden behind a later one.
const roundTrips = 2 + 3 + 2 + 1 + 1 + 1

// BenchmarkColdChain tells the run's CPU and allocations as multiples of the floor's, which makes the same requests.
func BenchmarkColdChain(b *testing.B) {
	world, dir := startWorld(b)
	target := benchTarget(b, world, dir)
	target.Cluster.Endpoint, target.Cluster.CAFile = "https://"+world.Prod, filepath.Join(dir, "prod-ca.pem")
	product, bare := sides(b, target, world)
	var ours, floors usage
	for b.Loop() {
		ours.add(b, product)
		floors.add(b, bare)
	}
	b.ReportMetric(ours.cpu.Seconds()/floors.cpu.Seconds(), "cpu-ratio")
	b.ReportMetric(float64(ours.mallocs)/float64(floors.mallocs), "allocs-ratio")
	b.ReportMetric(float64(ours.cpu.Microseconds())/float64(b.N), "cpu-µs/run")
	b.ReportMetric(float64(floors.cpu.Microseconds())/float64(b.N), "cpu-µs/floor")
	b.ReportMetric(float64(ours.mallocs)/float64(b.N), "allocs/run")
	b.ReportMetric(0, "ns/op") // of both sides together: it would mislead
}

// BenchmarkColdChainLatency tells the run's wall time as a multiple of the critical path's round trips of 20 ms each.
func BenchmarkColdChainLatency(b *testing.B) {
	const rtt = 20 * time.Millisecond
	world, dir := startWorld(b)
	target := benchTarget(b, world, dir)
	target.Cluster.CAFile = filepath.Join(dir, "prod-ca.pem")
	throughRelays(b, world, &target, rtt)
	product, bare := sides(b, target, world)
	var ours, floors usage
	for b.Loop() {
		ours.add(b, product)
		floors.add(b, bare)
	}
	path := (roundTrips * rtt * time.Duration(b.N)).Seconds()
	b.ReportMetric(ours.wall.Seconds()/path, "wall-ratio")
	b.ReportMetric(floors.wall.Seconds()/path, "wall-ratio-floor")
	b.ReportMetric(float64(ours.wall.Milliseconds())/float64(b.N), "ms/run")
	b.ReportMetric(0, "ns/op")
}

// sides returns one cold chain of the product, and the floor of the same.
func sides(b *testing.B, target chain.Target, world remoteWorld) (product, bare func() error) {
	b.Helper()
	prober, err := NewProber(b.Context(), ProberOptions{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := newFloor(target, world.Env)
	if err != nil {
		b.Fatal(err)
	}
	product = func() error {
		run, err := prober.Run(context.Background(), target, time.Now())
		if err == nil && run.Verdict.Outcome != chain.OutcomeSuccess {
			b.Fatalf("got %+v", run.Verdict)
		}
		return err
	}
	return product, func() error { return f.run(context.Background()) }
}

// usage is what this process used.
type usage struct {
	cpu, wall time.Duration
	mallocs   uint64
}

func (u *usage) add(b *testing.B, do func() error) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := processCPU(b), time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	u.wall += time.Since(began)
	u.cpu += processCPU(b) - cpu
	runtime.ReadMemStats(&after)
	u.mallocs += after.Mallocs - before.Mallocs
}

// processCPU is the user and system time of this process.
func processCPU(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
