// The observer's reads against a real EKS API on loopback, and the session that they share.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// target is the cluster, seen by an observer that assumes the reader role.
func (w *world) target(cluster string) chain.Target {
	w.key()
	return chain.Target{
		Cluster:  chain.Cluster{Name: cluster, EKSName: cluster, Region: region, Observer: "reader"},
		Observer: chain.Identity{Name: "reader", Source: chain.SourceEnvironment, SessionPolicy: chain.SessionPolicyDenyAll, Hops: []chain.Hop{{RoleARN: readerARN}}},
	}
}

func (w *world) cluster(entries ...string) {
	w.state.Change(func(s *sandbox.State) {
		cluster := &sandbox.Cluster{
			Name: "prod", AccountID: account, Region: region, Status: chain.ClusterStatusActive, AuthMode: chain.AuthModeAPI,
			Endpoint: "https://prod.example.com", CAPEM: []byte("the authority"), OIDCIssuer: issuer, Entries: map[string]*sandbox.Entry{},
		}
		for _, arn := range entries {
			cluster.Entries[arn] = &sandbox.Entry{AccessEntry: chain.AccessEntry{
				PrincipalARN: arn, Username: "ci:{{SessionName}}", Groups: []string{"deployers"}, Type: "STANDARD", Created: time.Unix(1_700_000_000, 0).UTC(),
			}}
		}
		s.Clusters["prod"] = cluster
	})
}

func TestCluster(t *testing.T) {
	w := newWorld(t)
	w.cluster()
	before := time.Now()
	got, err := w.client.Cluster(t.Context(), w.target("prod"))
	must(t, err)
	if got.Read.Before(before) {
		t.Errorf("read at %s, before the call", got.Read)
	}
	wantSame(t, []any{got.Name, got.ARN, got.Status, got.Endpoint, string(got.CA), got.AuthMode},
		[]any{"prod", "arn:aws:eks:eu-west-1:111122223333:cluster/prod", "ACTIVE", "https://prod.example.com", "the authority", "API"})
}

func TestAccessEntry(t *testing.T) {
	w := newWorld(t)
	w.cluster(deployARN)
	got, found, err := w.client.AccessEntry(t.Context(), w.target("prod"), deployARN)
	must(t, err)
	wantSame(t, found, true)
	got.Created = got.Created.UTC()
	wantSame(t, got, chain.AccessEntry{PrincipalARN: deployARN, Username: "ci:{{SessionName}}", Groups: []string{"deployers"}, Type: "STANDARD", Created: time.Unix(1_700_000_000, 0).UTC()})
	_, found, err = w.client.AccessEntry(t.Context(), w.target("prod"), irsaARN)
	must(t, err)
	wantSame(t, found, false)
}

// More than a page of entries: every page is a read, and none is lost.
func TestAccessEntries(t *testing.T) {
	w := newWorld(t)
	var arns []string
	for i := range 205 {
		arns = append(arns, fmt.Sprintf("arn:aws:iam::111122223333:role/r%03d", i))
	}
	w.cluster(arns...)
	got, err := w.client.AccessEntries(t.Context(), w.target("prod"))
	must(t, err)
	slices.Sort(got)
	wantSame(t, got, arns)
	wantSame(t, w.state.Count("ListAccessEntries"), 3)
}

// One sign-in serves all reads, without the session policy that would deny them, and is renewed before it ends.
func TestObserverSession(t *testing.T) {
	w := newWorld(t)
	w.cluster(deployARN)
	now := time.Now()
	w.client = w.newClient(func(o *Options) { o.Now, o.EKSReadsPerSecond = func() time.Time { return now }, 1000 })
	target := w.target("prod")
	for range 3 {
		_, err := w.client.Cluster(t.Context(), target)
		must(t, err)
	}
	wantSame(t, w.state.Count("AssumeRole"), 1)
	wantSame(t, w.policies(readerARN), []string{""})
	now = now.Add(14 * time.Minute)
	_, err := w.client.Cluster(t.Context(), target)
	must(t, err)
	wantSame(t, w.state.Count("AssumeRole"), 2)
}

// A session that EKS no longer believes is not kept.
func TestObserverSessionRevoked(t *testing.T) {
	w := newWorld(t)
	w.cluster()
	target := w.target("prod")
	_, err := w.client.Cluster(t.Context(), target)
	must(t, err)
	w.state.Change(func(s *sandbox.State) { s.Sessions = map[string]*sandbox.Session{} })
	_, err = w.client.Cluster(t.Context(), target)
	wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
	_, err = w.client.Cluster(t.Context(), target)
	must(t, err)
}

// On a cold start the clusters that share an observer share its one sign-in.
func TestObserverSignsInOnce(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	for i := range 16 {
		target := w.target(fmt.Sprintf("prod-%d", i))
		group.Go(func() {
			if _, err := w.client.ObserverToken(t.Context(), target); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	wantSame(t, w.state.Count("AssumeRole"), 1)
}

// A sign-in that ends with its own run says nothing to those that waited for it: the next of them signs in.
func TestObserverSignInCutShort(t *testing.T) {
	var calls atomic.Int32
	asked := make(chan struct{}, 2)
	w := literal(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		if calls.Add(1) == 1 {
			<-r.Context().Done()
			return
		}
		grant(rw)
	})
	target := w.target("prod")
	first, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := w.client.ObserverToken(first, target); !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
			t.Errorf("the one that was cancelled got %v", err)
		}
	})
	<-asked
	group.Go(func() {
		if _, err := w.client.ObserverToken(t.Context(), target); err != nil {
			t.Error(err)
		}
	})
	late, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	_, err := w.client.ObserverToken(late, target)
	wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, "waiting for its sign-in")
	cancel()
	group.Wait()
	wantSame(t, calls.Load(), int32(2))
}

