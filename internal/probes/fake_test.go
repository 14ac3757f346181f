// The fake is one scripted world behind all of the package's interfaces; each test changes the one answer it is about.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	roleARN    = "arn:aws:iam::111122223333:role/ci-deploy"
	sessionARN = "arn:aws:sts::111122223333:assumed-role/ci-deploy/run-1"
	clusterARN = "arn:aws:eks:eu-west-1:111122223333:cluster/prod"
	endpoint   = "https://ABC.gr7.eu-west-1.eks.amazonaws.com"
)

// fake answers every interface. The zero answers are set by newFake to a healthy world.
type fake struct {
	mu    sync.Mutex
	calls []string

	loginErr, assumeErr, callerErr, tokenErr error
	arn                                      string
	expires                                  time.Time
	signed                                   time.Time
	host                                     string
	replayErr                                error
	replayTakes                              time.Duration

	cluster     func() (chain.ClusterInfo, error)
	entry       *chain.AccessEntry
	entryErr    error
	known       map[string]chain.AccessEntry // entries by ARN, beside entry
	entries     []string
	policies    []chain.AccessPolicy
	policiesErr error
	created     time.Time // of the principal; zero: IAM does not tell
	iamHangs    bool
	observeErr  error
	observer    *observerFate // nil: the observer is the very principal of the identity, and fares like it

	dial      func(Endpoint) error
	address   string // that was dialled
	review    func(context.Context) (chain.Review, error)
	access    func(chain.Rule) (chain.Decision, error)
	dryRun    func(chain.Rule) error
	auth      *chain.AWSAuth
	authErr   error
	servesOwn bool
}

// observerFate is an observer of its own, readerARN.
type observerFate struct {
	review func(context.Context) (chain.Review, error)
	mapped bool
	replay error
}

// readerARN is the observer's role, and observerMark tells its tokens from the identity's.
const (
	readerARN    = "arn:aws:iam::111122223333:role/reader"
	observerMark = "the observer's"
)

func newFake() *fake {
	return &fake{
		arn:     sessionARN,
		expires: time.Now().Add(15 * time.Minute),
		host:    "sts.eu-west-1.amazonaws.com",
		cluster: func() (chain.ClusterInfo, error) { return healthyCluster(), nil },
		dial:    func(Endpoint) error { return nil },
		review: func(context.Context) (chain.Review, error) {
			return chain.Review{Username: "ci:run-1", Groups: []string{"deployers", "system:authenticated"}}, nil
		},
		access: func(r chain.Rule) (chain.Decision, error) {
			return chain.Decision{Allowed: r.Resource != "secrets"}, nil
		},
		servesOwn: true,
	}
}

func healthyCluster() chain.ClusterInfo {
	return chain.ClusterInfo{Name: "prod", ARN: clusterARN, Status: chain.ClusterStatusActive, Endpoint: endpoint, CA: []byte("ca"), AuthMode: chain.AuthModeAPI}
}

func (f *fake) called(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
}

func (f *fake) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (f *fake) Login(context.Context, LoginRequest) (Login, error) {
	f.called("Login")
	return f, f.loginErr
}

func (f *fake) Facts() chain.Facts { return chain.Facts{chain.FactProvider: "fake"} }

func (f *fake) Assume(context.Context) (Session, error) {
	f.called("Assume")
	return f, f.assumeErr
}

func (f *fake) Caller(context.Context) (chain.Principal, error) {
	f.called("Caller")
	return chain.Principal{ARN: f.arn, AccountID: "111122223333", UserID: "AROAEXAMPLE:run-1"}, f.callerErr
}

func (f *fake) Expires() time.Time { return f.expires }

