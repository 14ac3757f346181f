// A disk that is full while the engine runs: nothing is lost but what comes meanwhile, and probes go on.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package engine

import (
	"bytes"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// limitFiles lets no file of this process grow beyond size, until the returned function is called: what a write then gives is what a full disk gives, even in the middle of a record.
func limitFiles(t *testing.T, size int64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(size)
	set := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Error(err)
		}
	}
	set(limit)
	t.Cleanup(func() { set(before) })
	return func() { set(before) }
}

// walSize is the size of the segment that is written to.
func walSize(t *testing.T, dir string) int64 {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "wal", "0*"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	info, err := os.Stat(segments[len(segments)-1])
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestFullDiskCostsOnlyWhatComesMeanwhile(t *testing.T) {
	var log bytes.Buffer
	o := options(t.TempDir(), fleet())
	o.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	e := open(t, o)
	at := start
	collect := func(times int) {
		for range times {
			e.collector.upkeep()
			e.collector.collect(at)
			at = at.Add(15 * time.Second)
		}
	}
	collect(10)
	lift := limitFiles(t, walSize(t, o.Dir)+40_000) // a few collections, and then a torn record
	collect(20)
	during := e.collector.metrics.total(t)
	app := e.store.Appender(t.Context())
	if _, err := app.Append(0, labels.FromStrings("__name__", "recorded"), at.UnixMilli(), 1); err != nil {
		t.Error(err)
	}
	wantHint(t, app.Commit(), "the disk is full")
	want(t, e, "count(up)", start, map[string]string{"{}": "1"}) // reading goes on
	lift()
	collect(30)
	const count = "sum(count_over_time(up[1h])) + sum(count_over_time(c_total[1h])) / 1400"
	stored := query(t, e, count, at)["{}"]
	for _, line := range []string{"Samples are not stored until there is room again", "Samples are stored again"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q was logged %d times, want once:\n%s", line, n, log.String())
		}
	}
	if !strings.Contains(log.String(), "no space left") && !strings.Contains(log.String(), "file too large") {
		t.Errorf("the cause is not logged:\n%s", log.String())
	}
	if !strings.Contains(during, " commit=") || stored == "" {
		t.Errorf("meanwhile %s, after it %q", during, stored)
	}
	closeEngine(t, e)
	again := open(t, o)
	want(t, again, count, at, map[string]string{"{}": stored})
	want(t, again, "count_over_time(up[8m])", at, map[string]string{`{"instance":"probe-1","job":"eks-slo-exporter"}`: "30"})
}

// Chunks that are full are moved out of memory only where there is room for them: Prometheus would panic.
func TestNoRoomForChunks(t *testing.T) {
	o := options(t.TempDir(), fleet())
	e := open(t, o)
	for i := range 400 {
		e.collector.collect(start.Add(time.Duration(i) * 15 * time.Second))
	}
	lift := limitFiles(t, 1)
	e.store.mapped = time.Time{}
	e.collector.upkeep()
	wantHint(t, e.store.failed.Load(), "the disk is full")
	lift()
	e.collector.upkeep()
	if failed := e.store.failed.Load(); failed != nil {
		t.Errorf("with room again: %v", failed)
	}
	want(t, e, "count_over_time(up[2h])", start.Add(2*time.Hour-15*time.Second), map[string]string{`{"instance":"probe-1","job":"eks-slo-exporter"}`: "400"})
}

func TestOpenOnAFullDisk(t *testing.T) {
	limitFiles(t, 1)
	_, err := Open(options(t.TempDir(), fleet()))
	wantHint(t, err, "the disk is full")
}
