// Tests of what the cluster makes of an accepted token.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func reviewSays(username string, groups ...string) func(context.Context) (chain.Review, error) {
	return func(context.Context) (chain.Review, error) {
		return chain.Review{Username: username, Groups: groups}, nil
	}
}

func TestReview(t *testing.T) {
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
		detail string
	}{
		"as expected": {func(*fake, *chain.Target) {}, healthy, ""},
		"C29 anonymous: the token did not arrive": {func(f *fake, _ *chain.Target) { f.review = reviewSays("system:anonymous", "system:unauthenticated") }, "failure token/token_not_sent ✔✔✖✔··",
			"the apiserver saw system:anonymous: the bearer token did not reach it, so something between here and the cluster drops the Authorization header"},
		"another user": {func(f *fake, _ *chain.Target) { f.review = reviewSays("nobody", "deployers") }, "failure access_entry/unexpected_username ✔✔✔✔✖·",
			`mapped to the user "nobody", not "ci:run-1"`},
		"a group is missing": {func(f *fake, _ *chain.Target) { f.review = reviewSays("ci:run-1", "system:authenticated") }, "failure access_entry/unexpected_groups ✔✔✔✔✖·",
			`mapped to the user "ci:run-1" without the expected deployers`},
		"a group too many": {func(f *fake, _ *chain.Target) { f.review = reviewSays("ci:run-1", "deployers", "system:masters") }, "failure access_entry/unexpected_groups ✔✔✔✔✖·",
			`mapped to the user "ci:run-1" with the unexpected system:masters`},
		"no group wanted, one given": {func(_ *fake, tg *chain.Target) { tg.Expect.Groups = []string{} }, "failure access_entry/unexpected_groups ✔✔✔✔✖·",
			`mapped to the user "ci:run-1" with the unexpected deployers`},
		"nothing expected, nothing judged": {func(f *fake, tg *chain.Target) {
			tg.Expect = chain.Expect{}
			f.review = reviewSays("whoever", "any")
		}, healthy, ""},
		"@ in the session is written as -": {func(f *fake, _ *chain.Target) {
			f.arn = "arn:aws:sts::111122223333:assumed-role/ci-deploy/me@example.com"
			f.review = reviewSays("ci:me-example.com", "deployers")
		}, healthy, ""},
		"an empty username is the apiserver's answer": {func(f *fake, _ *chain.Target) { f.review = reviewSays("", "deployers", "system:authenticated") }, "failure access_entry/unexpected_username ✔✔✔✔✖·",
			`mapped to the user "", not "ci:run-1"`},
		"nobody told the name: nothing is judged": {func(f *fake, _ *chain.Target) {
			f.review = func(context.Context) (chain.Review, error) { return chain.Review{Silent: true}, nil }
		}, healthy, ""},
		"the name of a node cannot be known here": {func(_ *fake, tg *chain.Target) { tg.Expect.Username = "system:node:{{EC2PrivateDNSName}}" }, healthy, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			c.change(f, &target)
			run := probe(t, f, target)
			if got := verdict(run); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if run.Verdict.Detail != c.detail {
				t.Errorf("detail\n%s\nwant\n%s", run.Verdict.Detail, c.detail)
			}
		})
	}
}

// A review without an answer: what a second connection comes to tells whose silence it is, or that nobody knows.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		second error
		want   string
	}{
		"only the review":          {nil, "failure access_entry/authenticator_unavailable ✔✔✔✔✖·"},
		"the whole server":         {fail(chain.StepEndpoint, chain.ReasonHTTPTimeout), "failure endpoint/http_timeout ✔✔✔✖··"},
		"this machine cannot dial": {chain.Unsure(chain.ReasonReadFailed, "socket: too many open files", nil, nil), "unknown access_entry/read_failed ✔✔✔✔?·"},
		"the context's own end":    {context.DeadlineExceeded, "unknown access_entry/read_failed ✔✔✔✔?·"},
	} {
		t.Run(name, func(t *testing.T) {
			f, dialled := newFake(), 0
			f.review = reviewFails(context.DeadlineExceeded)
			f.dial = func(Endpoint) error {
				if dialled++; dialled > 1 {
					return c.second
				}
				return nil
			}
			if got := verdict(probe(t, f, standardTarget(t))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A review that is answered by nobody until the whole run is over leaves no time to ask whose silence it is.
func TestSilenceUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		f.review = func(context.Context) (chain.Review, error) {
			time.Sleep(target.Timeout + time.Second) // as on a machine that was suspended
			return chain.Review{}, context.DeadlineExceeded
		}
		if got, want := verdict(probe(t, f, target)), "unknown access_entry/read_failed ✔✔✔✔?·"; got != want || f.count("Dial "+endpoint) != 1 {
			t.Errorf("got %s after the calls %v, want %s", got, f.calls, want)
		}
	})
}
