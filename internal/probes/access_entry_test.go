// Tests of what the cluster makes of an accepted token.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"testing"

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

func TestSilenceOfTheWholeServerIsTheEndpoints(t *testing.T) {
	f := newFake()
	f.review = reviewFails(context.DeadlineExceeded)
	dialled := 0
	f.dial = func(Endpoint) error {
		if dialled++; dialled > 1 {
			return fail(chain.StepEndpoint, chain.ReasonHTTPTimeout)
		}
		return nil
	}
	if got, want := verdict(probe(t, f, standardTarget(t))), "failure endpoint/http_timeout ✔✔✔✖··"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
