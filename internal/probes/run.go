// The runner walks a chain once: each step in its share of the time, then one verdict.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Options are what a Prober needs.
type Options struct {
	Cloud      Cloud
	Observer   Observer
	APIServer  APIServer
	ELB        LoadBalancers
	Bindings   Bindings
	Requester  Requester
	ClusterTTL time.Duration    // how long DescribeCluster's answer serves before it is read again
	Now        func() time.Time // the local clock
}

// DefaultOptions returns options without adapters.
func DefaultOptions() Options {
	return Options{ClusterTTL: 5 * time.Minute, Now: time.Now}
}

func (o Options) validate() error {
	switch {
	case o.Cloud == nil:
		return errors.New("probes: Options.Cloud is not set")
	case o.Observer == nil:
		return errors.New("probes: Options.Observer is not set")
	case o.APIServer == nil:
		return errors.New("probes: Options.APIServer is not set")
	case o.ELB == nil:
		return errors.New("probes: Options.ELB is not set")
	case o.Bindings == nil:
		return errors.New("probes: Options.Bindings is not set")
	case o.Requester == nil:
		return errors.New("probes: Options.Requester is not set")
	case o.ClusterTTL <= 0:
		return fmt.Errorf("probes: Options.ClusterTTL is %s, must be above 0", o.ClusterTTL)
	case o.Now == nil:
		return errors.New("probes: Options.Now is not set")
	}
	return nil
}

// Prober runs chains. Safe for concurrent use; runs share nothing but what is known of clusters, and what earlier runs of the same target group saw.
type Prober struct {
	Options
	clusters *clusterCache
	entries  *sharedEntries
	controls *controls
	bindings *sharedReads[chain.ClusterKey, []chain.Binding]
	memory   *groupMemory
}

// New makes a Prober.
func New(options Options) (*Prober, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	return &Prober{
		Options:  options,
		clusters: newClusterCache(options.Observer, options.ClusterTTL, options.Now),
		entries:  newSharedEntries(options.Observer, options.Now),
		controls: newControls(options.Now),
		bindings: newSharedReads[chain.ClusterKey, []chain.Binding](options.Now),
		memory:   newGroupMemory(),
	}, nil
}

// step is one row of a chain's table; R is the state of a run of that chain.
type step[R any] struct {
	name chain.Step
	// always makes the step run also when an earlier one failed; the verdict still blames the first.
	always bool
	// whole gives the step all the time that is left, since none comes after it.
	whole bool
	// keeps is how much of the run's time the step leaves untouched, for a later one that needs it. nil: none.
	keeps func(R) time.Duration
	// needs says whether what the step works on is there; after an unknown step it may not be.
	needs func(R) bool
	// run exercises the layer, in the step's share of the time. A *chain.Error may name an earlier step: then this one did not get to show anything. What is not on the list of reasons is unknown.
	run func(R, context.Context) (chain.Facts, error)
	// explain looks for the cause of an error of run, in the time that the run has left. nil: the error says it all.
	explain func(R, context.Context, error) (chain.Facts, error)
	// verify looks at what the step brought to light; an error here blames an earlier step, and this one keeps its success. nil: nothing to verify.
	verify func(R) error
}

// errNothingAsked is returned by a step that the target gives nothing to do: it is skipped, neither good nor bad.
var errNothingAsked = errors.New("the target asks nothing of this step")

// Run executes the target's chain once, for one slot. The only error is the context's own cancellation: then there is no event, and the run is dropped.
func (p *Prober) Run(ctx context.Context, target chain.Target, slot time.Time) (chain.Run, error) {
	started := p.Now()
	run := chain.Run{ID: newRunID(started), Target: target, Slot: slot, Started: started}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, target.Timeout, fmt.Errorf("the run's timeout of %s", target.Timeout))
	defer cancel()
	switch target.Kind {
	case chain.KindALB:
		run.Steps, run.Reading = p.walkALB(ctx, target)
	case chain.KindAccess, chain.KindNone:
		run.Steps = p.walkAccess(ctx, target, run.ID)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return chain.Run{}, fmt.Errorf("probing %s: %w", target.Name, context.Cause(ctx))
	}
	run.Duration = time.Since(began)
	run.Verdict = chain.Settle(run.Steps)
	run.Verdict.Fix = chain.Fix(run.Verdict.Step, run.Verdict.Reason, run.Facts())
	return run, nil
}

