// How long a reading takes in one process with the engine: 20 SLOs, a month on disk.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

func BenchmarkStatuses(b *testing.B) {
	const slos, days = 20, 31
	options := tsdb.DefaultOptions()
	options.RetentionDuration = (35 * slo.Day).Milliseconds()
	options.MaxBlockDuration = options.RetentionDuration / 10
	db, err := tsdb.Open(b.TempDir(), nil, nil, options, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	fillMonth(b, db, slos, days)
	s := &server{t: b, store: db, now: epoch.Add(days*slo.Day + 5*time.Second), engine: promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true})}
	b.Cleanup(func() { s.engine.Close() })
	reader := NewReader(newClient(b, Options{URL: "http://embedded", Transport: HandlerTransport(s)}), ReaderOptions{})
	for name, selector := range map[string]map[string]string{"all": nil, "one": {"id": "slo-00"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				reading, err := reader.Statuses(b.Context(), selector)
				if want := map[string]int{"all": slos, "one": 1}[name]; err != nil || len(reading.Statuses) != want || len(reading.Statuses[0].Hours) != 720 || reading.Statuses[0].Steps[0].Bad != 60 {
					b.Fatalf("%d statuses, error %v", len(reading.Statuses), err)
				}
			}
			b.ReportMetric(float64(s.asked.Load())/float64(b.N), "requests/op")
			s.asked.Store(0)
		})
	}
}

// fillMonth stores what is recorded of SLOs, each with three outages of which 20 probes failed.
func fillMonth(b *testing.B, db *tsdb.DB, slos, days int) {
	b.Helper()
	f := filler{refs: map[string]storage.SeriesRef{}}
	for at := epoch; at.Before(epoch.Add(time.Duration(days) * slo.Day)); at = at.Add(interval) {
		if at.Equal(at.Truncate(time.Hour)) {
			if f.app != nil {
				if err := f.app.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			if at.Equal(at.Truncate(slo.Day)) {
				if err := db.Compact(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			f.app = db.Appender(context.Background())
		}
		for n := range slos {
			f.one(n, at, time.Duration(days)*slo.Day-at.Sub(epoch))
		}
	}
	if f.err != nil || f.app.Commit() != nil {
		b.Fatal(f.err)
	}
}

type filler struct {
	app  storage.Appender
	refs map[string]storage.SeriesRef
	err  error
}

// one stores what is recorded of one SLO at one time.
func (f *filler) one(n int, at time.Time, left time.Duration) {
	passed := at.Sub(at.Truncate(time.Hour))
	hour := int(at.Sub(epoch)/time.Hour) + n
	bad := func(hour int, passed time.Duration) float64 {
		if hour%240 == 100 {
			return min(20, passed.Minutes())
		}
		return 0
	}
	f.add(n, at, eventsPrefix+suffixSince, passed.Seconds()/15)
	f.add(n, at, badPrefix+suffixSince, bad(hour, passed))
	for _, step := range []string{"sts", "endpoint", "rbac"} {
		value := 0.
		if step == "sts" {
			value = bad(hour, passed) + bad(hour-1, time.Hour) - bad(hour-1, passed)
		}
		f.add(n, at, metricBySteps, value, "step", step)
	}
	if passed%(4*time.Minute) == 0 {
		f.add(n, at, eventsPrefix+suffixHours, 240)
		f.add(n, at, badPrefix+suffixHours, bad(hour-1, time.Hour))
	}
	if left < 5*time.Minute {
		for _, suffix := range []string{suffixPeriod, suffixHour, "increase1h", "increase2h", "increase6h", "increase1d", "increase3d"} {
			f.add(n, at, eventsPrefix+suffix, 240)
			f.add(n, at, badPrefix+suffix, 60)
		}
		f.add(n, at, metricObjective, .999)
		f.add(n, at, metricPeriodDays, 30)
		f.add(n, at, metricNewest, float64(at.Unix()))
	}
}

func (f *filler) add(n int, at time.Time, name string, value float64, more ...string) {
	key := fmt.Sprint(n, name, more)
	series := labels.EmptyLabels()
	if f.refs[key] == 0 {
		id := fmt.Sprintf("slo-%02d", n)
		series = labels.FromStrings(append([]string{"__name__", name, "sloth_id", id, "sloth_service", "s", "sloth_slo", id, "cluster", "prod"}, more...)...)
	}
	ref, err := f.app.Append(f.refs[key], series, at.UnixMilli(), value)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%s at %s: %w", key, at, err)
	}
	f.refs[key] = ref
}
