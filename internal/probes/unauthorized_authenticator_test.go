// Tests of telling a principal made anew from an authenticator in trouble.
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

// after delays an answer of the apiserver.
func after(wait time.Duration, review func(context.Context) (chain.Review, error)) func(context.Context) (chain.Review, error) {
	return func(ctx context.Context) (chain.Review, error) {
		select {
		case <-time.After(wait):
			return review(ctx)
		case <-ctx.Done():
			return chain.Review{}, ctx.Err()
		}
	}
}

// Every case is a principal with an entry that is refused; the observer, IAM and STS say what they say.
func TestRefusedDespiteAnEntry(t *testing.T) {
	const (
		refused, slow = 10 * time.Millisecond, 4200 * time.Millisecond
		unexplained   = "unauthorized_unexplained"
		recreated     = "access_entry_principal_recreated"
		down          = "authenticator_unavailable"
		busy          = "authenticator_throttled"
	)
	no, yes := reviewFails(&Unauthorized{}), reviewSays("reader", "readers")
	cases := map[string]struct {
		took     time.Duration // the identity's own refusal
		observer *observerFate // nil: it is the very principal that is refused
		change   func(*fake)
		want     string
		detail   string
	}{
		"C43 two mapped principals are refused":      {refused, &observerFate{review: no, mapped: true}, nil, down, "STS accepts both tokens, and the apiserver refuses both"},
		"C43 the observer has no entry":              {refused, &observerFate{review: no}, nil, unexplained, "how the observer reader fares: not_measurable: it is refused too, and has no access entry"},
		"C43 the observer is the same":               {refused, nil, nil, unexplained, "it is the very principal that was refused"},
		"C43 STS refuses the observer's":             {refused, &observerFate{review: no, mapped: true, replay: fail(chain.StepSTS, chain.ReasonCredentialsExpired)}, nil, unexplained, "credentials_expired"},
		"C43 something stands before":                {refused, &observerFate{review: no, mapped: true}, func(f *fake) { f.servesOwn = false }, unexplained, "not of the cluster's own authority"},
		"C43 the observer's is not answered":         {refused, &observerFate{review: reviewFails(fail(chain.StepEndpoint, chain.ReasonAPIServerError))}, nil, unexplained, "how the observer reader fares: endpoint/apiserver_error"},
		"C43 the observer has no token":              {refused, &observerFate{review: yes}, func(f *fake) { f.observeErr = chain.Unsure(chain.ReasonObserverUnavailable, "no", nil, nil) }, unexplained, "how the observer reader fares: observer_unavailable"},
		"C43 the observer arrives as nobody":         {refused, &observerFate{review: reviewSays("system:anonymous")}, nil, unexplained, ""},
		"both refused after retries":                 {slow, &observerFate{review: no, mapped: true}, nil, busy, "the apiserver refuses both, after 4.2s"},
		"refused after retries, as STS throttles":    {slow, nil, throttle, busy, "the refusal took 4.2s"},
		"STS throttles only us":                      {refused, nil, throttle, unexplained, "could not be read: replaying the presigned URL: sts_throttled"},
		"refused after retries, the observer is not": {slow, &observerFate{review: yes}, nil, unexplained, "(it took 4.2s, as when it asks its authenticator again and again)"},
		"refused after retries, then at once":        {slow, &observerFate{review: yes}, func(f *fake) { f.review = inTurn(after(slow, no), after(refused, no)) }, unexplained, "(it took 4.2s"},
		"STS itself is that slow":                    {slow, &observerFate{review: no, mapped: true}, func(f *fake) { f.replayTakes = slow }, down, ""},
		"the observer gets in": {refused, &observerFate{review: yes}, nil, recreated,
			"the access entry of " + roleARN + " exists, everything else holds, and the observer reader has got in since: the entry is bound to a former principal of the same name"},
		"IAM: younger than its entry": {refused, nil, func(f *fake) { f.created = f.entry.Created.Add(time.Hour) }, recreated,
			"was made at 1999-12-31T00:00:00Z, and the principal at 1999-12-31T01:00:00Z, as IAM tells"},
		"IAM: younger, whatever else":          {slow, &observerFate{review: no, mapped: true}, func(f *fake) { f.created = f.entry.Created.Add(time.Hour) }, recreated, "as IAM tells"},
		"IAM: older, and the observer gets in": {refused, &observerFate{review: yes}, func(f *fake) { f.created = f.entry.Created.Add(-time.Hour) }, unexplained, "the principal is older than its entry"},
		"IAM: older, and nobody gets in":       {refused, &observerFate{review: no, mapped: true}, func(f *fake) { f.created = f.entry.Created.Add(-time.Hour) }, down, ""},
		"the entry is quite new": {refused, &observerFate{review: yes}, func(f *fake) { f.entry.Created = time.Now().Add(-time.Minute) }, unexplained,
			"and may not be in force everywhere"},
		"an entry that does not tell its age":   {refused, nil, func(f *fake) { f.created, f.entry.Created = time.Now(), time.Time{} }, unexplained, ""},
		"refused at first, accepted when asked": {refused, &observerFate{review: yes}, func(f *fake) { f.review = inTurn(after(refused, no), yes) }, unexplained, "the same token is accepted now: the refusal was of a moment"},
		"refused at once, then after retries":   {refused, &observerFate{review: yes}, func(f *fake) { f.review = inTurn(after(refused, no), after(slow, no)) }, unexplained, ""},
		"refused at first, then not answered":   {refused, &observerFate{review: yes}, func(f *fake) { f.review = inTurn(after(refused, no), reviewFails(context.DeadlineExceeded)) }, unexplained, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.entry = &chain.AccessEntry{PrincipalARN: roleARN, Created: time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)}
				f.observer, f.review = c.observer, after(c.took, no)
				if c.change != nil {
					c.change(f)
				}
				run := probe(t, f, standardTarget(t))
				if got, want := verdict(run), "failure access_entry/"+c.want+" ✔✔✔✔✖·"; got != want || !strings.Contains(run.Verdict.Detail, c.detail) {
					t.Errorf("got  %s: %s\nwant %s: …%s…", got, run.Verdict.Detail, want, c.detail)
				}
			})
		})
	}
}

