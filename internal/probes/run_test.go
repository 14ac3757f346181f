// Tests of the walk: who is blamed, who is skipped, and what ends in time.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const healthy = "success / ✔✔✔✔✔✔"

func TestHealthyRun(t *testing.T) {
	f := newFake()
	run := probe(t, f, standardTarget(t))
	if got := verdict(run); got != healthy {
		t.Fatalf("got %s, want %s: %+v", got, healthy, run.Verdict)
	}
	for call, want := range map[string]int{"Login": 1, "Assume": 1, "Caller": 1, "DescribeCluster": 1, "Review": 1, "Replay": 0, "Close": 1} {
		if got := f.count(call); got != want {
			t.Errorf("%s was called %d times, want %d", call, got, want)
		}
	}
	if run.ID == "" || run.Duration <= 0 || run.Verdict.Fix != "" {
		t.Errorf("run is %+v", run)
	}
}

// Verdicts of the chain's own rules: who is blamed, who is skipped, and when the walk goes on after an unknown.
func TestWalk(t *testing.T) {
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
	}{
		"login fails": {func(f *fake, _ *chain.Target) { f.loginErr = fail(chain.StepCredentials, chain.ReasonNoCredentials) }, "failure credentials/no_credentials ✖·····"},
		"hop fails":   {func(f *fake, _ *chain.Target) { f.assumeErr = fail(chain.StepSTS, chain.ReasonAssumeRoleDenied) }, "failure sts/assume_role_denied ✔✖····"},
		"STS throttles the hop: nothing to go on with": {func(f *fake, _ *chain.Target) { f.assumeErr = chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil) },
			"unknown sts/sts_throttled ✔?····"},
		"STS throttles GetCallerIdentity: the session goes on, the run stays unknown": {func(f *fake, _ *chain.Target) {
			f.arn, f.callerErr = "", chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil)
		}, "unknown sts/sts_throttled ✔?✔✔✔✔"},
		"without the caller's name a plain username is still judged": {func(f *fake, tg *chain.Target) {
			f.arn, f.callerErr, tg.Expect.Username = "", chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil), "ci"
		}, "failure access_entry/unexpected_username ✔?✔✔✖·"},
		"an unclassified error is unknown":            {func(f *fake, _ *chain.Target) { f.tokenErr = errors.New("odd") }, "unknown token/read_failed ✔✔?···"},
		"evidence at a later step blames the earlier": {func(f *fake, _ *chain.Target) { f.arn = "arn:aws:sts::111122223333:assumed-role/other/x" }, "failure credentials/unexpected_principal ✖✔····"},
		"the review's 5xx is the endpoint's": {func(f *fake, _ *chain.Target) {
			f.review = reviewFails(fail(chain.StepEndpoint, chain.ReasonAPIServerError))
		}, "failure endpoint/apiserver_error ✔✔✔✖··"},
		"a target without rules shows nothing of rbac":        {func(_ *fake, tg *chain.Target) { tg.Allow, tg.Deny = nil, nil }, "success / ✔✔✔✔✔·"},
		"no region is a failure before anything is asked":     {func(_ *fake, tg *chain.Target) { tg.Cluster.Region = "" }, "failure credentials/region_unset ✖·····"},
		"an observer that cannot read leaves nothing to dial": {func(f *fake, _ *chain.Target) { f.cluster = clusterFails(chain.ReasonObserverDenied) }, "unknown token/observer_denied ✔✔?···"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			c.change(f, &target)
			if got := verdict(probe(t, f, target)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// An error that is not on the closed list, or that blames a step which has not run, never becomes a verdict of its own: it is unknown, at the place where it was met.
func TestBlameKeepsToTheList(t *testing.T) {
	for name, c := range map[string]struct {
		err  *chain.Error
		want string
	}{
		"its own step":                {chain.Fail(chain.StepToken, chain.ReasonTokenExpired, "as told", nil, nil), "failure token/token_expired: as told"},
		"no step":                     {chain.Fail(chain.StepNone, chain.ReasonTokenExpired, "as told", nil, nil), "failure token/token_expired: as told"},
		"an earlier step":             {chain.Fail(chain.StepSTS, chain.ReasonSTSError, "as told", nil, nil), "failure sts/sts_error: as told"},
		"an unknown":                  {chain.Unsure(chain.ReasonReadFailed, "as told", nil, nil), "unknown token/read_failed: as told"},
		"a later step":                {chain.Fail(chain.StepEndpoint, chain.ReasonTCPRefused, "as told", nil, nil), "unknown token/read_failed: endpoint/tcp_refused: as told"},
		"a step of the other chain":   {chain.Fail(chain.StepHealth, chain.ReasonInitialStuck, "as told", nil, nil), "unknown token/read_failed: health/initial_stuck: as told"},
		"a reason of another step":    {chain.Fail(chain.StepToken, chain.ReasonEndpointNotConfigured, "as told", nil, nil), "unknown token/read_failed: token/endpoint_not_configured: as told"},
		"a reason of no step":         {chain.Fail(chain.StepSTS, "made_up", "as told", nil, nil), "unknown token/read_failed: sts/made_up: as told"},
		"a failure for an unknown":    {chain.Fail(chain.StepToken, chain.ReasonReadFailed, "as told", nil, nil), "unknown token/read_failed: token/read_failed: as told"},
		"an unknown for a failure":    {chain.Unsure(chain.ReasonTokenExpired, "as told", nil, nil), "unknown token/read_failed: token_expired: as told"},
		"an error that is no outcome": {&chain.Error{Outcome: chain.OutcomeSuccess, Reason: chain.ReasonTokenExpired}, "unknown token/read_failed: token_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			results := []chain.StepResult{
				{Step: chain.StepCredentials, Outcome: chain.OutcomeSuccess}, {Step: chain.StepSTS, Outcome: chain.OutcomeSuccess}, {Step: chain.StepToken}, {Step: chain.StepEndpoint, Outcome: chain.OutcomeSkipped},
			}
			failed := blame(results, 2, c.err)
			v := chain.Settle(results)
			if got := fmt.Sprintf("%s %s/%s: %s", v.Outcome, v.Step, v.Reason, v.Detail); got != c.want || failed != (v.Outcome == chain.OutcomeFailure) {
				t.Errorf("got  %s (ends the walk: %v)\nwant %s", got, failed, c.want)
			}
		})
	}
}

