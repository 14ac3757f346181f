// What stops a storage from opening, or from taking samples.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func (m *collectorMetrics) total(t *testing.T) string {
	t.Helper()
	text := fmt.Sprintf("samples=%v", testutil.ToFloat64(m.samples))
	for _, stage := range []string{"gather", "append", "commit"} {
		if n := testutil.ToFloat64(m.failures.WithLabelValues(stage)); n != 0 {
			text += fmt.Sprintf(" %s=%v", stage, n)
		}
	}
	return text
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	open(t, options(dir, prometheus.NewRegistry()))
	_, err := Open(options(dir, prometheus.NewRegistry()))
	host, hostErr := os.Hostname()
	if hostErr != nil {
		t.Fatal(hostErr)
	}
	wantHint(t, err, fmt.Sprintf("another process (%d on %s, says %q) has this folder open; ", os.Getpid(), host, filepath.Join(dir, "lock")))
}

func wantHint(t *testing.T, err error, hint string) {
	t.Helper()
	var storageErr *StorageError
	if !errors.As(err, &storageErr) || !strings.HasPrefix(storageErr.Hint, hint) {
		t.Errorf("got %#v (%v), want the hint %q…", err, err, hint)
	}
}

func TestCorruptSegment(t *testing.T) {
	dir := t.TempDir()
	first := open(t, options(dir, prometheus.NewRegistry()))
	for i := range 10 {
		first.collector.collect(start.Add(time.Duration(i) * 15 * time.Second))
	}
	closeEngine(t, first)
	segment := filepath.Join(dir, "wal", "00000000")
	text, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(text, "\x00"))
	text[used-30] ^= 0xff
	if err := os.WriteFile(segment, text, 0o600); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	o := options(dir, prometheus.NewRegistry())
	o.Registerer = registry
	second := open(t, o)
	got := query(t, second, "count_over_time(up[1h])", start.Add(10*time.Minute))[`{"instance":"probe-1","job":"eks-slo-exporter"}`]
	if got != "8" && got != "9" {
		t.Errorf("%s samples before the corrupt record survive, want 8 or 9 of 10", got)
	}
	second.collector.collect(start.Add(11 * time.Minute))
	want(t, second, "sum(up)", start.Add(11*time.Minute), map[string]string{"{}": "1"})
	const counted = "# HELP prometheus_tsdb_wal_corruptions_total Total number of WAL corruptions.\n# TYPE prometheus_tsdb_wal_corruptions_total counter\nprometheus_tsdb_wal_corruptions_total 1\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(counted), "prometheus_tsdb_wal_corruptions_total"); err != nil {
		t.Error(err)
	}
	closeEngine(t, second)
	if left, err := registry.Gather(); err != nil || len(left) != 0 {
		t.Errorf("a closed engine leaves %d families (%v)", len(left), err)
	}
}

func TestHints(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		hint string
	}{
		"read-only file system":  {&os.PathError{Op: "open", Path: "lock", Err: syscall.EROFS}, "the folder must be writable"},
		"full disk":              {fmt.Errorf("open wal: %w", syscall.ENOSPC), "the disk is full"},
		"limit of a file's size": {fmt.Errorf("write wal: %w", syscall.EFBIG), "the disk is full, or this user's share of it: there must be room for 16 MiB more"},
		"a file":                 {syscall.ENOTDIR, "the path, or a part of it, is a file"},
		"lock that tells no one": {syscall.EWOULDBLOCK, "another process has this folder open"},
		"quota":                  {fmt.Errorf("open wal: %w", syscall.EDQUOT), "the disk is full"},
		"beyond repair":          {errors.New("repair corrupted WAL: cannot handle error"), `the write-ahead log is beyond repair; move "d/wal" away, which loses up to the last 3h0m0s`},
		"block":                  {errors.New("corrupted block 01: index"), "a block cannot be read"},
		"else":                   {errors.New("else"), ""},
	} {
		if got := hint("d", c.err); !strings.HasPrefix(got, c.hint) || c.hint == "" && got != "" {
			t.Errorf("%s: %q, want %q…", name, got, c.hint)
		}
	}
}

func TestPathThatIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(options(file, prometheus.NewRegistry()))
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("using the storage in %q: ", file)) {
		t.Errorf("got %v", err)
	}
	wantHint(t, err, "the path, or a part of it, is a file")
}
