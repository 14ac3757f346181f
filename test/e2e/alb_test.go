// Target groups: what the exporter reads of a real kube-apiserver, with the real TargetGroupBinding kind, comes to the verdicts that the sandbox's faults promise.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	discovery "k8s.io/api/discovery/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// The sandbox's objects are a day old, and a real cluster's new: the exporter blames neither a pod nor a binding that has just been made. So what needs age comes first, and leaves the bindings as
// they are.
func TestALB(t *testing.T) {
	w := startALB(t)
	var table parityTable
	t.Run("what ages", func(t *testing.T) { w.testAge(t, &table) })
	t.Run("each right is needed", w.testRights)
	t.Run("discovery", w.testDiscovery)
	for _, row := range slices.Concat(albRows, faultRows(func(name string) bool { return youngVerdict(name) == "" })) {
		t.Run(row.name, func(t *testing.T) { w.compare(t, &table, row) })
	}
	t.Log(table.String())
}

// albRow is something that happens to the scene.
type albRow struct {
	name   string
	fault  sandbox.Fault // with the target that shows it
	happen func(*sandbox.State)
	want   string // the verdict
	counts string // of the reading; "" any that the sandbox has too
}

// scene is the sandbox's in which it has happened.
func (r albRow) scene(t *testing.T) *sandbox.Scene {
	t.Helper()
	scene := newScene(t, r.fault)
	patient(scene)
	if r.happen != nil {
		scene.State.Change(r.happen)
	}
	return scene
}

const allGood = "success /"

// albRows are what must be good, and read as in the sandbox.
var albRows = []albRow{
	{name: "healthy, of pods", fault: sandbox.Fault{Target: "shop"}, want: allGood, counts: "3 targets, 3 of pods, missing []"},
	{name: "healthy, of nodes", fault: sandbox.Fault{Target: "web"}, want: allGood},
	{name: "shared on purpose", fault: sandbox.Fault{Target: "shop"}, happen: sharedOnPurpose, want: allGood},
	{name: "one zone's nodes", fault: sandbox.Fault{Target: "web"}, happen: selected, want: allGood, counts: "1 targets, 0 of pods, missing []"},
	{name: "600 endpoints", fault: sandbox.Fault{Target: "shop"}, happen: grown(600, 600), want: allGood, counts: "600 targets, 600 of pods, missing []"},
	{name: "one of 600 is not registered", fault: sandbox.Fault{Target: "shop"}, happen: grown(600, 599), want: allGood, counts: "599 targets, 599 of pods, missing [10.0.5.200]"},
}

// faultRows are the faults of the steps that look at the cluster, or at what it is held against.
func faultRows(wanted func(name string) bool) (rows []albRow) {
	for _, fault := range sandbox.Faults() {
		if (fault.Step == chain.StepRegistration || fault.Step == chain.StepHealth) && wanted(fault.Name) {
			rows = append(rows, albRow{name: fault.Name, fault: fault, want: fmt.Sprintf("%s %s/%s", fault.Outcome, fault.Step, fault.Reason)})
		}
	}
	return rows
}

// youngVerdicts are what the exporter says of faults that it cannot blame yet.
var youngVerdicts = []struct{ fault, verdict string }{
	{"gate-of-a-gone-binding", allGood}, // before all others, since its pod must age
	{"evicted-by-another-cluster", allGood},
	{"initial-stuck", "failure health/below_min_healthy"},
}

func youngVerdict(fault string) string {
	for _, young := range youngVerdicts {
		if young.fault == fault {
			return young.verdict
		}
	}
	return ""
}

// oldEnough is when all of them can be blamed: after a minute, two health checks of the scene, and the last one's timeout.
const oldEnough = 73 * time.Second

// testAge shows each of these twice. Its pods age as the last of the young is shown, which is the first of the old.
func (w *albWorld) testAge(t *testing.T, table *parityTable) {
	var rows []albRow
	for _, young := range youngVerdicts {
		rows = append(rows, faultRows(func(name string) bool { return name == young.fault })...)
	}
	for i, row := range slices.Backward(rows) {
		w.become(t, row.scene(t))
		if run := w.probe(t, row.fault); blamed(run) != youngVerdicts[i].verdict {
			t.Errorf("%s: of new objects the real components make %s, want %s: %s", row.name, blamed(run), youngVerdicts[i].verdict, run.Verdict.Detail)
		}
	}
	made := time.Now()
	awaitFor(t, 2*oldEnough, func() bool { return time.Since(made) > oldEnough })
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { w.compare(t, table, row) })
	}
}