func reviewFails(err error) func(context.Context) (chain.Review, error) {
	return func(context.Context) (chain.Review, error) { return chain.Review{}, err }
}

func clusterFails(reason chain.Reason) func() (chain.ClusterInfo, error) {
	return func() (chain.ClusterInfo, error) {
		return chain.ClusterInfo{}, chain.Unsure(reason, "as told", nil, nil)
	}
}

func TestOwnCancellationDropsTheRun(t *testing.T) {
	f := newFake()
	ctx, cancel := context.WithCancel(t.Context())
	f.review = func(context.Context) (chain.Review, error) {
		cancel()
		return chain.Review{}, ctx.Err()
	}
	run, err := newProber(t, f).Run(ctx, standardTarget(t), time.Now())
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %s and %v, want the cancellation", verdict(run), err)
	}
}

// A hanging layer is blamed itself, within the timeout, and leaves time for the ones after it.
func TestHangEndsWithinTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.review = func(ctx context.Context) (chain.Review, error) {
			<-ctx.Done()
			return chain.Review{}, ctx.Err()
		}
		began := time.Now()
		run := probe(t, f, standardTarget(t))
		if got, want := verdict(run), "failure access_entry/authenticator_unavailable ✔✔✔✔✖·"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if took := time.Since(began); took != 7500*time.Millisecond {
			t.Errorf("took %s, want the step's three quarters of 10s", took)
		}
	})
}

func TestSecretsInErrorsAreRedacted(t *testing.T) {
	f := newFake()
	f.assumeErr = chain.Fail(chain.StepSTS, chain.ReasonSTSError, "answer held k8s-aws-v1.aHR0cHM6Ly9zdHM and AKIAIOSFODNN7EXAMPLE", chain.Facts{chain.FactErrorMessage: "Bearer abcdefghijklmnopqrstuvwxyz"}, nil)
	run := probe(t, f, standardTarget(t))
	text := run.Verdict.Detail + run.Verdict.Fix + run.Facts()[chain.FactErrorMessage]
	for _, secret := range []string{"aHR0cHM6Ly9zdHM", "AKIAIOSFODNN7EXAMPLE", "abcdefghijklmnopqrstuvwxyz"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows in %q", secret, text)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	f := newFake()
	cases := map[string]struct {
		change func(*Options)
		want   string
	}{
		"cloud":     {func(o *Options) { o.Cloud = nil }, "probes: Options.Cloud is not set"},
		"observer":  {func(o *Options) { o.Observer = nil }, "probes: Options.Observer is not set"},
		"apiserver": {func(o *Options) { o.APIServer = nil }, "probes: Options.APIServer is not set"},
		"elb":       {func(o *Options) { o.ELB = nil }, "probes: Options.ELB is not set"},
		"bindings":  {func(o *Options) { o.Bindings = nil }, "probes: Options.Bindings is not set"},
		"requester": {func(o *Options) { o.Requester = nil }, "probes: Options.Requester is not set"},
		"ttl":       {func(o *Options) { o.ClusterTTL = 0 }, "probes: Options.ClusterTTL is 0s, must be above 0"},
		"clock":     {func(o *Options) { o.Now = nil }, "probes: Options.Now is not set"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := fakeOptions(f, newALBFake())
			c.change(&options)
			if _, err := New(options); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
