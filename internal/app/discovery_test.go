// Discovery from its entry in the configuration to targets that are probed, and to their end.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/metrics"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const foundGroups = `clusters:
  - {name: prod, region: eu-west-1, observer: exporter}
identities:
  - {name: exporter, source: irsa}
target_groups:
  - {name: prod-groups, bindings_of: prod, interval: 1s, timeout: 1s, labels: {team: shop}}
`

// The bindings of a cluster become targets, and so do the groups behind a load balancer; with their entry they go.
func TestDiscoveredTargets(t *testing.T) {
	scene := newScene(t)
	scene.Config = foundGroups
	e := startExporter(t, scene)
	targets := func() string { return strings.Join(slices.Sorted(maps.Keys(e.verdicts())), " ") }
	e.await("an event of both groups", func() bool { return targets() == "shop web" })
	text := e.get("/metrics")
	for _, line := range []string{
		`eks_slo_exporter_discovered_targets{discovery="prod-groups"} 2`,
		`alb_target_info{binding="web",cluster="prod",namespace="shop",region="eu-west-1",target_group="web",team="shop"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	scene.Config = strings.Replace(foundGroups, "bindings_of: prod", "region: eu-west-1, observer: exporter, load_balancer: \""+sandbox.SceneLoadBalancer+"\"", 1)
	if _, err := scene.WriteConfig(); err != nil {
		t.Fatal(err)
	}
	if err := e.Reload(); err != nil {
		t.Fatal(err)
	}
	e.await("the groups behind the load balancer", func() bool {
		return strings.Contains(e.get("/metrics"), `alb_target_info{binding="",cluster="",namespace="",region="eu-west-1",target_group="web",team="shop"} 1`)
	})
	scene.Config, _, _ = strings.Cut(foundGroups, "target_groups:")
	if _, err := scene.WriteConfig(); err != nil {
		t.Fatal(err)
	}
	if err := e.Reload(); err != nil {
		t.Fatal(err)
	}
	if text := e.get("/metrics"); strings.Contains(text, "target_group=") || strings.Contains(text, "discovery=") || strings.Contains(text, "eks_slo_exporter_aws_budget_stretch{") {
		t.Error("series of found groups are left")
	}
}

func aGroup(name, arn string) chain.Target {
	return chain.Target{Name: name, Kind: chain.KindALB, Group: chain.TargetGroup{ARN: arn}}
}

// What is configured is not found again, and names depend on the order of the entries alone.
func TestUnite(t *testing.T) {
	const shop, shop2, web = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/1", "arn:aws:elasticloadbalancing:eu-west-1:444455556666:targetgroup/shop/2", "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/3"
	configured := []chain.Target{aGroup("my-shop", shop), aGroup("web", "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/web/9")}
	entries := []chain.Discovery{{Name: "one"}, {Name: "two"}}
	got := unite(configured, entries, map[string][]chain.Target{
		"one": {aGroup("shop", shop), aGroup("web", web)},
		"two": {aGroup("shop", shop2), aGroup("web", web)},
	})
	var names []string
	for _, target := range got {
		names = append(names, target.Name+"="+target.Group.ARN[strings.LastIndex(target.Group.ARN, "/")+1:])
	}
	if want := "web.one=3 shop=2"; strings.Join(names, " ") != want {
		t.Errorf("got %v, want %s", names, want)
	}
}

