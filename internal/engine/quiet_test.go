// Prometheus' log lines: what is passed on, and how often.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ours := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		l := newQuiet(ours)
		l.Info("progress")
		one, other := l.With("group", "a"), l.With("group", "b")
		for count := range 3 {
			one.Warn("cannot send", "count", count, "err", errors.New("refused"))
			other.Warn("cannot send", "count", count, "err", errors.New("refused"))
			one.Warn("rule", "err", fmt.Errorf("appending: %w", newStorageError("d", syscall.ENOSPC)))
		}
		one.Warn("cannot send", "count", 4, "err", errors.New("timeout"))
		time.Sleep(again)
		one.Warn("cannot send", "count", 5, "err", errors.New("refused"))
		const want = "level=WARN msg=\"cannot send\" group=a count=0 err=refused\n" +
			"level=WARN msg=\"cannot send\" group=b count=0 err=refused\n" +
			"level=WARN msg=\"cannot send\" group=a count=4 err=timeout\n" +
			"level=WARN msg=\"cannot send\" group=a count=5 err=refused\n"
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
