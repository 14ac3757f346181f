// Three hundred target groups of one account in virtual time, against the sandbox's ELB API with AWS' own throttle: prober, governor, scheduler and SDK are the real ones.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/awsapi"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/kube"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/internal/scheduler"
)

const (
	groupCount    = 300
	groupInterval = 30 * time.Second
	fleetKeyID    = "AKIAFLEETOBSERVER001"
	fleetSecret   = "secret-of-the-fleet-0123456789abcdef"
)

// groupFleet is a fleet of target groups that is probed, and what was seen of it.
type groupFleet struct {
	state    *sandbox.State
	targets  []chain.Target
	governor *scheduler.Governor

	mu    sync.Mutex
	reads map[string][]time.Time // good readings, by target
	runs  map[chain.Outcome]int
}

// Record implements scheduler.Recorder.
func (f *groupFleet) Record(run chain.Run) {
	f.governor.Observe(run)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[run.Verdict.Outcome]++
	if run.Reading != nil {
		f.reads[run.Target.Name] = append(f.reads[run.Target.Name], run.Reading.At)
	}
}

// inMemory lets the SDK call a handler.
type inMemory struct{ http.RoundTripper }

// Do implements aws.HTTPClient.
func (c inMemory) Do(r *http.Request) (*http.Response, error) { return c.RoundTrip(r) }

func newGroupFleet(interval time.Duration) *groupFleet {
	f := &groupFleet{state: sandbox.NewState(), reads: map[string][]time.Time{}, runs: map[chain.Outcome]int{}}
	f.state.Users[fleetKeyID] = &sandbox.User{Name: "observer", AccountID: sandbox.SceneAccount, AccessKeyID: fleetKeyID, SecretKey: fleetSecret, UserID: "AIDAFLEET", ReadsELB: true}
	listener := &sandbox.Listener{Protocol: "HTTP", Port: 80}
	for i := range groupCount {
		arn := fmt.Sprintf("arn:aws:elasticloadbalancing:%s:%s:targetgroup/group-%03d/%016x", sandbox.SceneRegion, sandbox.SceneAccount, i, i)
		f.state.ELB.AddGroups(&sandbox.TargetGroup{
			ARN: arn, Protocol: "HTTP", Port: 8080, TargetType: chain.TargetTypeIP, Check: chain.HealthCheck{Enabled: true},
			Targets: []*sandbox.RegisteredTarget{{ID: "10.0.0.1", Port: 8080, Zone: "eu-west-1a", Registered: time.Now().Add(-time.Hour)}},
		})
		listener.Rules = append(listener.Rules, sandbox.ListenerRule{Host: fmt.Sprintf("group-%03d.example.test", i), Group: arn})
		f.targets = append(f.targets, chain.Target{
			Name: fmt.Sprintf("group-%03d", i), Kind: chain.KindALB, Interval: interval, Timeout: 10 * time.Second,
			Group: chain.TargetGroup{ARN: arn, Region: sandbox.SceneRegion, Observer: chain.Identity{Name: "observer", Source: chain.SourceEnvironment}, MinHealthy: 1},
		})
	}
	f.state.ELB.AddLoadBalancers(&sandbox.LoadBalancer{
		ARN: sandbox.SceneLoadBalancer, Type: chain.LoadBalancerApplication, Zones: []string{"eu-west-1a"}, Listeners: []*sandbox.Listener{listener},
	})
	return f
}

// prober joins the real parts; what is asked of ELB stays in memory.
func (f *groupFleet) prober(t testing.TB, reads float64) *Prober {
	t.Helper()
	asking := awsapi.DefaultOptions()
	asking.ELBReadsPerSecond, asking.HTTPClient = reads, inMemory{sandbox.InProcess(sandbox.ELBHandler(f.state))}
	client, err := awsapi.New(t.Context(), asking)
	if err != nil {
		t.Fatal(err)
	}
	wiring := probes.DefaultOptions()
	wiring.Cloud, wiring.Observer, wiring.ELB = cloud{client}, observer{client}, client
	prober, err := joinProber(wiring, kube.DefaultOptions(), reads)
	if err != nil {
		t.Fatal(err)
	}
	return prober
}