// A group is a target in each cluster that fills it, and not once more when an entry finds it without a cluster.
func TestUniteByCluster(t *testing.T) {
	const shop = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/1"
	in := func(cluster string) chain.Target {
		target := aGroup("shop", shop)
		target.Cluster.Name = cluster
		return target
	}
	for name, c := range map[string]struct {
		configured []chain.Target
		found      [][]chain.Target
		want       string
	}{
		"configured with its binding":      {[]chain.Target{in("prod")}, [][]chain.Target{{in("prod")}, {in("")}}, ""},
		"configured for another cluster":   {[]chain.Target{in("prod")}, [][]chain.Target{{in("staging")}}, "shop.1=staging"},
		"configured without a cluster":     {[]chain.Target{in("")}, [][]chain.Target{{in("prod")}, {in("")}}, ""},
		"found in two clusters":            {nil, [][]chain.Target{{in("prod")}, {in("staging")}}, "shop=prod shop.2=staging"},
		"found in a cluster, then without": {nil, [][]chain.Target{{in("prod")}, {in("")}}, "shop=prod"},
		"found without, then in a cluster": {nil, [][]chain.Target{{in("")}, {in("prod")}}, "shop="},
	} {
		var entries []chain.Discovery
		found := map[string][]chain.Target{}
		for i, targets := range c.found {
			entries = append(entries, chain.Discovery{Name: strconv.Itoa(i + 1)})
			found[strconv.Itoa(i+1)] = targets
		}
		var got []string
		for _, target := range unite(c.configured, entries, found) {
			got = append(got, target.Name+"="+target.Cluster.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}

// A look that fails says so once, keeps what was found, and a reload that takes the entry away forgets it.
func TestDiscoveryKeepsWhatItFound(t *testing.T) {
	m, err := metrics.New(metrics.Options{Registry: prometheus.NewRegistry(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	log, news, fails := &syncBuffer{}, 0, error(nil)
	d := &discovery{
		discover: func(context.Context, chain.Discovery) ([]chain.Target, error) {
			return []chain.Target{aGroup("shop", "arn")}, fails
		},
		changed: func() { news++ }, metrics: m, logger: slog.New(slog.NewTextHandler(log, nil)), found: map[string][]chain.Target{}, trouble: map[string]string{},
	}
	entry := chain.Discovery{Name: "one", BindingsOf: true, Template: chain.Target{Interval: time.Second}}
	d.set([]chain.Discovery{entry})
	for _, fails = range []error{nil, nil, errors.New("no"), errors.New("no"), nil} {
		d.look(t.Context())
		if got := d.targets(nil); len(got) != 1 {
			t.Fatalf("after %v the targets are %v", fails, got)
		}
	}
	if said := strings.Count(log.String(), "could not tell"); said != 1 || news != 1 || !strings.Contains(log.String(), "works again") {
		t.Errorf("told %d times, %d news:\n%s", said, news, log)
	}
	d.discover = func(context.Context, chain.Discovery) ([]chain.Target, error) { panic("k8s-aws-v1.c2VjcmV0") }
	d.look(t.Context())
	if said := log.String(); len(d.targets(nil)) != 1 || !strings.Contains(said, "discovery panicked") || strings.Contains(said, "c2VjcmV0") {
		t.Errorf("after a crash %v are left:\n%s", d.targets(nil), said)
	}
	entry.Template.Interval = time.Minute
	d.set([]chain.Discovery{entry})
	if got := d.targets(nil); len(got) != 0 {
		t.Errorf("a changed entry still has %v", got)
	}
}

// An entry that is not answered keeps nobody waiting for what the one before it found.
func TestDiscoveryTakesInEachEntryAtOnce(t *testing.T) {
	m, err := metrics.New(metrics.Options{Registry: prometheus.NewRegistry(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	d := &discovery{metrics: m, logger: slog.New(slog.DiscardHandler), found: map[string][]chain.Target{}, trouble: map[string]string{}}
	d.changed = func() { seen = len(d.targets(nil)) }
	d.discover = func(_ context.Context, entry chain.Discovery) ([]chain.Target, error) {
		if entry.Name == "slow" && seen != 1 {
			t.Errorf("%d targets were taken in before the slow entry was asked", seen)
		}
		return []chain.Target{aGroup(entry.Name, "arn of "+entry.Name)}, nil
	}
	d.set([]chain.Discovery{{Name: "fast"}, {Name: "slow"}})
	d.look(t.Context())
	if seen != 2 {
		t.Errorf("%d targets", seen)
	}
}
