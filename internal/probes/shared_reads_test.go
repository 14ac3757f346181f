// Tests of reads that are shared: an incident of many targets costs the reads of one, and no run waits for what is known.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// A thousand identities lose their entries at once: the list is read once for all of them, and every verdict is the same.
func TestAMassIncidentIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.expires = time.Now().Add(time.Hour)
		f.review = reviewFails(&Unauthorized{})
		p := newProber(t, f)
		var all sync.WaitGroup
		for i := range 1000 {
			target := standardTarget(t)
			target.Identity.Name = fmt.Sprintf("ci-%d", i)
			all.Go(func() {
				run, err := p.Run(t.Context(), target, time.Now())
				if err != nil || run.Verdict.Reason != chain.ReasonNotMapped {
					t.Errorf("%s: got %s, %v", target.Identity.Name, verdict(run), err)
				}
			})
		}
		all.Wait()
		for call, want := range map[string]int{"ListAccessEntries": 1, "DescribeCluster": 1, "DescribeAccessEntry " + roleARN: 0} {
			if got := f.count(call); got != want {
				t.Errorf("%s was asked %d times, want %d", call, got, want)
			}
		}
		time.Sleep(sharedTTL)
		_, _ = p.Run(t.Context(), standardTarget(t), time.Now())
		if got := f.count("ListAccessEntries"); got != 2 {
			t.Errorf("after its time the list was read %d times, want 2", got)
		}
	})
}

// A healthy identity does not wait for a neighbour's read of a cluster that is known.
func TestAKnownClusterIsReadWithoutATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		cache := newClusterCache(observerFake{f}, 5*time.Minute, time.Now)
		if _, err := cache.get(t.Context(), target); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		release := make(chan struct{})
		f.cluster = func() (chain.ClusterInfo, error) {
			<-release
			return healthyCluster(), nil
		}
		var neighbour sync.WaitGroup
		neighbour.Go(func() { _, _ = cache.refresh(t.Context(), target) })
		synctest.Wait()
		began := time.Now()
		if info, err := cache.get(t.Context(), target); err != nil || info.Endpoint != endpoint || time.Since(began) != 0 {
			t.Errorf("got %+v, %v after %s", info, err, time.Since(began))
		}
		close(release)
		neighbour.Wait()
	})
}

func TestSharedReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSharedReads[string, int](time.Now)
		calls := 0
		read := func(context.Context) (int, error) { calls++; return calls, nil }
		broken := errors.New("broken")
		if _, err := s.get(t.Context(), "a", func(context.Context) (int, error) { return 0, broken }); !errors.Is(err, broken) {
			t.Errorf("got %v, want the read's error", err)
		}
		for _, want := range []int{1, 1} { // an error is not kept, an answer is
			if got, err := s.get(t.Context(), "a", read); got != want || err != nil {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
		}
		slow := make(chan struct{})
		var holder sync.WaitGroup
		holder.Go(func() {
			_, _ = s.get(t.Context(), "b", func(context.Context) (int, error) { <-slow; return 7, nil })
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.get(ctx, "b", read); chain.AsError(err).Reason != chain.ReasonObserverUnavailable {
			t.Errorf("a wait that ends: got %v", err)
		}
		gone, stop := context.WithCancel(t.Context())
		stop()
		if _, err := s.get(gone, "b", read); !errors.Is(err, context.Canceled) {
			t.Errorf("our own end: got %v", err)
		}
		close(slow)
		holder.Wait()
		for i := range 2 * sharedLimit {
			_, _ = s.get(t.Context(), fmt.Sprint(i), read)
			time.Sleep(sharedTTL / 100)
		}
		if len(s.answers) > sharedLimit+1 {
			t.Errorf("%d answers are kept", len(s.answers))
		}
	})
}