// Token serves Session; observerFake has the Token of an Observer.
func (f *fake) Token(_ context.Context, cluster string) (chain.Token, error) {
	signed := f.signed
	if signed.IsZero() {
		signed = time.Now()
	}
	u := fmt.Sprintf("https://%s/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=c&X-Amz-Date=%s"+
		"&X-Amz-Expires=60&X-Amz-SignedHeaders=host%%3Bx-k8s-aws-id&X-Amz-Signature=s", f.host, signed.UTC().Format(amzDate))
	expires := signed.Add(chain.TokenLifetime)
	if f.expires.Before(expires) {
		expires = f.expires
	}
	return chain.Token{Value: chain.NewSecret(tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(u))), URL: chain.NewSecret(u), ClusterName: cluster, Signed: signed, Expires: expires}, f.tokenErr
}

func (f *fake) Replay(_ context.Context, token chain.Token, _ string) (chain.Principal, error) {
	f.called("Replay")
	if f.observer != nil && token.ClusterName == observerMark {
		return chain.Principal{ARN: "arn:aws:sts::111122223333:assumed-role/reader/run"}, f.observer.replay
	}
	if f.replayTakes > 0 {
		<-time.After(f.replayTakes)
	}
	return chain.Principal{ARN: f.arn}, f.replayErr
}

// observerFake is the fake as Observer.
type observerFake struct{ *fake }

func (o observerFake) Cluster(context.Context, chain.Target) (chain.ClusterInfo, error) {
	o.called("DescribeCluster")
	return o.cluster()
}

func (o observerFake) AccessEntry(_ context.Context, _ chain.Target, principal string) (chain.AccessEntry, bool, error) {
	o.called("DescribeAccessEntry " + principal)
	if o.observer != nil && principal == readerARN {
		return chain.AccessEntry{PrincipalARN: readerARN}, o.observer.mapped, o.entryErr
	}
	if entry, ok := o.known[principal]; ok {
		return entry, true, o.entryErr
	}
	if o.entry == nil {
		return chain.AccessEntry{}, false, o.entryErr
	}
	return *o.entry, true, o.entryErr
}

func (o observerFake) AccessEntries(context.Context, chain.Target) ([]string, error) {
	o.called("ListAccessEntries")
	all := slices.Clone(o.entries)
	all = slices.AppendSeq(all, maps.Keys(o.known))
	if o.entry != nil {
		all = append(all, o.entry.PrincipalARN)
	}
	if o.observer != nil && o.observer.mapped {
		all = append(all, readerARN)
	}
	return all, o.entryErr
}

func (o observerFake) Token(ctx context.Context, target chain.Target) (chain.Token, error) {
	if o.observeErr != nil {
		return chain.Token{}, o.observeErr
	}
	token, err := o.fake.Token(ctx, target.Cluster.EKSName)
	token.ClusterName = observerMark
	return token, err
}

func (o observerFake) AccessPolicies(context.Context, chain.Target, string) ([]chain.AccessPolicy, error) {
	o.called("ListAssociatedAccessPolicies")
	return o.policies, o.policiesErr
}

func (o observerFake) Created(ctx context.Context, _ chain.Target, _ chain.Principal) (time.Time, error) {
	o.called("GetRole")
	if o.iamHangs {
		<-ctx.Done()
	}
	if o.created.IsZero() {
		return time.Time{}, chain.Unsure(chain.ReasonObserverDenied, "iam:GetRole", nil, nil)
	}
	return o.created, nil
}

func (f *fake) Dial(_ context.Context, e Endpoint) (Conn, chain.Facts, error) {
	f.called("Dial " + e.URL)
	if err := f.dial(e); err != nil {
		return nil, chain.Facts{chain.FactHost: hostOf(e.URL), chain.FactAddress: f.address}.Merge(), err
	}
	return f, chain.Facts{chain.FactHost: hostOf(e.URL)}, nil
}

func (f *fake) Review(ctx context.Context, token chain.Token) (chain.Review, error) {
	f.called("Review")
	if f.observer != nil && token.ClusterName == observerMark {
		return f.observer.review(ctx)
	}
	return f.review(ctx)
}

