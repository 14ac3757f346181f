// The world of the tests: targets that ran in the ways that the demo's do, in a real store behind a real server on loopback.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// now is when the pages are read.
var now = time.Date(2026, 3, 8, 3, 12, 40, 0, time.UTC)

const account = "111122223333"

// newTarget returns an access target.
func newTarget(identity, cluster string) chain.Target {
	return chain.Target{
		Name: chain.AccessName(identity, cluster), Kind: chain.KindAccess, Identity: chain.Identity{Name: identity, Source: chain.SourceIRSA},
		Cluster: chain.Cluster{Name: cluster, EKSName: cluster, Region: "eu-west-1", Observer: "platform-readonly"},
		Expect:  chain.Expect{Groups: []string{"deployers"}},
	}
}

// newRun makes a run whose steps are written as marks, such as "✔✔✖···". Its first failing, else unknown, step has the reason, the detail and the facts.
func newRun(target chain.Target, started time.Time, marks string, blamed chain.StepResult) chain.Run {
	outcomes := map[rune]chain.Outcome{'✔': chain.OutcomeSuccess, '✖': chain.OutcomeFailure, '·': chain.OutcomeSkipped, '?': chain.OutcomeUnknown}
	run := chain.Run{ID: "t7x2k1-4be1a0c9", Target: target, Slot: started, Started: started.Add(20 * time.Millisecond), Duration: 21500 * time.Microsecond}
	for i, m := range []rune(marks) {
		step := chain.StepResult{Step: target.Kind.Steps()[i], Outcome: outcomes[m]}
		if step.Outcome == chain.OutcomeFailure || step.Outcome == chain.OutcomeUnknown {
			step.Reason, step.Detail, step.Facts = blamed.Reason, blamed.Detail, blamed.Facts
		}
		if step.Outcome == chain.OutcomeSuccess {
			step.Facts = usualFacts[step.Step]
		}
		if step.Outcome != chain.OutcomeSkipped {
			step.Duration = time.Duration(i+1) * 1250 * time.Microsecond
		}
		run.Steps = append(run.Steps, step)
	}
	run.Verdict = chain.Settle(run.Steps)
	run.Verdict.Fix = chain.Fix(run.Verdict.Step, run.Verdict.Reason, run.Facts())
	return run
}

