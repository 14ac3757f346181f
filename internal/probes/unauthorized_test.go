// Tests of the search for the cause of a 401.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Every case is a 401 at the review; what differs is the evidence that is found afterwards.
func TestExplainUnauthorized(t *testing.T) {
	mode := func(mode string) func() (chain.ClusterInfo, error) {
		return func() (chain.ClusterInfo, error) {
			info := healthyCluster()
			info.AuthMode = mode
			return info, nil
		}
	}
	const refused = "✔✔✔✔✖·"
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
		detail string // a part of it
	}{
		"C37 no entry in mode API": {func(*fake, *chain.Target) {}, "failure access_entry/not_mapped " + refused, "the cluster has no access entry for " + roleARN},
		"C37 no line in mode CONFIG_MAP": {func(f *fake, _ *chain.Target) {
			f.cluster, f.auth = mode(chain.AuthModeConfigMap), &chain.AWSAuth{}
		}, "failure access_entry/not_mapped " + refused, "no line in aws-auth"},
		"C37 neither in the combined mode": {func(f *fake, _ *chain.Target) { f.cluster = mode(chain.AuthModeAPIAndConfigMap) },
			"failure access_entry/not_mapped " + refused, "neither an access entry nor a line in aws-auth"},
		"the session ended meanwhile": {func(f *fake, _ *chain.Target) {
			f.replayErr = fail(chain.StepSTS, chain.ReasonCredentialsExpired)
		}, "failure token/token_signing_credentials_expired ✔✔✖✔··", "STS refuses the presigned URL"},
		"STS does not know the key": {func(f *fake, _ *chain.Target) { f.replayErr = fail(chain.StepSTS, chain.ReasonCredentialsInvalid) },
			"failure sts/credentials_invalid ✔✖✔✔··", "STS refuses the presigned URL"},
		"STS finds the clock ahead": {func(f *fake, _ *chain.Target) { f.replayErr = fail(chain.StepSTS, chain.ReasonClockAhead) },
			"failure access_entry/clock_skew_presigned " + refused, "STS refuses the presigned URL"},
		"EKS knows no such cluster, yet an apiserver answers": {func(f *fake, tg *chain.Target) {
			tg.Cluster.Endpoint, tg.Cluster.CAFile = endpoint, "unauthorized_test.go" // all configured: EKS is asked after the 401 alone; the fake reads no PEM
			f.cluster = func() (chain.ClusterInfo, error) {
				return chain.ClusterInfo{}, fail(chain.StepToken, chain.ReasonClusterNotFound)
			}
		}, "failure token/cluster_id_mismatch ✔✔✖✔··", "EKS knows no cluster \"prod\" in eu-west-1"},
		"the configured server is another cluster's": {func(f *fake, tg *chain.Target) {
			tg.Cluster.Endpoint, f.servesOwn = "https://other.example.com", false
		}, "failure token/cluster_id_mismatch ✔✔✖✔··", "certificate of another cluster than prod"},
		"a private name for the same server is no mismatch": {func(_ *fake, tg *chain.Target) { tg.Cluster.Endpoint = "https://lb.example.com" },
			"failure access_entry/not_mapped " + refused, ""},
		"EKS spells the name otherwise": {func(f *fake, _ *chain.Target) {
			f.cluster = func() (chain.ClusterInfo, error) {
				info := healthyCluster()
				info.Name = "Prod"
				return info, nil
			}
		}, "failure token/cluster_id_mismatch ✔✔✖✔··", `the token is signed for "prod", and EKS calls the cluster "Prod"`},
		"an entry exists and nobody else got in: no guess": {func(f *fake, _ *chain.Target) { f.entry = &chain.AccessEntry{PrincipalARN: roleARN} },
			"failure access_entry/unauthorized_unexplained " + refused, "the access entry of " + roleARN + " exists"},
		"an entry with a path that the configuration does not know": {func(f *fake, _ *chain.Target) {
			f.entries = []string{"arn:aws:iam::111122223333:role/team/ci-deploy"}
		}, "failure access_entry/unauthorized_unexplained " + refused, "the access entry of arn:aws:iam::111122223333:role/team/ci-deploy exists"},
		"the entries cannot be read": {func(f *fake, _ *chain.Target) {
			f.entryErr = chain.Unsure(chain.ReasonObserverDenied, "eks:DescribeAccessEntry", nil, nil)
		},
			"failure access_entry/unauthorized_unexplained " + refused, "could not be read: the access entry: observer_denied"},
		"aws-auth cannot be read": {func(f *fake, _ *chain.Target) {
			f.cluster, f.authErr = mode(chain.AuthModeConfigMap), chain.Unsure(chain.ReasonObserverDenied, "forbidden", nil, nil)
		}, "failure access_entry/unauthorized_unexplained " + refused, "could not be read: aws-auth"},
		"the observer cannot sign in for aws-auth": {func(f *fake, _ *chain.Target) {
			f.cluster, f.observeErr = mode(chain.AuthModeConfigMap), chain.Unsure(chain.ReasonObserverUnavailable, "no token", nil, nil)
		}, "failure access_entry/unauthorized_unexplained " + refused, "could not be read: aws-auth"},
		"nobody can look": {func(_ *fake, tg *chain.Target) {
			tg.Cluster.Observer, tg.Cluster.Endpoint = "", endpoint
		}, "failure access_entry/unauthorized_unexplained " + refused, "the cluster has no observer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			f.review = reviewFails(&Unauthorized{Date: time.Now()})
			c.change(f, &target)
			run := probe(t, f, target)
			if got := verdict(run); got != c.want {
				t.Errorf("got  %s\nwant %s (%s)", got, c.want, run.Verdict.Detail)
			}
			if !strings.Contains(run.Verdict.Detail, c.detail) {
				t.Errorf("detail is %q, want %q in it", run.Verdict.Detail, c.detail)
			}
		})
	}
}

