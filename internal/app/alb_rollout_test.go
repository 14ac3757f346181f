// A rollout in virtual time: targets are registered and leave one after another, and what the probe counts of it.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/awsapi"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/kube"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const rolloutGroup = "arn:aws:elasticloadbalancing:" + sandbox.SceneRegion + ":" + sandbox.SceneAccount + ":targetgroup/rollout/00000000000000aa"

// throughALB makes requests of the sandbox's load balancer without a network.
type throughALB struct{ client *http.Client }

// Do implements probes.Requester.
func (r throughALB) Do(ctx context.Context, asked chain.Request) (chain.Response, chain.Facts, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, asked.URL, nil)
	if err != nil {
		return chain.Response{}, nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return chain.Response{}, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return chain.Response{Status: response.StatusCode, Header: response.Header, Body: body}, nil, err
}

// rollout is a group of ten targets, of which eight healthy ones are wanted.
type rollout struct {
	state  *sandbox.State
	prober *Prober
	target chain.Target
}

func newRollout(t *testing.T) *rollout {
	t.Helper()
	state, ca := sandbox.NewState(), need(sandbox.NewCA())(t)
	state.Users[fleetKeyID] = &sandbox.User{Name: "observer", AccountID: sandbox.SceneAccount, AccessKeyID: fleetKeyID, SecretKey: fleetSecret, UserID: "AIDAFLEET", ReadsELB: true}
	state.ELB.AddGroups(&sandbox.TargetGroup{
		ARN: rolloutGroup, Protocol: "HTTP", Port: 8080, TargetType: chain.TargetTypeIP,
		Check: chain.HealthCheck{Enabled: true, Matcher: "200", Interval: 5 * time.Second, Timeout: 2 * time.Second, HealthyThreshold: 2, UnhealthyThreshold: 2},
	})
	state.ELB.AddLoadBalancers(&sandbox.LoadBalancer{
		ARN: sandbox.SceneLoadBalancer, Type: chain.LoadBalancerApplication, Zones: []string{"eu-west-1a"},
		Listeners: []*sandbox.Listener{{Protocol: "HTTP", Port: 80, Rules: []sandbox.ListenerRule{{Host: sandbox.SceneShopHost, Group: rolloutGroup}}}},
	})
	alb := need(sandbox.NewALB(state, ca, sandbox.SceneLoadBalancer))(t)
	t.Cleanup(func() { _ = alb.Close() })
	asking := awsapi.DefaultOptions()
	asking.ELBReadsPerSecond, asking.HTTPClient = 1000, inMemory{sandbox.InProcess(sandbox.ELBHandler(state))}
	client := need(awsapi.New(t.Context(), asking))(t)
	wiring := probes.DefaultOptions()
	wiring.Cloud, wiring.Observer, wiring.ELB = cloud{client}, observer{client}, client
	prober := need(joinProber(wiring, kube.DefaultOptions(), asking.ELBReadsPerSecond))(t)
	prober.Requester = throughALB{&http.Client{Transport: sandbox.InProcess(alb)}}
	return &rollout{state, prober, chain.Target{
		Name: "rollout", Kind: chain.KindALB, Interval: time.Second, Timeout: time.Second,
		Group: chain.TargetGroup{
			ARN: rolloutGroup, Region: sandbox.SceneRegion, Observer: chain.Identity{Name: "observer", Source: chain.SourceEnvironment}, MinHealthy: 8,
			Request: &chain.Request{URL: "http://" + sandbox.SceneShopHost + "/", ExpectStatus: []int{200}, Timeout: 500 * time.Millisecond},
		},
	}}
}

// need returns a value, or ends the test with the error.
func need[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (r *rollout) change(f func(sandbox.GroupView)) {
	r.state.Change(func(s *sandbox.State) { f(s.TargetGroup(rolloutGroup)) })
}

// rolloutTally is what the runs of a rollout add up to.
type rolloutTally struct {
	runs, bad, fewest int
	byStep            map[chain.Step]int
	draining, initial bool
	statuses          map[string]int
}

// probe runs once a second.
func (r *rollout) probe(t *testing.T, seconds int, tally *rolloutTally) {
	t.Helper()
	for range seconds {
		run, err := r.prober.Run(t.Context(), r.target, time.Now())
		if err != nil || run.Reading == nil {
			t.Fatalf("got %+v, %v", run.Verdict, err)
		}
		tally.runs++
		tally.bad += run.Reading.Bad()
		tally.fewest = min(tally.fewest, run.Reading.Good())
		tally.draining = tally.draining || run.Reading.Count(chain.TargetDraining) > 0
		tally.initial = tally.initial || run.Reading.Count(chain.TargetInitial) > 0
		if run.Verdict.Outcome != chain.OutcomeSuccess {
			tally.byStep[run.Verdict.Step]++
			tally.statuses[run.Facts()[chain.FactHTTPStatus]]++
		}
		time.Sleep(time.Second)
	}
}

// Ten pods are replaced, and each old one ends three seconds before the load balancer hears of it: users see a few 502, and that is what the request reports. The health of the
// group burns nothing, since at least eight targets are healthy all the time.
func TestRollout(t *testing.T) {
	observedByKeys(t)
	r := newRollout(t)
	synctest.Test(t, func(t *testing.T) {
		tally := rolloutTally{fewest: 10, byStep: map[chain.Step]int{}, statuses: map[string]int{}}
		r.change(func(v sandbox.GroupView) {
			for i := range 10 {
				v.Targets = append(v.Targets, &sandbox.RegisteredTarget{ID: fmt.Sprintf("10.0.1.%d", i), Port: 8080, Zone: "eu-west-1a", Registered: time.Now().Add(-time.Hour)})
			}
		})
		for i := range 10 {
			before, after := fmt.Sprintf("10.0.1.%d", i), fmt.Sprintf("10.0.2.%d", i)
			r.change(func(v sandbox.GroupView) {
				v.Register(&sandbox.RegisteredTarget{ID: after, Port: 8080, Zone: "eu-west-1a"})
			})
			r.probe(t, 15, &tally)
			r.change(func(v sandbox.GroupView) { v.Stop(before) })
			r.probe(t, 3, &tally)
			r.change(func(v sandbox.GroupView) { v.Deregister(before) })
		}
		r.probe(t, 60, &tally)
		t.Logf("%d runs: fewest healthy %d, bad %d, failures by step %v, answers %v", tally.runs, tally.fewest, tally.bad, tally.byStep, tally.statuses)
		if tally.bad != 0 || tally.fewest < 8 || !tally.draining || !tally.initial {
			t.Errorf("the rollout counted %+v", tally)
		}
		if n := tally.byStep[chain.StepRequest]; n == 0 || n != tally.statuses["502"] || len(tally.byStep) != 1 {
			t.Errorf("failures are %v, answers %v: the request alone should report 502", tally.byStep, tally.statuses)
		}
	})
}
