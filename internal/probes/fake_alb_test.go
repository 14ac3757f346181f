// The scripted world of the alb chain: one target group, its load balancer, and the cluster behind it. Each test changes the one thing it is about.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	shopARN     = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef"
	shopALB     = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/shop-alb/50dc6c495c0c9188"
	allGood     = "success / ✔✔✔"
	nodeA       = "i-0aaaaaaaaaaaaaaa1"
	nodeB       = "i-0bbbbbbbbbbbbbbb2"
	foreignAddr = "10.9.0.1"
)

// noon is the beginning of every test's clock.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// albFake answers LoadBalancers, Bindings and Requester. newALBFake sets a healthy world: three pods in two zones, all of them healthy targets.
type albFake struct {
	mu    sync.Mutex
	calls []string
	reads []chain.Target // as ELB was asked

	group      chain.GroupInfo
	targets    []chain.TargetHealth
	attributes chain.GroupAttributes
	found      bool
	binding    chain.Binding
	others     []chain.Binding
	backends   chain.Backends
	pods       []chain.Pod
	trouble    chain.BindingTrouble
	response   chain.Response
	fails      map[string]error // by the read's name
	hangs      map[string]bool
	now        time.Time
	groups     []chain.GroupInfo // what a discovery finds
}

func newALBFake() *albFake {
	f := &albFake{
		group: chain.GroupInfo{
			ARN: shopARN, Name: "shop", Region: "eu-west-1", TargetType: chain.TargetTypeIP, Protocol: "HTTP", Read: noon,
			Check: chain.HealthCheck{Enabled: true, Protocol: "HTTP", Port: "traffic-port", Path: "/healthz", Matcher: "200", Interval: 15 * time.Second, Timeout: 5 * time.Second,
				HealthyThreshold: 2, UnhealthyThreshold: 2},
			LoadBalancers: []chain.LoadBalancer{{ARN: shopALB, Name: "shop-alb", Type: chain.LoadBalancerApplication, State: chain.LoadBalancerActive, Zones: []string{"eu-west-1a", "eu-west-1b"}}},
		},
		attributes: chain.GroupAttributes{MinHealthyCount: 1},
		found:      true,
		binding: chain.Binding{BindingRef: chain.BindingRef{Namespace: "shop", Name: "shop"}, GroupARN: shopARN, TargetType: chain.TargetTypeIP, Service: "shop", Port: "80",
			Created: noon.Add(-24 * time.Hour)},
		backends: chain.Backends{Service: chain.Service{Found: true, Type: "ClusterIP", Selector: map[string]string{"app": "shop"}}},
		response: chain.Response{Status: http.StatusOK, Body: []byte("ok")},
		fails:    map[string]error{}, hangs: map[string]bool{}, now: noon,
	}
	for i := range 3 {
		f.addPod(i + 1)
	}
	return f
}

func address(n int) string { return fmt.Sprintf("10.0.%d.1%d", 2-n%2, n) }

func zone(n int) string { return []string{"eu-west-1b", "eu-west-1a"}[n%2] }

// addPod adds a pod that is ready since yesterday, its endpoint and its healthy target.
func (f *albFake) addPod(n int) {
	name := fmt.Sprintf("shop-%d", n)
	f.targets = append(f.targets, chain.TargetHealth{ID: address(n), Port: 8080, Zone: zone(n), State: chain.TargetHealthy})
	f.backends.Endpoints = append(f.backends.Endpoints, chain.Endpoint{Address: address(n), Port: 8080, Ready: true, Pod: name, Node: "node-a", Zone: zone(n)})
	yesterday := noon.Add(-24 * time.Hour)
	f.pods = append(f.pods, chain.Pod{Name: name, Address: address(n), Ready: true, ReadySince: yesterday, ContainersReady: true, Created: yesterday,
		Gates: []chain.ReadinessGate{{Binding: "shop", Set: true, Passed: true, Since: yesterday}}})
}

// instances makes the group one of instances, of two nodes.
func (f *albFake) instances() {
	f.group.TargetType, f.binding.TargetType = chain.TargetTypeInstance, ""
	f.backends.Service.Type, f.backends.Service.NodePort = "NodePort", 30080
	f.targets = []chain.TargetHealth{{ID: nodeA, Port: 30080, State: chain.TargetHealthy}, {ID: nodeB, Port: 30080, State: chain.TargetHealthy}}
	yesterday := noon.Add(-24 * time.Hour)
	f.backends.Nodes = []chain.Node{{Name: "node-a", InstanceID: nodeA, Zone: "eu-west-1a", Ready: true, Created: yesterday}, {Name: "node-b", InstanceID: nodeB, Zone: "eu-west-1b", Ready: true, Created: yesterday}}
}

// set gives the targets from the beginning on states with codes, such as "unhealthy Target.Timeout".
func (f *albFake) set(states ...string) {
	f.targets = f.targets[:0:0]
	for i, text := range states {
		var state, code string
		_, _ = fmt.Sscan(text, &state, &code)
		f.targets = append(f.targets, chain.TargetHealth{ID: address(i + 1), Port: 8080, Zone: zone(i + 1), State: chain.TargetState(state), Code: code})
	}
}