// scheduler runs the fleet.
func (f *groupFleet) scheduler(t testing.TB, reads float64, paced bool) *scheduler.Scheduler {
	t.Helper()
	prober := f.prober(t, reads)
	governing := scheduler.DefaultGovernorOptions()
	governing.ReadsPerSecond = reads
	var err error
	if f.governor, err = scheduler.NewGovernor(governing); err != nil {
		t.Fatal(err)
	}
	options := scheduler.Options{Runner: prober, Recorder: f, Logger: slog.New(slog.DiscardHandler)}
	if paced {
		options.Pacer = f.governor
	}
	s, err := scheduler.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// calls counts what ELB answered, and how often it throttled.
func (f *groupFleet) calls() (all, throttled int) {
	f.state.Change(func(s *sandbox.State) {
		for _, c := range s.Calls {
			all++
			if c.Code == "Throttling" {
				throttled++
			}
		}
	})
	return all, throttled
}

// oldest is the longest time, between begin and end, in which a target's value was not read anew.
func (f *groupFleet) oldest(begin, end time.Time) (worst time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, target := range f.targets {
		last := begin
		for _, at := range slices.Concat(f.reads[target.Name], []time.Time{end}) {
			worst, last = max(worst, at.Sub(last)), at
		}
	}
	return worst
}

// The default budget of two reads a second: no call is throttled, no value is older than three minutes, and a group that turns bad is read again within its own interval.
func TestThreeHundredGroups(t *testing.T) {
	observedByKeys(t)
	synctest.Test(t, func(t *testing.T) {
		f := newGroupFleet(groupInterval)
		s := f.scheduler(t, 2, true)
		begin := time.Now()
		f.governor.Set(f.targets)
		s.Set(f.targets)
		time.Sleep(4 * time.Minute)
		sick := f.targets[123]
		f.state.Change(func(st *sandbox.State) {
			st.TargetGroup(sick.Group.ARN).Pin(sandbox.PinnedHealth{State: chain.TargetUnhealthy, Code: chain.CodeTimeout})
		})
		turned := time.Now()
		time.Sleep(6 * time.Minute)
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		end := time.Now()
		all, throttled := f.calls()
		worst := f.oldest(begin, end)
		t.Logf("%d calls in %s, %d throttled, oldest value %s, runs %v", all, end.Sub(begin), throttled, worst.Round(time.Second), f.runs)
		if throttled != 0 {
			t.Errorf("%d calls were throttled", throttled)
		}
		if budget := int(2*end.Sub(begin).Seconds()) + 5; all > budget {
			t.Errorf("%d calls are past the budget of %d", all, budget)
		}
		if worst > scheduler.MaxAge {
			t.Errorf("the oldest value was %s old", worst)
		}
		if f.runs[chain.OutcomeUnknown] != 0 {
			t.Errorf("%d unknown events: politeness must show as longer intervals", f.runs[chain.OutcomeUnknown])
		}
		f.readAgain(t, sick.Name, turned)
	})
}

// What the governor is for: each group asked every 15 seconds, as fast as the slots come, is 20 reads a second, twice of what AWS refills.
func TestThreeHundredGroupsWithoutAGovernor(t *testing.T) {
	observedByKeys(t)
	synctest.Test(t, func(t *testing.T) {
		f := newGroupFleet(15 * time.Second)
		s := f.scheduler(t, 1000, false)
		begin := time.Now()
		s.Set(f.targets)
		time.Sleep(10 * time.Minute)
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, throttled := f.calls()
		t.Logf("%d calls in %s, %d throttled, oldest value %s, runs %v", all, time.Since(begin), throttled, f.oldest(begin, time.Now()).Round(time.Second), f.runs)
		if throttled < all/3 {
			t.Errorf("%d of %d calls were throttled: the sandbox does not throttle as AWS does", throttled, all)
		}
	})
}

// observedByKeys gives the process the observer's keys, so that nobody has to sign in over a network.
func observedByKeys(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", fleetKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", fleetSecret)
	t.Setenv("AWS_SESSION_TOKEN", "")
}

// readAgain checks that after the first bad reading each one followed within an interval.
func (f *groupFleet) readAgain(t *testing.T, name string, turned time.Time) {
	t.Helper()
	after := slices.DeleteFunc(slices.Clone(f.reads[name]), func(at time.Time) bool { return at.Before(turned) })
	if len(after) < 5 {
		t.Fatalf("%s was read %d times after it turned bad", name, len(after))
	}
	for i := range after[1:] {
		if gap := after[i+1].Sub(after[i]); gap > groupInterval+2*time.Second {
			t.Errorf("%s was bad, and read again after %s", name, gap)
		}
	}
}
