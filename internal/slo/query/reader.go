// The reader: which questions are asked, in which order, and what becomes of the answers.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// DefaultIgnoreLabels are the labels that tell replicas of one Prometheus apart, by the defaults of the Prometheus operator, Thanos and Mimir.
var DefaultIgnoreLabels = []string{"prometheus", "prometheus_replica", "replica", "__replica__"}

// ReaderOptions say how a Reader reads.
type ReaderOptions struct {
	// IgnoreLabels are labels outside sloth_* that are no part of an SLO's group. Series that differ in nothing else are replicas of one, and the largest value counts. nil: DefaultIgnoreLabels.
	IgnoreLabels []string
	Now          func() time.Time // our clock; nil: time.Now
}

// Reader reads the state of SLOs. It is safe for concurrent use.
type Reader struct {
	api     API
	options ReaderOptions
}

// NewReader makes a reader of what an API answers.
func NewReader(api API, options ReaderOptions) *Reader {
	if options.IgnoreLabels == nil {
		options.IgnoreLabels = DefaultIgnoreLabels
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Reader{api: api, options: options}
}

// Reading is what was read at one time.
type Reading struct {
	At       time.Time     // of the server's clock. A status is as of the evaluation of its rules before that
	Skew     time.Duration // how far the server's clock is ahead of ours; it is known to about half of the time that an answer takes
	Statuses []slo.Status  // sorted by id and labels
	Problems []Problem     // of the selected SLOs that have no status, in the same order
	Warnings []string      // what the server says of its answers, such as that a part of its stores did not answer; sorted
}

// Problem says why an SLO that is there cannot be told.
type Problem struct {
	ID     string
	Labels map[string]string // the group
	Err    *Error
}

// Statuses reads the SLOs that have all of these labels; all SLOs when there are none. The keys id, service and slo are those of Sloth, every other key is a label of the group.
//
// The error is of type *Error; there is one also when there is no status, so that nobody takes an empty answer for a good one. The problem of one SLO is among the reading's Problems and does not
// hide the others. The reading is as far as it came.
func (r *Reader) Statuses(ctx context.Context, selector map[string]string) (Reading, error) {
	selected, err := newSelection(selector)
	if err != nil {
		return Reading{}, err
	}
	q := r.asking(selected)
	reading := Reading{}
	if reading.At, reading.Skew, err = r.clock(ctx, q); err != nil {
		return reading, r.from(err)
	}
	q.at = reading.At.Truncate(time.Second)
	err = q.read(ctx)
	reading.Warnings = slices.Sorted(maps.Keys(q.warnings))
	if err != nil {
		return reading, r.from(err)
	}
	for _, g := range q.groups.sorted() {
		if status := g.status(); g.problem == nil {
			reading.Statuses = append(reading.Statuses, status)
			continue
		}
		_ = r.from(g.problem)
		reading.Problems = append(reading.Problems, Problem{ID: g.id, Labels: g.labels, Err: g.problem})
	}
	if len(reading.Statuses) == 0 {
		return reading, reading.Problems[0].Err
	}
	return reading, nil
}

// clock asks what time it is at the server.
func (r *Reader) clock(ctx context.Context, q *asking) (at time.Time, skew time.Duration, err error) {
	before := r.options.Now()
	answer, err := q.ask(ctx, "time()", time.Time{})
	if err != nil {
		return at, 0, err
	}
	after := r.options.Now()
	scalar, ok := answer.(*model.Scalar)
	if !ok {
		return at, 0, errorOf(KindNotPrometheus, "it answers the query time() with a %s", answer.Type())
	}
	at = time.UnixMilli(int64(scalar.Value * 1000)).UTC()
	return at, at.Sub(before.Add(after.Sub(before) / 2)), nil
}

// from names the server in an error.
func (r *Reader) from(err error) error {
	e, ok := errors.AsType[*Error](err)
	if named, known := r.api.(interface{ url() string }); ok && known && e.Server == "" {
		e.Server = named.url()
	}
	return err
}

func (r *Reader) asking(selected selection) *asking {
	return &asking{api: r.api, selection: selected, groups: groups{ignored: r.options.IgnoreLabels, all: map[string]*group{}}, warnings: map[string]bool{}}
}

// asking is one reading under way.
type asking struct {
	api       API
	selection selection
	at        time.Time
	groups    groups
	loaded    []*model.Sample // objectives and periods of the selected SLOs
	longest   time.Duration   // of their periods

	mu       sync.Mutex // of what follows
	warnings map[string]bool
}

// atOnce is how many questions are asked at the same time.
const atOnce = 4

// read asks everything.
func (q *asking) read(ctx context.Context) error {
	if err := q.together(ctx, q.readNow, q.readEvaluations, q.readAlerts); err != nil {
		return err
	}
	if len(q.groups.all) == 0 {
		return q.absent(ctx)
	}
	for _, g := range q.groups.all {
		q.longest = max(q.longest, g.period())
	}
	if err := q.together(ctx, q.readNewest, q.readClosed(eventsPrefix), q.readClosed(badPrefix)); err != nil {
		return err
	}
	return q.readWithin(ctx)
}

// together asks several questions at once; the first error ends the others. What a question finds is kept when all are answered, in the order of the questions.
func (q *asking) together(ctx context.Context, questions ...func(context.Context) (func(), error)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	keep := make([]func(), len(questions))
	for i, question := range questions {
		group.Go(func() (err error) {
			keep[i], err = question(ctx)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, each := range keep {
		each()
	}
	return nil
}

// vector asks for values at one time.
func (q *asking) vector(ctx context.Context, query string) (model.Vector, error) {
	answer, err := q.ask(ctx, query, q.at)
	if err != nil {
		return nil, err
	}
	vector, ok := answer.(model.Vector)
	if !ok {
		return nil, errorOf(KindNotPrometheus, "it answers a query for a vector with a %s", answer.Type())
	}
	return vector, nil
}

// matrix asks for the values of a selector at times. The query is for multiples of the step, with an offset: some servers move the times of others to these.
func (q *asking) matrix(ctx context.Context, selector string, r v1.Range) (model.Matrix, error) {
	shift := r.Start.Truncate(r.Step).Add(r.Step).Sub(r.Start) % r.Step
	if shift > 0 {
		selector += fmt.Sprintf(" offset %dms", shift.Milliseconds())
	}
	matrix, err := q.multiples(ctx, selector, v1.Range{Start: r.Start.Add(shift), End: r.End.Add(shift), Step: r.Step})
	for _, stream := range matrix {
		for i := range stream.Values {
			stream.Values[i].Timestamp -= model.Time(shift.Milliseconds())
		}
	}
	return matrix, err
}

// multiples asks for values at multiples of the step.
func (q *asking) multiples(ctx context.Context, query string, r v1.Range) (model.Matrix, error) {
	answer, warnings, _, err := q.api.QueryRange(ctx, query, r)
	q.warned(warnings)
	if err != nil {
		return nil, asError(ctx, err)
	}
	matrix, ok := answer.(model.Matrix)
	if !ok {
		return nil, errorOf(KindNotPrometheus, "it answers a query for a matrix with %T", answer)
	}
	return matrix, nil
}

func (q *asking) ask(ctx context.Context, query string, at time.Time) (model.Value, error) {
	answer, warnings, _, err := q.api.Query(ctx, query, at)
	q.warned(warnings)
	if err != nil {
		return nil, asError(ctx, err)
	}
	if answer == nil {
		return nil, errorOf(KindNotPrometheus, "it answers a query with nothing")
	}
	return answer, nil
}

func (q *asking) warned(warnings v1.Warnings) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range warnings {
		q.warnings[firstLine(w)] = true
	}
}

// asError is the error of an API that need not be New's.
func asError(ctx context.Context, err error) error {
	return fromClient(ctx, err, DefaultTimeout)
}

func (p Problem) String() string { return fmt.Sprintf("%s%s: %v", p.ID, written(p.Labels), p.Err) }