func (f *fake) Access(_ context.Context, _ chain.Token, rule chain.Rule) (chain.Decision, error) {
	f.called("Access " + rule.String())
	return f.access(rule)
}

func (f *fake) DryRun(_ context.Context, _ chain.Token, write chain.DryRun) error {
	f.called("DryRun " + write.Rule.String())
	return f.dryRun(write.Rule)
}

func (f *fake) AWSAuth(context.Context, chain.Token) (chain.AWSAuth, bool, error) {
	f.called("AWSAuth")
	if f.auth == nil {
		return chain.AWSAuth{}, false, f.authErr
	}
	return *f.auth, true, f.authErr
}

func (f *fake) ServedBy([]byte) bool { return f.servesOwn }

func (f *fake) Close() { f.called("Close") }

// standardTarget is ci-deploy@prod with one allow and one deny rule.
func standardTarget(t *testing.T) chain.Target {
	t.Helper()
	return chain.Target{
		Name: "ci-deploy@prod", Kind: chain.KindAccess,
		Identity: chain.Identity{Name: "ci-deploy", Source: chain.SourceEnvironment, Hops: []chain.Hop{{RoleARN: roleARN, Duration: 15 * time.Minute}}},
		Cluster:  chain.Cluster{Name: "prod", EKSName: "prod", Region: "eu-west-1", Observer: "reader"},
		Observer: chain.Identity{Name: "reader", Source: chain.SourceEnvironment},
		Expect:   chain.Expect{Username: "ci:{{SessionName}}", Groups: []string{"deployers"}},
		Allow:    []chain.Rule{rule(t, "create apps/deployments in shop")},
		Deny:     []chain.Rule{rule(t, "get secrets in kube-system")},
		Interval: 15 * time.Second, Timeout: 10 * time.Second,
	}
}

func rule(t *testing.T, expression string) chain.Rule {
	t.Helper()
	r, err := chain.ParseRule(expression)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newProber(t *testing.T, f *fake) *Prober {
	t.Helper()
	p, err := New(fakeOptions(f, newALBFake()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// probe runs the target once in a new prober.
func probe(t *testing.T, f *fake, target chain.Target) chain.Run {
	t.Helper()
	run, err := newProber(t, f).Run(t.Context(), target, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	checkVerdict(t, run)
	return run
}

// checkVerdict holds what every verdict must be: a pair on the closed list, of a failure in the row of its step and of an unknown in the prober's own, with its fix.
func checkVerdict(t *testing.T, run chain.Run) {
	t.Helper()
	v, place := run.Verdict, run.Verdict.Step
	if v.Outcome == chain.OutcomeSuccess {
		return
	}
	if v.Outcome == chain.OutcomeUnknown {
		place = chain.StepNone
	}
	if row, ok := chain.LookupReason(v.Step, v.Reason); !ok || row.Step != place || v.Fix == "" {
		t.Errorf("%s is not on the closed list, or has no fix: %+v", verdict(run), v)
	}
}

// verdict is what tests compare: the whole of a run's decision in one line, such as "failure sts/assume_role_denied ✔✖····".
func verdict(run chain.Run) string {
	marks := map[chain.Outcome]string{chain.OutcomeSuccess: "✔", chain.OutcomeFailure: "✖", chain.OutcomeUnknown: "?", chain.OutcomeSkipped: "·"}
	line := fmt.Sprintf("%s %s/%s ", run.Verdict.Outcome, run.Verdict.Step, run.Verdict.Reason)
	for _, s := range run.Steps {
		line += marks[s.Outcome]
	}
	return line
}

func fail(step chain.Step, reason chain.Reason) error {
	return chain.Fail(step, reason, "as told", nil, nil)
}

func encode(raw string) string { return base64.RawURLEncoding.EncodeToString([]byte(raw)) }

func compareShape(t *testing.T, value, want string) {
	t.Helper()
	err := tokenShape(value, "eu-west-1")
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v, want the token to be good", err)
	case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
		t.Errorf("got %v, want %s", err, want)
	}
}
