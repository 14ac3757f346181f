// The collector reads the registry at every instant of the interval's grid and appends what it holds, as a scrape by Prometheus would.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
)

// known is a series that the last stored collection held.
type known struct {
	labels labels.Labels
	ref    storage.SeriesRef
}

// collector is used by one goroutine at a time.
type collector struct {
	store    *store
	gatherer prometheus.Gatherer
	interval time.Duration
	instance string
	metadata *metadata
	metrics  *collectorMetrics
	gathers  outcome
	appends  outcome
	last     map[string]known // by labels
}

func newCollector(o Options, store *store, registerer prometheus.Registerer) *collector {
	return &collector{
		store: store, gatherer: o.Gatherer, interval: o.Interval, instance: o.Instance,
		metadata: &metadata{}, metrics: newCollectorMetrics(registerer),
		gathers: outcome{logger: o.Logger, failed: "The registry could not be read, its series end here", recovered: "The registry can be read again"},
		appends: outcome{logger: o.Logger, failed: "The storage refuses samples", recovered: "The storage takes all samples again"},
	}
}

// run collects on the grid until ctx ends.
func (c *collector) run(ctx context.Context) {
	var last time.Time
	for {
		next := nextOnGrid(time.Now(), c.interval)
		if next.Equal(last) { // the timer ran a little ahead of the clock
			next = next.Add(c.interval)
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			last = next
			c.upkeep()
			c.collect(next) //nolint:contextcheck // a collection is short and is not cut off
		}
	}
}

// nextOnGrid is the first instant after now that is a whole number of intervals after 1970.
func nextOnGrid(now time.Time, interval time.Duration) time.Time {
	step := interval.Milliseconds()
	return time.UnixMilli((now.UnixMilli()/step + 1) * step)
}

// upkeep sees after the storage. One that was opened anew gives new references to the series.
func (c *collector) upkeep() {
	if !c.store.upkeep() {
		return
	}
	for key, k := range c.last {
		k.ref = 0
		c.last[key] = k
	}
}

// collect stores the registry's samples as of the instant, and the end of every series that is gone. A registry that cannot be read is up=0
// and ends all series, as a failed scrape does.
func (c *collector) collect(at time.Time) {
	if c.store.failed.Load() != nil {
		c.metrics.failures.WithLabelValues("commit").Inc()
		return
	}
	families, err := c.gatherer.Gather()
	c.gathers.note(err)
	up := 1.0
	if err != nil {
		c.metrics.failures.WithLabelValues("gather").Inc()
		families, up = nil, 0
	} else {
		c.metadata.set(families)
	}
	r := &round{
		collector: c, at: at.UnixMilli(), seen: make(map[string]known, len(c.last)),
		app: c.store.Appender(context.Background()), // a collection is short, and the last one runs when all else has ended
	}
	err = r.families(families)
	r.append(labels.FromStrings(model.MetricNameLabel, "up"), sample{value: up})
	r.ends()
	c.finish(r, errors.Join(err, r.err))
}

// finish commits the round. What could not be stored is lost, and known as such: the next round compares with the last stored one.
func (c *collector) finish(r *round, err error) {
	if r.app.Commit() != nil { // the store tells it
		c.metrics.failures.WithLabelValues("commit").Inc()
		return
	}
	c.appends.note(err)
	c.last = r.seen
	c.metrics.samples.Add(float64(r.samples))
	c.metrics.lastTime.Set(float64(r.at) / 1000)
}

// round is one collection on its way into the storage.
type round struct {
	*collector
	app     storage.Appender
	at      int64 // in milliseconds
	seen    map[string]known
	samples int
	err     error // the first sample's that the storage refused
}

// sample is a float, or a native histogram with integer or float counts.
type sample struct {
	value   float64
	integer *histogram.Histogram
	float   *histogram.FloatHistogram
	created int64 // in milliseconds; 0 when not known
}

