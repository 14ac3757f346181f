// What the engine costs: a collection of 100 targets, a month of history, and a start over it.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func fleet() *prometheus.Registry {
	r := prometheus.NewRegistry()
	counters := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "c_total"}, []string{"target", "of"})
	r.MustRegister(counters)
	for target := range 100 {
		for of := range 14 {
			counters.WithLabelValues(fmt.Sprint(target), fmt.Sprint(of)).Add(float64(of))
		}
	}
	return r
}

func BenchmarkCollect(b *testing.B) {
	e := open(b, options(b.TempDir(), fleet()))
	b.ReportAllocs()
	at := start
	for b.Loop() {
		at = at.Add(15 * time.Second)
		e.collector.collect(at)
	}
}

func BenchmarkHistory10M(b *testing.B) {
	for b.Loop() {
		fill(b, b.TempDir(), 232, 30*24*time.Hour, time.Minute) // 10,022,400 samples
	}
}

func BenchmarkStartOverAMonth(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 1400, 30*24*time.Hour, 10*time.Minute)
	first := open(b, options(dir, fleet()))
	for i := range 2 * 60 * 4 {
		first.collector.collect(start.Add(time.Duration(i) * 15 * time.Second))
	}
	closeEngine(b, first)
	for b.Loop() {
		e, err := Open(options(dir, fleet()))
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		closeEngine(b, e)
		b.StartTimer()
	}
}