func TestObserverToken(t *testing.T) {
	w := newWorld(t)
	token, err := w.client.ObserverToken(t.Context(), w.target("prod"))
	must(t, err)
	wantSame(t, token.ClusterName, "prod")
	principal, err := w.client.Replay(t.Context(), token, region)
	must(t, err)
	wantSame(t, principal.ARN, "arn:aws:sts::111122223333:assumed-role/reader/eks-slo-observer")
}

// The observer's troubles are unknown, each with its own reason; only a missing cluster is a failure.
func TestEKSRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world, *chain.Target)
		want   verdict
		detail string
	}{
		"no such cluster": {func(_ *world, target *chain.Target) { target.Cluster.EKSName = "gone" }, failure(chain.StepToken, chain.ReasonClusterNotFound), "No cluster found for name: gone."},
		"C56: throttled": {func(w *world, _ *chain.Target) {
			w.state.Change(func(s *sandbox.State) { s.Throttle["DescribeCluster"] = true })
		}, unknown(chain.ReasonEKSAPIThrottled), "429 TooManyRequestsException"},
		"may not read": {func(w *world, _ *chain.Target) {
			w.state.Change(func(s *sandbox.State) { s.Roles[readerARN].ReadsEKS = false })
		}, unknown(chain.ReasonObserverDenied), "eks:DescribeCluster"},
		"fails": {func(w *world, _ *chain.Target) {
			w.state.Change(func(s *sandbox.State) { s.Failing["DescribeCluster"] = true })
		}, unknown(chain.ReasonObserverUnavailable), "500 ServerException"},
		"off": {func(w *world, _ *chain.Target) {
			w.state.Change(func(s *sandbox.State) { s.Off["eks"] = true })
		}, unknown(chain.ReasonObserverUnavailable), "no answer, while "},
		"clock": {func(w *world, _ *chain.Target) {
			w.state.ShiftClock(time.Hour)
		}, unknown(chain.ReasonObserverUnavailable), "sts/clock_behind"},
		"no observer": {func(_ *world, target *chain.Target) { target.Observer = chain.Identity{} }, unknown(chain.ReasonObserverUnavailable), "names no observer"},
		"observer without keys": {func(w *world, _ *chain.Target) {
			w.t.Setenv("AWS_ACCESS_KEY_ID", "")
		}, unknown(chain.ReasonObserverUnavailable), "credentials/no_credentials"},
		"observer throttled": {func(w *world, _ *chain.Target) {
			w.state.Change(func(s *sandbox.State) { s.Throttle["AssumeRole"] = true })
		}, unknown(chain.ReasonObserverUnavailable), "sts_throttled"},
		"no region": {func(_ *world, target *chain.Target) { target.Cluster.Region = "" }, failure(chain.StepCredentials, chain.ReasonRegionUnset), "no region"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cluster()
			target := w.target("prod")
			c.change(w, &target)
			_, err := w.client.Cluster(t.Context(), target)
			wantText(t, wantVerdict(t, err, c.want).Detail, c.detail)
		})
	}
}

// An entry call tells a missing cluster from a missing entry.
func TestEntryRefusals(t *testing.T) {
	w := newWorld(t)
	w.cluster()
	_, _, err := w.client.AccessEntry(t.Context(), w.target("gone"), deployARN)
	wantVerdict(t, err, failure(chain.StepToken, chain.ReasonClusterNotFound))
	_, err = w.client.AccessEntries(t.Context(), w.target("gone"))
	wantVerdict(t, err, failure(chain.StepToken, chain.ReasonClusterNotFound))
	w.state.Change(func(s *sandbox.State) { s.Clusters["prod"].AuthMode = chain.AuthModeConfigMap })
	_, _, err = w.client.AccessEntry(t.Context(), w.target("prod"), deployARN)
	wantVerdict(t, err, unknown(chain.ReasonNotMeasurable))
}

// The budget makes reads wait, and one that cannot have its turn in time says so at once.
func TestReadBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		b := newBudgets(0.5, func(wait time.Duration) { waits = append(waits, wait) })
		for range 7 {
			must(t, b.wait(t.Context(), account, region))
		}
		must(t, b.wait(t.Context(), account, "eu-north-1"))
		wantSame(t, waits, []time.Duration{0, 0, 0, 0, 0, 2 * time.Second, 2 * time.Second, 0})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := b.wait(ctx, account, region)
		wantSame(t, time.Since(began), time.Duration(0))
		e := wantVerdict(t, eksCall{operation: opDescribeCluster, cluster: "prod"}.overBudget(ctx, err), unknown(chain.ReasonEKSAPIThrottled))
		wantText(t, e.Detail, "the exporter's own budget, aws_api_budget.eks_reads_per_second", "AWS did not throttle")
	})
}

func TestBudgetAccount(t *testing.T) {
	target := chain.Target{Observer: chain.Identity{Name: "reader"}}
	wantSame(t, budgetAccount(target), "observer reader")
	target.Cluster.AccountID = account
	wantSame(t, budgetAccount(target), account)
}
