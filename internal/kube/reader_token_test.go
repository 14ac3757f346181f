// The observer's token: asked for when none serves, once for all who wait, anew after a 401, kept within its cluster, and never shown.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// accepts lets in one token.
func accepts(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			next = says(http.StatusUnauthorized, "application/json", statusBody(401, "Unauthorized", "Unauthorized"))
		}
		next.ServeHTTP(w, r)
	})
}

func TestReadRefusedToken(t *testing.T) {
	var refused sync.Once
	s := newScriptedReader(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := podList("", "")
		refused.Do(func() {
			next = says(http.StatusUnauthorized, "application/json", statusBody(401, "Unauthorized", "Unauthorized"))
		})
		next.ServeHTTP(w, r)
	}))
	must(t, s.pods(t.Context()))
	must(t, s.pods(t.Context()))
	wantSame(t, s.minted.Load(), 2)
	wantSame(t, len(s.requests()), 3)
}

func TestReadTokenLife(t *testing.T) {
	for name, test := range map[string]struct {
		life   time.Duration
		minted int32
	}{
		"a minute and more is left": {61 * time.Second, 1},
		"less than a minute":        {59 * time.Second, 3},
		"over":                      {-time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScriptedReader(t, podList("", ""))
			s.reads.Token = s.mint(test.life)
			for range 3 {
				must(t, s.pods(t.Context()))
			}
			wantSame(t, s.minted.Load(), test.minted)
		})
	}
}

// What the observer's own chain says is passed on; only a cancelled context is its own error.
func TestReadWithoutToken(t *testing.T) {
	s := newScriptedReader(t, podList("", ""))
	denied := chain.Unsure(chain.ReasonObserverDenied, "STS denies the observer", nil, nil)
	for name, test := range map[string]struct {
		err  error
		want chain.Reason
	}{
		"an unknown":             {denied, chain.ReasonObserverDenied},
		"a throttled STS":        {chain.Unsure(chain.ReasonSTSThrottled, "slow down", nil, nil), chain.ReasonObserverUnavailable},
		"a failure":              {chain.Fail(chain.StepSTS, chain.ReasonSTSThrottled, "a step of another chain", nil, nil), chain.ReasonObserverUnavailable},
		"anything":               {errors.New("no"), chain.ReasonObserverUnavailable},
		"its own short patience": {context.DeadlineExceeded, chain.ReasonObserverUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s.reads.Token = func(context.Context) (chain.Token, error) { return chain.Token{}, test.err }
			wantFailure(t, s.pods(t.Context()), chain.StepNone, test.want)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.reads.Token = func(ctx context.Context) (chain.Token, error) { cancel(); return chain.Token{}, ctx.Err() }
	if err := s.pods(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's own error", err)
	}
	wantSame(t, s.requests(), []string(nil))
}

// Whoever waits for another's token gives up with its own context.
func TestReadWaitsForToken(t *testing.T) {
	s := newScriptedReader(t, podList("", ""))
	asked, release := make(chan struct{}), make(chan struct{})
	mint := s.reads.Token
	s.reads.Token = func(ctx context.Context) (chain.Token, error) {
		close(asked)
		<-release
		return mint(ctx)
	}
	var first sync.WaitGroup
	first.Go(func() {
		if err := s.pods(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-asked
	if err := s.pods(within(t, brief)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's own error", err)
	}
	close(release)
	first.Wait()
	must(t, s.pods(t.Context()))
	wantSame(t, s.minted.Load(), 1)
}

// Two clusters of the configuration at one address may have different observers.
func TestReadTokenOfItsCluster(t *testing.T) {
	s := newScriptedReader(t, accepts("token-1", podList("", "")))
	must(t, s.pods(t.Context()))
	s.reads.Endpoint.ClusterName = "the same by another name"
	wantFailure(t, s.pods(t.Context()), chain.StepNone, chain.ReasonObserverDenied)
	wantSame(t, s.minted.Load(), 3)
}

// Hosts that tell back what they were told make no leak of it.
func TestReadTokenIsNotShown(t *testing.T) {
	const secret = "k8s-aws-v1.aHR0cHM6Ly9zdHMuZXhhbXBsZQ"
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		says(403, "application/json", statusBody(403, "Forbidden", "no: "+r.Header.Get("Authorization"))).ServeHTTP(w, r)
	})
	pod := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		podList(`{"metadata":{"name":"`+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`, "").ServeHTTP(w, r)
	})
	token := func(context.Context) (chain.Token, error) {
		return chain.Token{Value: chain.NewSecret(secret), Expires: time.Now().Add(time.Hour)}, nil
	}
	s := newScriptedReader(t, echo)
	s.reads.Token = token
	e := wantFailure(t, s.pods(t.Context()), chain.StepNone, chain.ReasonObserverDenied)
	if text := e.Error() + e.Facts[chain.FactErrorMessage]; strings.Contains(text, secret) || !strings.Contains(text, "[redacted]") {
		t.Errorf("the token is in %q", text)
	}
	s = newScriptedReader(t, pod)
	s.reads.Token = token
	got, err := s.Pods(t.Context(), s.reads, "shop", app)
	must(t, err)
	wantSame(t, got, []chain.Pod{{Name: "[redacted]"}})
}

// What is not read for an hour is forgotten when another cluster comes; a closed reader reads nothing.
func TestReaderForgets(t *testing.T) {
	now := time.Now()
	options := directOptions()
	options.Now = func() time.Time { return now }
	s := newScriptedReader(t, podList("", ""))
	s.Reader = newTestReader(t, options)
	must(t, s.pods(t.Context()))
	for _, later := range []struct {
		name  string
		after time.Duration
		kept  int
	}{{"second", 59 * time.Minute, 2}, {"third", 59 * time.Minute, 2}} {
		now = now.Add(later.after)
		s.reads.Endpoint.ClusterName = later.name
		s.reads.Token = s.mint(100 * time.Hour)
		if _, err := s.session(s.reads); err != nil {
			t.Fatal(err)
		}
		wantSame(t, len(s.clusters), later.kept)
	}
	s.Close()
	s.Close()
	wantFailure(t, s.pods(t.Context()), chain.StepNone, chain.ReasonObserverUnavailable)
}

func TestNewReader(t *testing.T) {
	_, err := NewReader(Options{})
	wantSame(t, err.Error(), "kube: Options.Now is not set")
}