// usualFacts is what a step that works has to show.
var usualFacts = map[chain.Step]chain.Facts{
	chain.StepCredentials: {chain.FactProvider: "irsa", chain.FactOIDCIssuer: "https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE", chain.FactTokenFile: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"},
	chain.StepSTS:         {chain.FactSTSHost: "sts.eu-west-1.amazonaws.com", chain.FactClockSkew: "0s"},
	chain.StepToken:       {chain.FactAuthMode: chain.AuthModeAPI, chain.FactClusterStatus: chain.ClusterStatusActive},
	chain.StepEndpoint:    {chain.FactHost: "20AEE56847AC8CED1CED773E110B8E46.gr7.eu-west-1.eks.amazonaws.com", chain.FactTLSTime: "0.8"},
	chain.StepAccessEntry: {chain.FactUsername: "viewer:eks-slo-t7x2k1", chain.FactGroups: "viewers,system:authenticated"},
	chain.StepRBAC:        {chain.FactRulesChecked: "3"},
}

var (
	deploy  = newTarget("ci-deploy", "prod")
	release = newTarget("ci-release", "prod")
	runner  = newTarget("runner", "prod")
	viewer  = newTarget("viewer", "staging")
	auditor = newTarget("auditor", "staging")
	fresh   = newTarget("fresh", "prod")
)

var (
	notMapped = chain.StepResult{
		Reason: chain.ReasonNotMapped,
		Detail: "the token is good (STS accepts it as arn:aws:sts::" + account + ":assumed-role/ci-release/eks-slo-t7x2k1-4be1a0c9), but the cluster has no access entry for arn:aws:iam::" + account + ":role/ci-release; authentication mode is API",
		Facts: chain.Facts{
			chain.FactHTTPStatus: "401", chain.FactAuthMode: chain.AuthModeAPI, chain.FactPrincipal: "arn:aws:iam::" + account + ":role/ci-release",
			chain.FactRuledOut: "the token is valid until 03:27:25; the clock agrees with the apiserver's within 1s; STS accepts the presigned URL as arn:aws:sts::" + account + ":assumed-role/ci-release/eks-slo-t7x2k1-4be1a0c9; the signed name \"prod\" is the cluster's own",
		},
	}
	wrongPrincipal = chain.StepResult{
		Reason: chain.ReasonUnexpectedPrincipal,
		Detail: "GetCallerIdentity says arn:aws:iam::" + account + ":user/alice, not arn:aws:iam::" + account + ":user/ci-runner; the credentials work, but they are somebody else's",
		Facts:  chain.Facts{chain.FactCallerARN: "arn:aws:iam::" + account + ":user/alice", chain.FactExpectedPrincipal: "arn:aws:iam::" + account + ":user/ci-runner", chain.FactProvider: "environment"},
	}
	denied = chain.StepResult{
		Reason: chain.ReasonDenied, Detail: `user "viewer:eks-slo-t7x2k1" may not list pods`,
		Facts: chain.Facts{chain.FactRule: "list pods", chain.FactVerb: "list", chain.FactResource: "pods"},
	}
	throttled = chain.StepResult{Reason: chain.ReasonSTSThrottled, Detail: "STS throttles AssumeRole: Rate exceeded"}
)

// demoStore holds one success, three failures, one unknown and one target without an event.
func demoStore() *results.Store {
	store := results.NewStore()
	store.Retain([]chain.Target{deploy, release, runner, viewer, auditor, fresh})
	for i := range 12 {
		at := now.Add(time.Duration(i-12) * 15 * time.Second).Add(4 * time.Second)
		store.Record(newRun(deploy, at, "✔✔✔✔✔✔", chain.StepResult{}))
		if i < 3 {
			store.Record(newRun(release, at, "✔✔✔✔✔✔", chain.StepResult{}))
			continue
		}
		store.Record(newRun(release, at, "✔✔✔✔✖·", notMapped))
		store.Record(newRun(runner, at, "✖✔····", wrongPrincipal))
		store.Record(newRun(viewer, at, "✔✔✔✔✔✖", denied))
		store.Record(newRun(auditor, at, "✔?····", throttled))
	}
	return store
}

// one returns a store with one target and its only run.
func one(run chain.Run) *results.Store {
	store := results.NewStore()
	store.Retain([]chain.Target{run.Target})
	store.Record(run)
	return store
}

// options are those of a healthy server over a store.
func options(store Results) Options {
	return Options{
		Results: store, Ready: func() bool { return true }, Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler),
		Reload:  func() error { return nil },
		Queries: http.NotFoundHandler(),
		Budgets: &gatesOf{},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "eks_access_up 1\n") }),
	}
}

// site is a server on loopback.
type site struct {
	*testing.T
	*httptest.Server
}

func serve(t *testing.T, o Options) site {
	t.Helper()
	s := httptest.NewServer(newHandler(t, o))
	t.Cleanup(s.Close)
	return site{t, s}
}

// do sends a request and returns the answer with its whole body.
func (s site) do(method, path string, header http.Header) (*http.Response, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	request.Header = header
	response, err := s.Client().Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil && !errors.Is(err, io.EOF) {
		s.Fatal(err)
	}
	return response, body.String()
}

// get returns a page that must be there.
func (s site) get(path string) string {
	s.Helper()
	response, body := s.do(http.MethodGet, path, nil)
	if response.StatusCode != http.StatusOK {
		s.Fatalf("GET %s: %s: %s", path, response.Status, body)
	}
	return body
}

// newHandler makes a handler whose options are whole.
func newHandler(t testing.TB, o Options) http.Handler {
	t.Helper()
	handler, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}