func throttle(f *fake) {
	f.replayErr = chain.Unsure(chain.ReasonSTSThrottled, "Rate exceeded", nil, nil)
}

// inTurn answers as the first does, then always as the second.
func inTurn(first, then func(context.Context) (chain.Review, error)) func(context.Context) (chain.Review, error) {
	asked := 0
	return func(ctx context.Context) (chain.Review, error) {
		if asked++; asked > 1 {
			return then(ctx)
		}
		return first(ctx)
	}
}

// What is certain is not waited for any longer: IAM has told, and the observer's review hangs.
func TestIAMIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.entry, f.review = &chain.AccessEntry{PrincipalARN: roleARN, Created: time.Now().Add(-time.Hour)}, reviewFails(&Unauthorized{})
		f.created, f.observer = time.Now(), &observerFate{review: after(time.Hour, reviewFails(&Unauthorized{}))}
		began := time.Now()
		if got, want := verdict(probe(t, f, standardTarget(t))), "failure access_entry/access_entry_principal_recreated ✔✔✔✔✖·"; got != want || time.Since(began) != 0 {
			t.Errorf("got %s after %s, want %s at once", got, time.Since(began), want)
		}
	})
}

// A line of aws-auth that is right shows nothing by itself, unless STS says what keeps the authenticator busy.
func TestThrottledWithALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.cluster = func() (chain.ClusterInfo, error) {
			info := healthyCluster()
			info.AuthMode = chain.AuthModeConfigMap
			return info, nil
		}
		f.auth = &chain.AWSAuth{Roles: []chain.Mapping{{ARN: roleARN, Username: "ci"}}}
		f.review = after(4*time.Second, reviewFails(&Unauthorized{}))
		throttle(f)
		run := probe(t, f, standardTarget(t))
		if got, want := verdict(run), "failure access_entry/authenticator_throttled ✔✔✔✔✖·"; got != want {
			t.Errorf("got %s, want %s: %s", got, want, run.Verdict.Detail)
		}
	})
}

// A run that ends before the apiserver has given its webhook up: STS' own word tells.
func TestSilenceOfAThrottledAuthenticator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		target.Timeout = 3 * time.Second
		f.review = after(4*time.Second, reviewFails(&Unauthorized{}))
		throttle(f)
		run := probe(t, f, target)
		if got, want := verdict(run), "failure access_entry/authenticator_throttled ✔✔✔✔✖·"; got != want {
			t.Errorf("got %s, want %s: %s", got, want, run.Verdict.Detail)
		}
	})
}

// IAM that cannot be reached uses up two seconds, not the run.
func TestIAMDoesNotUseUpTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.entry, f.iamHangs, f.review = &chain.AccessEntry{PrincipalARN: roleARN}, true, reviewFails(&Unauthorized{})
		began := time.Now()
		run := probe(t, f, standardTarget(t))
		if got, want := verdict(run), "failure access_entry/unauthorized_unexplained ✔✔✔✔✖·"; got != want || time.Since(began) != 2*time.Second {
			t.Errorf("got %s after %s, want %s after 2s", got, time.Since(began), want)
		}
	})
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
