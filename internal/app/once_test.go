// All targets once, as the command probe does it.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// Three hundred groups of one account are all read, within the budget and as fast as it lets them; also when all are bad, which costs one more read each.
func TestRunAllKeepsToTheBudget(t *testing.T) {
	for name, bad := range map[string]bool{"good": false, "bad": true} {
		t.Run(name, func(t *testing.T) {
			observedByKeys(t)
			synctest.Test(t, func(t *testing.T) {
				fleet := newGroupFleet(groupInterval)
				fleet.state.Change(func(s *sandbox.State) {
					for _, target := range fleet.targets {
						if bad {
							group := s.TargetGroup(target.Group.ARN)
							group.Register(&sandbox.RegisteredTarget{ID: "10.0.0.2", Port: 8080, Zone: "eu-west-1a", Registered: time.Now().Add(-time.Hour)})
							group.Pin(sandbox.PinnedHealth{State: chain.TargetUnhealthy, Code: chain.CodeTimeout}, "10.0.0.2")
						}
					}
				})
				prober, began := fleet.prober(t, 2), time.Now()
				defer prober.Close()
				runs, err := prober.RunAll(t.Context(), fleet.targets)
				if err != nil {
					t.Fatal(err)
				}
				for i, run := range runs {
					if run.Target.Name != fleet.targets[i].Name || run.Reading == nil {
						t.Fatalf("%s: %+v", fleet.targets[i].Name, run.Verdict)
					}
				}
				if took := time.Since(began); took < 2*time.Minute || took > 6*time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// An interrupted one ends at once, in whatever it waits for.
func TestRunAllIsInterrupted(t *testing.T) {
	observedByKeys(t)
	synctest.Test(t, func(t *testing.T) {
		fleet := newGroupFleet(groupInterval)
		prober, began := fleet.prober(t, 2), time.Now()
		defer prober.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(10*time.Second, cancel)
		if _, err := prober.RunAll(ctx, fleet.targets); !errors.Is(err, context.Canceled) || time.Since(began) > 11*time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
	})
}

// A discovery that cannot tell takes nothing from the others, and is named.
func TestDiscoverAll(t *testing.T) {
	observedByKeys(t)
	synctest.Test(t, func(t *testing.T) {
		fleet := newGroupFleet(groupInterval)
		prober := fleet.prober(t, 2)
		defer prober.Close()
		good := chain.Discovery{Name: "good", LoadBalancer: sandbox.SceneLoadBalancer, Template: fleet.targets[0]}
		lost := chain.Discovery{Name: "lost", LoadBalancer: sandbox.SceneLoadBalancer, Template: chain.Target{Kind: chain.KindALB}}
		found, err := prober.DiscoverAll(t.Context(), []chain.Discovery{lost, good}, fleet.targets[:100])
		if err == nil || !strings.HasPrefix(err.Error(), "discovering the targets of lost: ") || len(found) != groupCount-100 {
			t.Errorf("found %d, and %v", len(found), err)
		}
	})
}

// What a discovery asks may never answer.
func TestDiscoveriesHaveTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := discoverInTime(t.Context(), chain.Discovery{Name: "slow"}, func(ctx context.Context, _ chain.Discovery) ([]chain.Target, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		if err == nil || !strings.Contains(err.Error(), "the discovery slow had 45s") {
			t.Error(err)
		}
	})
}
