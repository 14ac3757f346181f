// Benchmarks of the command's start, beside an empty program that links the same libraries.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cost is what one run of a program took.
type cost struct {
	wall   float64 // from start to end, in seconds
	cpu    float64 // user and system, in seconds
	memory float64 // at most resident, in bytes
}

// BenchmarkStart runs, in turn, the empty program, slogen over one SLO, and slogen over a hundred, and reports the medians: time and CPU of the floor, how many times these one SLO takes,
// how many milliseconds more a hundred take, and the memory of all three.
//
//	go test -run '^$' -bench Start -benchtime 20x ./cmd/slogen
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	for name, pkg := range map[string]string{"floor": "./testdata/floor", "slogen": "."} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	one, hundred := filepath.Join(dir, "one"), filepath.Join(dir, "hundred")
	writeSpecs(b, one, 1)
	writeSpecs(b, hundred, 100)
	var floors, ones, hundreds []cost
	for b.Loop() {
		floors = append(floors, measure(b, filepath.Join(dir, "floor")))
		ones = append(ones, measure(b, filepath.Join(dir, "slogen"), "rules", "--specs="+one, "--out="+filepath.Join(one, "out")))
		hundreds = append(hundreds, measure(b, filepath.Join(dir, "slogen"), "rules", "--specs="+hundred, "--out="+filepath.Join(hundred, "out")))
		b.StopTimer()
		for _, specs := range []string{one, hundred} {
			if err := os.RemoveAll(filepath.Join(specs, "out")); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
	floor, oneSLO, hundredSLOs := median(floors), median(ones), median(hundreds)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(floor.wall*1000, "floor-ms")
	b.ReportMetric(oneSLO.wall/floor.wall, "one-x-floor")
	b.ReportMetric((hundredSLOs.wall-oneSLO.wall)*1000, "hundred-more-ms")
	b.ReportMetric(floor.cpu*1000, "floor-cpu-ms")
	b.ReportMetric(oneSLO.cpu/floor.cpu, "one-cpu-x-floor")
	b.ReportMetric(floor.memory/1e6, "floor-MB")
	b.ReportMetric(oneSLO.memory/1e6, "one-MB")
	b.ReportMetric(hundredSLOs.memory/1e6, "hundred-MB")
}

// measure runs a program to its end.
func measure(b *testing.B, name string, args ...string) cost {
	b.Helper()
	cmd := exec.Command(name, args...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	wall := time.Since(begin).Seconds()
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{wall, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(usage.Maxrss) * 1024}
}

// median is that of each figure by itself.
func median(costs []cost) cost {
	of := func(figure func(cost) float64) float64 {
		all := make([]float64, len(costs))
		for i, c := range costs {
			all[i] = figure(c)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return cost{of(func(c cost) float64 { return c.wall }), of(func(c cost) float64 { return c.cpu }), of(func(c cost) float64 { return c.memory })}
}

// writeSpecs writes one specification of so many SLOs.
func writeSpecs(b *testing.B, dir string, slos int) {
	b.Helper()
	var text strings.Builder
	text.WriteString("version: prometheus/v1\nservice: shop\nslos:\n")
	for i := range slos {
		fmt.Fprintf(&text, `  - name: slo-%d
    objective: 99.9
    sli:
      events:
        error_query: sum by (cluster, identity) (increase(shop_%[1]d_total{result="failure"}[{{.window}}]))
        total_query: sum by (cluster, identity) (increase(shop_%[1]d_total{result=~"success|failure"}[{{.window}}]))
    alerting: {name: ShopBudgetBurn}
    x-probes:
      cadence: 15s
      fixed_cadence: true
      slots_query: sum by (cluster, identity) (increase(shop_%[1]d_total[{{.window}}]))
`, i)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}
