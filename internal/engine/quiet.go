// What Prometheus' parts log: their progress is for debugging, and a failure that lasts is told once an hour.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	again    = time.Hour
	mostTold = 1000 // texts that are remembered; further ones are all told
)

// quiet is a handler in front of ours. Prometheus tells a failure at every evaluation and at every notification.
type quiet struct {
	next slog.Handler
	with string // the attributes so far
	told *told
}

// told is when each text was last logged.
type told struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newQuiet(next *slog.Logger) *slog.Logger {
	return slog.New(&quiet{next: next.Handler(), told: &told{at: map[string]time.Time{}}})
}

// Enabled asks the next handler.
func (q *quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return q.next.Enabled(ctx, lowered(level))
}

func lowered(level slog.Level) slog.Level {
	if level < slog.LevelWarn {
		return slog.LevelDebug
	}
	return level
}

// Handle passes on what is new. That samples are not stored is told by the store.
func (q *quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = lowered(r.Level)
	if !q.next.Enabled(ctx, r.Level) {
		return nil
	}
	text, ours := r.Message+q.with, false
	r.Attrs(func(a slog.Attr) bool {
		text += textOf(a)
		err, ok := a.Value.Any().(error)
		ours = ours || ok && errors.As(err, new(*StorageError))
		return true
	})
	if r.Level >= slog.LevelWarn && (ours || !q.told.new(text, r.Time)) {
		return nil
	}
	return q.next.Handle(ctx, r) //nolint:wrapcheck // a handler in between adds nothing
}

// textOf leaves out numbers: how many alerts could not be sent, say.
func textOf(a slog.Attr) string {
	switch a.Value.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindDuration, slog.KindTime:
		return ""
	case slog.KindAny, slog.KindBool, slog.KindGroup, slog.KindLogValuer, slog.KindString:
	}
	return " " + a.String()
}

func (t *told) new(text string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.at[text]; ok && now.Sub(last) < again {
		return false
	}
	for other, at := range t.at {
		if now.Sub(at) >= again {
			delete(t.at, other)
		}
	}
	if len(t.at) < mostTold {
		t.at[text] = now
	}
	return true
}

// WithAttrs remembers the attributes.
func (q *quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	var with strings.Builder
	with.WriteString(q.with)
	for _, a := range attrs {
		with.WriteString(textOf(a))
	}
	return &quiet{next: q.next.WithAttrs(attrs), with: with.String(), told: q.told}
}

// WithGroup remembers the group.
func (q *quiet) WithGroup(name string) slog.Handler {
	return &quiet{next: q.next.WithGroup(name), with: q.with + " " + name, told: q.told}
}
