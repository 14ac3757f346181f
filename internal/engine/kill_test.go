// kill -9 at any moment costs at most the collection under way.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	childDir = "ENGINE_TEST_CHILD_DIR"
	kills    = 50
)

// ingestUntilKilled is the child: it says the time of each collection that it has stored.
func ingestUntilKilled(dir string) {
	e, err := Open(options(dir, prometheus.NewRegistry()))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, "error:", err)
		os.Exit(1)
	}
	for at := max(start.UnixMilli(), e.store.db.Head().MaxTime()+1); ; at++ {
		e.collector.collect(time.UnixMilli(at))
		_, _ = fmt.Fprintln(os.Stdout, at)
	}
}

func TestKilledFiftyTimes(t *testing.T) {
	dir := t.TempDir()
	told := 0
	for i := range kills {
		told += killed(t, dir, 1+i%7*20)
	}
	e := open(t, options(dir, prometheus.NewRegistry()))
	got := query(t, e, "count_over_time(up[1h])", start.Add(time.Hour-time.Millisecond))[`{"instance":"probe-1","job":"eks-slo-exporter"}`]
	stored, err := strconv.Atoi(got)
	if err != nil {
		t.Fatal(err)
	}
	if stored < told || stored > told+kills {
		t.Errorf("%d samples are stored after %d kills, want those of the %d collections that were told, and at most one more for each kill", stored, kills, told)
	}
}

// killed runs a child until it has told so many collections, and kills it; it gives the number of those told.
func killed(t *testing.T, dir string, collections int) int {
	t.Helper()
	child := exec.CommandContext(context.Background(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	told := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := strconv.ParseInt(lines.Text(), 10, 64); err != nil {
			t.Errorf("the child says %q", lines.Text())
			break
		}
		if told++; told == collections {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // "signal: killed"
	return told
}