// foreigner adds a target that the cluster does not know.
func (f *albFake) foreigner(state chain.TargetState) {
	f.targets = append(f.targets, chain.TargetHealth{ID: foreignAddr, Port: 8080, Zone: "eu-west-1a", State: state})
}

func (f *albFake) ask(ctx context.Context, name string) error {
	f.mu.Lock()
	f.calls = append(f.calls, name)
	f.mu.Unlock()
	if f.hangs[name] {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.fails[name]
}

func (f *albFake) count(name string) int {
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

func (f *albFake) Group(ctx context.Context, target chain.Target) (chain.GroupInfo, error) {
	f.reads = append(f.reads, target)
	return f.group, f.ask(ctx, "Group")
}

func (f *albFake) Groups(ctx context.Context, _ chain.Discovery) ([]chain.GroupInfo, error) {
	return f.groups, f.ask(ctx, "Groups")
}

func (f *albFake) Health(ctx context.Context, _ chain.Target, arn string) ([]chain.TargetHealth, error) {
	if arn != f.group.ARN {
		return nil, errors.New("asked for " + arn)
	}
	return f.targets, f.ask(ctx, "Health")
}

func (f *albFake) Attributes(ctx context.Context, _ chain.Target, _ string) (chain.GroupAttributes, error) {
	return f.attributes, f.ask(ctx, "Attributes")
}

func (f *albFake) Binding(ctx context.Context, cluster ClusterReads, ref chain.BindingRef) (chain.Binding, bool, error) {
	if cluster.Endpoint.URL != endpoint || ref != f.binding.BindingRef {
		return chain.Binding{}, false, fmt.Errorf("asked for %s at %s", ref, cluster.Endpoint.URL)
	}
	return f.binding, f.found, f.ask(ctx, "Binding")
}

func (f *albFake) List(ctx context.Context, _ ClusterReads) ([]chain.Binding, error) {
	all := f.others
	if f.found {
		all = append([]chain.Binding{f.binding}, all...)
	}
	return all, f.ask(ctx, "List")
}

func (f *albFake) Trouble(ctx context.Context, _ ClusterReads, _ chain.BindingRef) (chain.BindingTrouble, error) {
	return f.trouble, f.ask(ctx, "Trouble")
}

func (f *albFake) Backends(ctx context.Context, _ ClusterReads, b chain.Binding) (chain.Backends, error) {
	if b.TargetType != f.group.TargetType {
		return chain.Backends{}, errors.New("asked for " + b.TargetType)
	}
	return f.backends, f.ask(ctx, "Backends")
}

func (f *albFake) Pods(ctx context.Context, _ ClusterReads, namespace string, selector map[string]string) ([]chain.Pod, error) {
	if namespace != f.binding.Namespace || len(selector) == 0 {
		return nil, fmt.Errorf("asked for %v in %s", selector, namespace)
	}
	return f.pods, f.ask(ctx, "Pods")
}

func (f *albFake) Do(ctx context.Context, _ chain.Request) (chain.Response, chain.Facts, error) {
	return f.response, chain.Facts{chain.FactHTTPTime: "12"}, f.ask(ctx, "Do")
}

func fakeOptions(f *fake, a *albFake) Options {
	options := DefaultOptions()
	options.Cloud, options.Observer, options.APIServer = f, observerFake{f}, f
	options.ELB, options.Bindings, options.Requester = a, a, a
	return options
}

// shopTarget is the group shop, bound in prod, of which two targets must be healthy, with a request.
func shopTarget() chain.Target {
	observer := chain.Identity{Name: "exporter", Source: chain.SourceEnvironment, Hops: []chain.Hop{{RoleARN: "arn:aws:iam::111122223333:role/eks-slo-exporter"}}}
	return chain.Target{
		Name: "shop", Kind: chain.KindALB, Cluster: chain.Cluster{Name: "prod", EKSName: "prod", Region: "eu-west-1", Observer: "exporter"}, Observer: observer,
		Group: chain.TargetGroup{
			Region: "eu-west-1", ARN: shopARN, Observer: observer, Binding: chain.BindingRef{Namespace: "shop", Name: "shop"}, MinHealthy: 2,
			Request: &chain.Request{URL: "https://shop.example.test/healthz", ExpectStatus: []int{200}, Timeout: 5 * time.Second},
		},
		Interval: 30 * time.Second, Timeout: 10 * time.Second,
	}
}

// albProber runs the group again and again, on the fake's clock.
func albProber(t *testing.T, f *albFake) *Prober {
	t.Helper()
	options := fakeOptions(newFake(), f)
	options.Now = func() time.Time { return f.now }
	p, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func runALB(t *testing.T, p *Prober, target chain.Target) chain.Run {
	t.Helper()
	run, err := p.Run(t.Context(), target, p.Now())
	if err != nil {
		t.Fatal(err)
	}
	checkVerdict(t, run)
	return run
}

// albCase is a world, its verdict, and a part of its detail.
type albCase struct {
	change func(*albFake, *chain.Target)
	want   string
	detail string
}

// runCases probes each world once.
func runCases(t *testing.T, cases map[string]albCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newALBFake(), shopTarget()
			c.change(f, &target)
			expect(t, runALB(t, albProber(t, f), target), c.want, c.detail)
		})
	}
}