// walk runs the steps in order. After a failure the rest is skipped, but for what always runs; after an unknown the walk goes on for as long as the next step has what it needs.
func walk[R any](ctx context.Context, steps []step[R], state R) []chain.StepResult {
	results := make([]chain.StepResult, len(steps))
	for i, s := range steps {
		results[i] = chain.StepResult{Step: s.name, Outcome: chain.OutcomeSkipped}
	}
	ended := false
	for i, s := range steps {
		if ctx.Err() != nil && i > 0 && results[i-1].Outcome != chain.OutcomeSuccess || s.needs != nil && !s.needs(state) {
			ended = true
		}
		if ended && !s.always {
			continue
		}
		err := perform(ctx, s, state, &results[i])
		if errors.Is(err, errNothingAsked) {
			continue
		}
		if err == nil && s.verify != nil {
			err = s.verify(state)
		}
		if err != nil {
			ended = blame(results, i, chain.AsError(err)) || ended
		}
	}
	return results
}

// perform runs one step, explains its error, and writes down what it showed.
func perform[R any](ctx context.Context, s step[R], state R, result *chain.StepResult) error {
	began := time.Now()
	facts, err := share(ctx, s, state)
	if errors.Is(err, errNothingAsked) {
		return err
	}
	if err != nil && s.explain != nil && !errors.Is(ctx.Err(), context.Canceled) {
		var found chain.Facts
		found, err = s.explain(state, ctx, err)
		facts = facts.Merge(found)
	}
	result.Duration, result.Facts = time.Since(began), redactFacts(facts)
	if err == nil {
		result.Outcome = chain.OutcomeSuccess
	}
	return err
}

// share runs a step in three quarters of the time that is left, so that a slow layer is blamed itself and starves neither the next one nor the explanation.
func share[R any](ctx context.Context, s step[R], state R) (chain.Facts, error) {
	if s.whole {
		return s.run(state, ctx)
	}
	if deadline, ok := ctx.Deadline(); ok && s.keeps != nil {
		kept := s.keeps(state)
		early, cancel := context.WithDeadlineCause(ctx, deadline.Add(-kept), fmt.Errorf("the last %s are for a later step", kept))
		defer cancel()
		ctx = early
	}
	ctx, cancel := quarters(ctx, 3, "step "+s.name.String())
	defer cancel()
	return s.run(state, ctx)
}

// quarters bounds a context to n quarters of the time that it has left; the cause of its end names what had them.
func quarters(ctx context.Context, n int, what string) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	limit := time.Until(deadline) * time.Duration(n) / 4
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s had %s", what, limit.Round(time.Millisecond)))
}

// blame writes an error into the step it belongs to, and reports whether that ends the walk. The steps between keep what they showed.
func blame(results []chain.StepResult, place int, e *chain.Error) (failed bool) {
	at := place
	if e.Step != chain.StepNone {
		at = slices.IndexFunc(results[:place+1], func(r chain.StepResult) bool { return r.Step == e.Step })
	}
	if at < 0 || !onTheList(results[at].Step, e) {
		at, e = place, chain.Unsure(chain.ReasonReadFailed, e.Error(), e.Facts, e)
	}
	r := &results[at]
	r.Outcome, r.Reason, r.Detail = e.Outcome, e.Reason, chain.Redact(e.Detail)
	r.Facts = r.Facts.Merge(redactFacts(e.Facts))
	return e.Outcome == chain.OutcomeFailure
}

// onTheList reports whether an error's verdict is on the closed list: a failure with a reason of its step, or an unknown with one of the prober's own.
func onTheList(step chain.Step, e *chain.Error) bool {
	row, ok := chain.LookupReason(step, e.Reason)
	switch e.Outcome {
	case chain.OutcomeFailure:
		return ok && row.Step == step
	case chain.OutcomeUnknown:
		return ok && row.Step == chain.StepNone
	case chain.OutcomeSuccess, chain.OutcomeSkipped:
	}
	return false
}

func redactFacts(facts chain.Facts) chain.Facts {
	clean := chain.Facts{}
	for k, v := range facts {
		clean[k] = chain.Redact(v)
	}
	return clean.Merge()
}

// newRunID returns an id that sorts by time, fits into a role session name and is unique among replicas.
func newRunID(now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails since Go 1.24
	return strconv.FormatInt(now.Unix(), 36) + "-" + hex.EncodeToString(random[:])
}