func TestClockOfTheAPIServer(t *testing.T) {
	for name, c := range map[string]struct {
		skew time.Duration
		want string
	}{
		"six minutes ahead":    {6 * time.Minute, "failure access_entry/clock_skew_presigned ✔✔✔✔✖·"},
		"four minutes ahead":   {4 * time.Minute, "failure access_entry/not_mapped ✔✔✔✔✖·"},
		"fourteen behind":      {-14 * time.Minute, "failure access_entry/not_mapped ✔✔✔✔✖·"},
		"a quarter hour after": {-16 * time.Minute, "failure access_entry/clock_skew_presigned ✔✔✔✔✖·"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.review = reviewFails(&Unauthorized{Date: time.Now().Add(-c.skew)})
			if got := verdict(probe(t, f, standardTarget(t))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The entry is there, and somebody else has got in since the refusal: what is left is a principal that was made anew. An acceptance from before shows nothing, since all may be refused by now.
func TestRecreatedPrincipalByElimination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		f.expires = time.Now().Add(time.Hour)
		f.entry = &chain.AccessEntry{PrincipalARN: roleARN}
		p := newProber(t, f)
		control := target
		control.Name, control.Identity.Name = "control@prod", "control"
		accept, refuse := f.review, reviewFails(&Unauthorized{})
		const unexplained, recreated = "failure access_entry/unauthorized_unexplained ✔✔✔✔✖·", "failure access_entry/access_entry_principal_recreated ✔✔✔✔✖·"
		for _, step := range []struct {
			target chain.Target
			review func(context.Context) (chain.Review, error)
			want   string
		}{
			{control, accept, healthy},
			{target, refuse, unexplained}, // the control got in before this refusal: the authenticator may have broken since
			{control, refuse, unexplained},
			{target, refuse, unexplained},
			{control, accept, healthy},
			{target, refuse, recreated},
			{target, accept, healthy},
			{target, refuse, unexplained},
		} {
			time.Sleep(time.Second)
			f.review = step.review
			run, err := p.Run(t.Context(), step.target, time.Now())
			if got := verdict(run); err != nil || got != step.want {
				t.Errorf("%s: got %s (%v), want %s", step.target.Name, got, err, step.want)
			}
		}
	})
}

func TestRuledOutIsTold(t *testing.T) {
	f := newFake()
	f.review = reviewFails(&Unauthorized{Date: time.Now()})
	run := probe(t, f, standardTarget(t))
	told := run.Facts()[chain.FactRuledOut]
	for _, want := range []string{"the token is valid until", "the clock agrees", "STS accepts the presigned URL as " + sessionARN, `the signed name "prod" is the cluster's own`} {
		if !strings.Contains(told, want) {
			t.Errorf("ruled out %q, want %q in it", told, want)
		}
	}
}
