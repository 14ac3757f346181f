// Tests of judging the authorizer's answers.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestRBAC(t *testing.T) {
	decide := func(d chain.Decision, err error) func(chain.Rule) (chain.Decision, error) {
		return func(chain.Rule) (chain.Decision, error) { return d, err }
	}
	cases := map[string]struct {
		change       func(*fake, *chain.Target)
		want, detail string
	}{
		"an allow rule is denied": {func(f *fake, _ *chain.Target) { f.access = decide(chain.Decision{}, nil) }, "failure rbac/denied ✔✔✔✔✔✖",
			`user "ci:run-1" may not create apps/deployments in shop`},
		"the authorizer says why": {func(f *fake, _ *chain.Target) {
			f.access = decide(chain.Decision{Reason: "no RBAC policy matched"}, nil)
		}, "failure rbac/denied ✔✔✔✔✔✖",
			`user "ci:run-1" may not create apps/deployments in shop (no RBAC policy matched)`},
		"C47 the bound role does not exist": {func(f *fake, _ *chain.Target) {
			f.access = decide(chain.Decision{Reason: "its own words", MissingRole: "clusterrole/deploier"}, nil)
		}, "failure rbac/rbac_role_not_found ✔✔✔✔✔✖", `user "ci:run-1" may not create apps/deployments in shop: a binding names clusterrole/deploier, which does not exist (its own words)`},
		"a deny rule is allowed": {func(f *fake, _ *chain.Target) {
			f.access = decide(chain.Decision{Allowed: true, Reason: "RBAC: allowed by X"}, nil)
		},
			"failure rbac/excess_permission ✔✔✔✔✔✖", `user "ci:run-1" may get secrets in kube-system, which must be denied (RBAC: allowed by X)`},
		"a missing right goes before an excess one, and further ones are told": {func(f *fake, tg *chain.Target) {
			tg.Allow = append(tg.Allow, rule(t, "list nodes"))
			f.access = func(r chain.Rule) (chain.Decision, error) {
				return chain.Decision{Allowed: r.Resource == "secrets"}, nil
			}
		}, "failure rbac/denied ✔✔✔✔✔✖", `user "ci:run-1" may not create apps/deployments in shop, nor is it as declared for: list nodes`},
		"a review that the server does not answer is the endpoint's": {func(f *fake, _ *chain.Target) { f.access = decide(chain.Decision{}, context.DeadlineExceeded) },
			"failure endpoint/http_timeout ✔✔✔✖✔·", "the apiserver stopped answering when asked whether the identity may create apps/deployments in shop"},
		"a 401 after an accepted token": {func(f *fake, _ *chain.Target) { f.access = decide(chain.Decision{}, &Unauthorized{}) },
			"failure access_entry/unauthorized_unexplained ✔✔✔✔✖·",
			"the token was accepted at first and refused when asking whether it may create apps/deployments in shop: apiservers behind the endpoint disagree"},
		"a dry-run write is refused": {func(f *fake, tg *chain.Target) {
			tg.DryRun = []chain.DryRun{{Rule: rule(t, "create configmaps in shop")}}
			f.dryRun = func(chain.Rule) error { return fail(chain.StepRBAC, chain.ReasonAdmissionDenied) }
		}, "failure rbac/admission_denied ✔✔✔✔✔✖", "as told"},
		"a proved denial goes before a review without an answer": {func(f *fake, tg *chain.Target) {
			tg.Allow = append(tg.Allow, rule(t, "list nodes"))
			f.access = func(r chain.Rule) (chain.Decision, error) {
				if r.Resource == "nodes" {
					return chain.Decision{}, nil
				}
				return chain.Decision{}, notMeasurable()
			}
		}, "failure rbac/denied ✔✔✔✔✔✖", `user "ci:run-1" may not list nodes`},
		"a failure among the unanswered goes before an unknown": {func(f *fake, tg *chain.Target) {
			tg.Allow = append(tg.Allow, rule(t, "list nodes"))
			f.access = func(r chain.Rule) (chain.Decision, error) {
				if r.Resource == "nodes" {
					return chain.Decision{}, &Unauthorized{}
				}
				return chain.Decision{}, notMeasurable()
			}
		}, "failure access_entry/unauthorized_unexplained ✔✔✔✔✖·", "the token was accepted at first and refused when asking whether it may list nodes: apiservers behind the endpoint disagree"},
		"a dry run that cannot be tried does not hide the next": {func(f *fake, tg *chain.Target) {
			f.dryRun = twoWrites(t, tg, notMeasurable(), fail(chain.StepRBAC, chain.ReasonAdmissionDenied))
		}, "failure rbac/admission_denied ✔✔✔✔✔✖", "as told"},
		"a review without an answer does not hide a write": {func(f *fake, tg *chain.Target) {
			f.access = decide(chain.Decision{}, notMeasurable())
			f.dryRun = twoWrites(t, tg, nil, fail(chain.StepRBAC, chain.ReasonAdmissionDenied))
		}, "failure rbac/admission_denied ✔✔✔✔✔✖", "as told"},
		"nothing decided: the first that could not be told": {func(f *fake, tg *chain.Target) {
			f.dryRun = twoWrites(t, tg, notMeasurable(), chain.Unsure(chain.ReasonReadFailed, "the second", nil, nil))
		}, "unknown rbac/not_measurable ✔✔✔✔✔?", "no answer"},
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

func notMeasurable() error {
	return chain.Unsure(chain.ReasonNotMeasurable, "no answer", nil, nil)
}

// twoWrites gives the target two dry runs, which come to these.
func twoWrites(t *testing.T, target *chain.Target, first, second error) func(chain.Rule) error {
	t.Helper()
	target.DryRun = []chain.DryRun{{Rule: rule(t, "create pods/exec in shop")}, {Rule: rule(t, "create configmaps in shop")}}
	return func(r chain.Rule) error {
		if r.Resource == "configmaps" {
			return second
		}
		return first
	}
}

func TestRulesAreAskedAtOnce(t *testing.T) {
	f, target := newFake(), standardTarget(t)
	for range 20 {
		target.Allow = append(target.Allow, rule(t, "list nodes"))
	}
	asked := make(chan struct{}, 64)
	all := make(chan struct{})
	f.access = func(r chain.Rule) (chain.Decision, error) {
		if asked <- struct{}{}; len(asked) == 22 { // the last one frees them all: one after the other, none would end
			close(all)
		}
		select {
		case <-all:
			return chain.Decision{Allowed: r.Resource != "secrets"}, nil
		case <-time.After(10 * time.Second):
			return chain.Decision{}, context.DeadlineExceeded
		}
	}
	if got := verdict(probe(t, f, target)); got != healthy {
		t.Errorf("got %s, want %s", got, healthy)
	}
}