// compare shows the same to the exporter twice: in the sandbox, and with the real cluster.
func (w *albWorld) compare(t *testing.T, table *parityTable, row albRow) {
	scene := row.scene(t)
	like := probeScene(t, scene, row.fault)
	w.become(t, scene)
	shown := w.probe(t, row.fault)
	table.compare(t, row.name, like, shown)
	if blamed(shown) != row.want {
		t.Errorf("the real components make %s of it, want %s: %s", blamed(shown), row.want, shown.Verdict.Detail)
	}
	if counts := countsOf(shown.Reading); row.counts != "" && counts != row.counts {
		t.Errorf("with the real cluster the reading has %s, want %s", counts, row.counts)
	}
	if read, expected := readingOf(shown), readingOf(like); !slices.Equal(read, expected) {
		t.Errorf("with the real cluster the targets are\n%q, in the sandbox\n%q", read, expected)
	}
	if like.Verdict.Detail != shown.Verdict.Detail {
		t.Errorf("with the real cluster the detail is\n%s\nin the sandbox\n%s", shown.Verdict.Detail, like.Verdict.Detail)
	}
}

// readingOf is what a run saw of a group: each target, with what the cluster says of it, and what is missing.
func readingOf(run chain.Run) []string {
	if run.Reading == nil {
		return nil
	}
	var all []string
	for _, target := range run.Reading.Targets {
		all = append(all, fmt.Sprintf("%s:%d %s %s pod=%s node=%s foreign=%t", target.ID, target.Port, target.State, target.Code, target.Pod, target.Node, target.Foreign))
	}
	slices.Sort(all)
	missing := slices.Sorted(slices.Values(run.Reading.Missing))
	return append(all, fmt.Sprintf("missing %q", missing))
}

// countsOf is a reading in short.
func countsOf(reading *chain.GroupReading) string {
	if reading == nil {
		return ""
	}
	pods := 0
	for _, target := range reading.Targets {
		if target.Pod != "" {
			pods++
		}
	}
	return fmt.Sprintf("%d targets, %d of pods, missing %v", len(reading.Targets), pods, reading.Missing)
}

// sharedOnPurpose adds a sick target of another cluster, and the flag that says whose business it is.
func sharedOnPurpose(s *sandbox.State) {
	binding := *s.Clusters["prod"].Objects.TargetGroupBindings["shop/shop"]
	binding.Spec.MultiCluster = true
	s.Clusters["prod"].Objects.TargetGroupBindings["shop/shop"] = &binding
	group := s.TargetGroup(sandbox.SceneShopGroup)
	ago := time.Now().Add(-time.Hour)
	group.Targets = append(group.Targets, &sandbox.RegisteredTarget{
		ID: "10.9.1.21", Port: 8080, Zone: "eu-west-1a", Registered: ago, Answers: []sandbox.CheckAnswer{{Since: ago, Kind: sandbox.CheckRefusal}},
	})
}

// selected makes the binding web one of the nodes of one zone: the other node is not missed.
func selected(s *sandbox.State) {
	binding := *s.Clusters["prod"].Objects.TargetGroupBindings["shop/web"]
	binding.Spec.NodeSelector = &meta.LabelSelector{MatchLabels: map[string]string{"topology.kubernetes.io/zone": "eu-west-1a"}}
	s.Clusters["prod"].Objects.TargetGroupBindings["shop/web"] = &binding
	group := s.TargetGroup(sandbox.SceneWebGroup)
	group.Targets = group.Targets[:1]
}

// grown makes the service shop one of many endpoints, two in each slice, so that the slices are more than a page of the exporter's.
func grown(endpoints, registered int) func(*sandbox.State) {
	return func(s *sandbox.State) {
		objects, group := &s.Clusters["prod"].Objects, s.TargetGroup(sandbox.SceneShopGroup)
		like := *objects.EndpointSlices["shop/shop-x7k2p"]
		objects.EndpointSlices, group.Targets = map[string]*discovery.EndpointSlice{}, nil
		for i := range endpoints {
			address := fmt.Sprintf("10.0.%d.%d", 3+i/200, 1+i%200)
			if i < registered {
				group.Targets = append(group.Targets, &sandbox.RegisteredTarget{ID: address, Port: 8080, Zone: "eu-west-1a", Registered: time.Now().Add(-time.Hour)})
			}
			key := fmt.Sprintf("shop/shop-%03d", i/2)
			slice := objects.EndpointSlices[key]
			if slice == nil {
				slice = like.DeepCopy()
				slice.ObjectMeta = meta.ObjectMeta{Namespace: "shop", Name: key[len("shop/"):], Labels: like.Labels}
				slice.Endpoints = nil
				objects.EndpointSlices[key] = slice
			}
			e := *like.Endpoints[0].DeepCopy()
			e.Addresses, e.TargetRef.Name = []string{address}, fmt.Sprintf("shop-%03d", i)
			slice.Endpoints = append(slice.Endpoints, e)
		}
	}
}