// families appends through Prometheus' own scrape format and parser, so that names, buckets and native histograms come out as scraped ones.
// Timestamps of the registry's own are not used.
func (r *round) families(families []*dto.MetricFamily) error {
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, expfmt.NewFormat(expfmt.TypeProtoDelim))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return fmt.Errorf("encoding the family %q: %w", family.GetName(), err)
		}
	}
	p := textparse.NewProtobufParser(text.Bytes(), false, true, false, false, labels.NewSymbolTable())
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the registry's samples: %w", err)
		}
		s := sample{}
		switch entry {
		case textparse.EntrySeries:
			_, _, s.value = p.Series()
		case textparse.EntryHistogram:
			_, _, s.integer, s.float = p.Histogram()
		case textparse.EntryInvalid, textparse.EntryType, textparse.EntryHelp, textparse.EntryComment, textparse.EntryUnit:
			continue
		}
		var own labels.Labels
		p.Labels(&own)
		s.created = p.StartTimestamp()
		r.append(own, s)
	}
}

// append adds the target's labels and stores the sample. A label of that name of the metric's own moves to exported_…, as when scraped.
func (r *round) append(own labels.Labels, s sample) {
	b := labels.NewBuilder(own)
	for _, target := range []labels.Label{{Name: model.JobLabel, Value: Job}, {Name: model.InstanceLabel, Value: r.instance}} {
		if taken := own.Get(target.Name); taken != "" {
			b.Set(model.ExportedLabelPrefix+target.Name, taken)
		}
		b.Set(target.Name, target.Value)
	}
	all := b.Labels()
	key := string(all.Bytes(nil))
	ref := r.last[key].ref
	if s.created != 0 && s.created < r.at {
		ref = r.zero(ref, all, s)
	}
	ref, err := r.put(ref, all, s)
	if err != nil {
		r.metrics.failures.WithLabelValues("append").Inc()
		if r.err == nil {
			r.err = fmt.Errorf("appending a sample of %s: %w", all, err)
		}
		return
	}
	r.samples++
	r.seen[key] = known{labels: all, ref: ref}
}

// zero stores that a counter stood at zero when it was created. The storage refuses that for the times that it has already; that is the rule,
// and no failure.
func (r *round) zero(ref storage.SeriesRef, all labels.Labels, s sample) storage.SeriesRef {
	var (
		stored storage.SeriesRef
		err    error
	)
	if s.integer != nil || s.float != nil {
		stored, err = r.app.AppendHistogramSTZeroSample(ref, all, r.at, s.created, s.integer, s.float)
	} else {
		stored, err = r.app.AppendSTZeroSample(ref, all, r.at, s.created)
	}
	if err != nil {
		return ref
	}
	return stored
}

func (r *round) put(ref storage.SeriesRef, all labels.Labels, s sample) (storage.SeriesRef, error) {
	if s.integer != nil || s.float != nil {
		return r.app.AppendHistogram(ref, all, r.at, s.integer, s.float)
	}
	return r.app.Append(ref, all, r.at, s.value)
}

// ends stores a staleness marker for each series that the last collection held and this one does not.
func (r *round) ends() {
	for key, k := range r.last {
		if _, still := r.seen[key]; still {
			continue
		}
		if _, err := r.app.Append(k.ref, k.labels, r.at, math.Float64frombits(value.StaleNaN)); err != nil && r.err == nil {
			r.metrics.failures.WithLabelValues("append").Inc()
			r.err = fmt.Errorf("appending the end of %s: %w", k.labels, err)
		}
	}
}

// outcome logs a failure once, when it begins or changes, and its end.
type outcome struct {
	logger            *slog.Logger
	failed, recovered string
	last              string
}

func (o *outcome) note(err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	if now == o.last {
		return
	}
	o.last = now
	if err == nil {
		o.logger.Info(o.recovered) //nolint:sloglint // one of two constants
		return
	}
	o.logger.Error(o.failed, "err", err) //nolint:sloglint // one of two constants
}
