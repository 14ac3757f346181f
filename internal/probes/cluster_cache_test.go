// Tests of what is remembered between runs: clusters and controls.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestClusterIsReadOncePerTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		cache := newClusterCache(observerFake{f}, 5*time.Minute, time.Now)
		target := standardTarget(t)
		var wait sync.WaitGroup
		for range 1000 {
			wait.Go(func() {
				if info, err := cache.get(t.Context(), target); err != nil || info.Endpoint != endpoint {
					t.Errorf("got %+v, %v", info, err)
				}
			})
		}
		wait.Wait()
		if got := f.count("DescribeCluster"); got != 1 {
			t.Errorf("a thousand runs read it %d times, want once", got)
		}
		time.Sleep(5 * time.Minute)
		_, _ = cache.get(t.Context(), target)
		if got := f.count("DescribeCluster"); got != 2 {
			t.Errorf("after the TTL it was read %d times, want 2", got)
		}
	})
}

// C56: a throttled refresh is unknown, and the probe goes on with what is known.
func TestC56ThrottledRefreshKeepsProbing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		p := newProber(t, f)
		if run, _ := p.Run(t.Context(), target, time.Now()); verdict(run) != healthy {
			t.Fatalf("got %s", verdict(run))
		}
		time.Sleep(6 * time.Minute)
		f.expires = time.Now().Add(15 * time.Minute)
		f.cluster = clusterFails(chain.ReasonEKSAPIThrottled)
		run, _ := p.Run(t.Context(), target, time.Now())
		if got, want := verdict(run), "unknown token/eks_api_throttled ✔✔?✔✔✔"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		f.review = reviewFails(fail(chain.StepEndpoint, chain.ReasonAPIServerError))
		run, _ = p.Run(t.Context(), target, time.Now())
		if got, want := verdict(run), "failure endpoint/apiserver_error ✔✔?✖··"; got != want {
			t.Errorf("a real failure behind the unknown: got %s, want %s", got, want)
		}
	})
}

// A run that waits for another's read until its own time is over goes on with what was known before.
func TestWaitingForARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		p := newProber(t, f)
		hang := make(chan struct{})
		if run, _ := p.Run(t.Context(), target, time.Now()); verdict(run) != healthy {
			t.Fatalf("got %s", verdict(run))
		}
		time.Sleep(6 * time.Minute)
		f.expires = time.Now().Add(15 * time.Minute)
		f.cluster = func() (chain.ClusterInfo, error) {
			<-hang
			return healthyCluster(), nil
		}
		var wait sync.WaitGroup
		wait.Go(func() { _, _ = p.clusters.get(t.Context(), target) })
		synctest.Wait()
		run, err := p.Run(t.Context(), target, time.Now())
		if got, want := verdict(run), "unknown token/observer_unavailable ✔✔?✔✔✔"; err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
		close(hang)
		wait.Wait()
	})
}

func TestGoneClusterIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, target := newFake(), standardTarget(t)
		cache := newClusterCache(observerFake{f}, time.Minute, time.Now)
		_, _ = cache.get(t.Context(), target)
		time.Sleep(time.Hour)
		f.cluster = func() (chain.ClusterInfo, error) {
			return chain.ClusterInfo{}, fail(chain.StepToken, chain.ReasonClusterNotFound)
		}
		if info, err := cache.get(t.Context(), target); err == nil || info.Endpoint != "" {
			t.Errorf("got %+v and %v, want nothing of a cluster that is gone", info, err)
		}
	})
}

func TestControlsAgeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, target := newControls(time.Now), standardTarget(t)
		c.accepted(target)
		if got := c.other(target); got != "" {
			t.Errorf("the identity itself is no control, got %q", got)
		}
		probe := target
		probe.Identity.Name = "probe"
		if got := c.other(probe); got != "ci-deploy" {
			t.Errorf("got %q, want ci-deploy", got)
		}
		time.Sleep(controlAge + time.Second)
		if got := c.other(probe); got != "" {
			t.Errorf("after a minute got %q, want none", got)
		}
	})
}
