// Tests of target groups on the pages: the list, one group's page, old readings, and names that mean harm.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

func newGroup(name string) chain.Target {
	return chain.Target{
		Name: name, Kind: chain.KindALB, Cluster: chain.Cluster{Name: "prod", EKSName: "prod", Region: "eu-west-1", Observer: "platform-readonly"},
		Group: chain.TargetGroup{
			Region: "eu-west-1", Name: name, ARN: "arn:aws:elasticloadbalancing:eu-west-1:" + account + ":targetgroup/" + name + "/0123456789abcdef",
			Binding: chain.BindingRef{Namespace: "apps", Name: name}, MinHealthy: 2, Request: &chain.Request{URL: "https://" + name + ".example.test/"},
		},
	}
}

var (
	shop  = newGroup("shop")
	web   = newGroup("web")
	pay   = newGroup("pay")
	stale = newGroup("stale")
	newly = newGroup("newly")
)

var (
	timedOut = chain.StepResult{Reason: chain.ReasonHealthCheckTimeout, Detail: "1 of 2 measured targets is healthy, 2 are wanted", Facts: chain.Facts{chain.FactEndpoints: "3 ready, 1 not ready, 0 terminating"}}
	failOpen = chain.StepResult{Reason: chain.ReasonAllUnhealthyFailOpen, Detail: "none of 300 targets is healthy (Target.ResponseCodeMismatch)", Facts: chain.Facts{chain.FactFailOpen: "in the whole group: no target is healthy"}}
	elbBusy  = chain.StepResult{Reason: chain.ReasonELBAPIThrottled, Detail: "ELB throttles DescribeTargetHealth: Rate exceeded"}
)

// member is a target of a group, in the cluster as pod shop-N.
func member(n int, state chain.TargetState, code string, since time.Time) chain.TargetReading {
	return chain.TargetReading{
		TargetHealth: chain.TargetHealth{ID: fmt.Sprintf("10.0.1.%d", n), Port: 8080, Zone: "eu-west-1a", State: state, Code: code},
		Since:        since, Pod: fmt.Sprintf("shop-%d", n), Node: "node-a",
	}
}

// reading gives a run a reading of its own time.
func reading(run chain.Run, targets ...chain.TargetReading) chain.Run {
	run.Reading = &chain.GroupReading{At: run.Started, Group: chain.GroupInfo{ARN: run.Target.Group.ARN}, Targets: targets}
	return run
}

// sickShop has a target of each sort, and one that is not registered.
func sickShop(at time.Time) chain.Run {
	stranger := member(90, chain.TargetUnhealthy, chain.CodeTimeout, time.Time{})
	stranger.Pod, stranger.Node, stranger.Foreign = "", "", true
	run := reading(newRun(shop, at, "✔✖✔", timedOut), stranger, member(11, chain.TargetHealthy, "", now.Add(-50*time.Hour)),
		member(12, chain.TargetUnhealthy, chain.CodeTimeout, now.Add(-3*time.Minute)), member(13, chain.TargetDraining, chain.CodeDeregistrationInProgress, time.Time{}))
	run.Reading.Missing = []string{"10.0.1.14"}
	return run
}

// groupStore holds two failures, one unknown whose last reading is old, one success and one target without an event; and an access target of two states each.
func groupStore() *results.Store {
	store := results.NewStore()
	store.Retain([]chain.Target{shop, web, pay, stale, newly, deploy, release})
	at := now.Add(-30 * time.Second)
	store.Record(sickShop(at))
	open := reading(newRun(pay, at, "✔✖✔", failOpen))
	open.Reading.FailOpen = true
	for n := range 300 {
		open.Reading.Targets = append(open.Reading.Targets, chain.TargetReading{TargetHealth: chain.TargetHealth{ID: fmt.Sprintf("i-%017x", n), State: chain.TargetUnhealthy, Code: chain.CodeResponseCodeMismatch}})
	}
	store.Record(open)
	store.Record(reading(newRun(stale, now.Add(-10*time.Minute), "✔✔✔", chain.StepResult{}), member(11, chain.TargetHealthy, "", time.Time{}), member(12, chain.TargetInitial, "", time.Time{})))
	store.Record(newRun(stale, at, "?·✔", elbBusy))
	store.Record(reading(newRun(web, at, "✔✔·", chain.StepResult{})))
	store.Record(newRun(deploy, at, "✔✔✔✔✔✔", chain.StepResult{}))
	store.Record(newRun(release, at, "✔✔✔✔✖·", notMapped))
	return store
}

func TestListShowsGroupsApart(t *testing.T) {
	d := checkDocument(t, serve(t, options(groupStore())).get("/"))
	want := []string{"Failure", "Target groups · Failure", "Target groups · Unknown: the probe could not tell", "Target groups · No event yet", "Success", "Target groups · Success"}
	if diff := cmp.Diff(want, d.texts("h2")); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	if title := d.texts("h1")[0]; title != "Targets: 3 failure, 1 unknown, 1 without an event yet, 2 success" {
		t.Errorf("title %q", title)
	}
	const since, ago = "29 s 2026-03-08 03:12:10 UTC", "29 s ago"
	wantRows := [][]string{
		{"pay", "✖ failure health / all_unhealthy_fail_open" + failOpen.Detail + "Fix of pay", "✔ registration: success✖ health: failure✔ request: success✖ 300 unhealthyread 29 s ago", since, ago},
		{
			"shop", "✖ failure health / health_check_timeout" + timedOut.Detail + "Fix of shop",
			"✔ registration: success✖ health: failure✔ request: success✔ 1 healthy✖ 1 unhealthy○ 1 drainingread 29 s ago", since, ago,
		},
		{"stale", "? unknown registration / elb_api_throttled" + elbBusy.Detail + "Fix of stale", "? registration: unknown· health: skipped✔ request: success✔ 1 healthy○ 1 initialread 9 min ago", since, ago},
		{"newly", "… no event yet"},
		{"web", "✔ success", "✔ registration: success✔ health: success· request: skippedno targetsread 29 s ago", since, ago},
	}
	got := slices.DeleteFunc(rows(d), func(row []string) bool { return strings.Contains(row[0], "@") })
	if diff := cmp.Diff(wantRows, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestGroupPage(t *testing.T) {
	d := checkDocument(t, serve(t, options(groupStore())).get("/targets/shop"))
	if diff := cmp.Diff([]string{"What", "Why", "Ruled out", "Fix", "Targets", "Last runs", "Steps", "Kept failures"}, d.texts("h2")); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	main := d.texts("main")[0]
	const said = "AWS says1 healthy, 1 unhealthy (Target.Timeout), 1 draining (Target.DeregistrationInProgress), 1 not of this cluster" +
		"The cluster says3 ready, 1 not ready, 0 terminating; not registered: 10.0.1.14 Read 29 s ago, at 2026-03-08 03:12:10 UTC."
	if !strings.Contains(main, said) || strings.Contains(main, "Fail-open") {
		t.Errorf("the page should say %q, and nothing of fail-open: %s", said, main)
	}
	want := [][]string{
		{"✖ unhealthy Target.Timeout", "10.0.1.12:8080", "eu-west-1a", "3 min", "shop-12 on node-a"},
		{"○ draining Target.DeregistrationInProgress", "10.0.1.13:8080", "eu-west-1a", "", "shop-13 on node-a"},
		{"✔ healthy", "10.0.1.11:8080", "eu-west-1a", "2 d 2 h", "shop-11 on node-a"},
		{"✖ unhealthy Target.Timeout", "10.0.1.90:8080", "eu-west-1a", "", "not of this cluster"},
	}
	if diff := cmp.Diff(want, rows(d)[:4]); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

// What is said of targets, page by page; the number of listed targets with it.
func TestGroupPages(t *testing.T) {
	s := serve(t, options(groupStore()))
	for name, c := range map[string]struct {
		has, lacks string
		members    int
	}{
		"pay":   {"Fail-open: in the whole group: no target is healthy. The load balancer then routes to all targets, healthy or not; this is not called an outage, since users may still be served. AWS says300 unhealthy (Target.ResponseCodeMismatch) Read 29 s ago", "The cluster says", memberLimit},
		"stale": {"AWS says1 healthy, 1 initial Read 9 min ago, at 2026-03-08 03:02:40 UTC.", "Fail-open", 2},
		"web":   {"AWS saysno targets Read 29 s ago", "And", 0},
		"newly": {"no event yet", "AWS says", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := checkDocument(t, s.get("/targets/"+name))
			main := d.texts("main")[0]
			if !strings.Contains(main, c.has) || strings.Contains(main, c.lacks) {
				t.Errorf("the page should have %q and not %q: %s", c.has, c.lacks, main)
			}
			members := 0
			for _, table := range d.all("table") {
				if attribute(table, "class") == "members" {
					members = len(rows(document{table}))
				}
			}
			if members != c.members {
				t.Errorf("%d targets are listed, want %d", members, c.members)
			}
		})
	}
	if main := parse(t, s.get("/targets/pay")).texts("main")[0]; !strings.Contains(main, "And 100 more; the JSON has all.") {
		t.Error("nothing says that there are more")
	}
	never := results.NewStore()
	never.Retain([]chain.Target{shop})
	never.Record(newRun(shop, now, "?·✔", elbBusy))
	if h2 := checkDocument(t, serve(t, options(never)).get("/targets/shop")).texts("h2"); slices.Contains(h2, "Targets") {
		t.Error("a group that was never read has targets")
	}
}

// hostileGroup is a failure in which every foreign text is the same.
func hostileGroup(hostile string) chain.Run {
	target := newGroup(hostile)
	target.Name = "group " + hostile
	run := newRun(target, now.Add(-time.Minute), "✔✖✔", chain.StepResult{
		Reason: chain.Reason(hostile), Detail: hostile, Facts: chain.Facts{chain.FactEndpoints: hostile, chain.FactFailOpen: hostile, chain.FactRuledOut: hostile},
	})
	bad, odd := member(1, chain.TargetUnhealthy, hostile, now), member(2, chain.TargetState("x"+hostile), "", now)
	bad.ID, bad.Zone, bad.Pod, bad.Node = hostile, hostile, hostile, hostile
	function := odd
	function.ID, function.Port = hostile, 0
	run = reading(run, bad, odd, function)
	run.Reading.Missing, run.Reading.FailOpen = []string{hostile, hostile}, true
	run.ID, run.Verdict.Fix = hostile, "aws "+strings.ReplaceAll(hostile, "\n", " ")
	return run
}

func TestForeignTextOfGroupsIsNeverMarkup(t *testing.T) {
	s := serve(t, options(one(hostileGroup("word"))))
	wantList, wantPage := parse(t, s.get("/")).shape(), parse(t, s.get("/targets/group%20word")).shape()
	for name, hostile := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			run := hostileGroup(hostile)
			s := serve(t, options(one(run)))
			list, page := s.get("/"), s.get("/targets/"+url.PathEscape(run.Target.Name))
			if diff := cmp.Diff(wantList, checkDocument(t, list).shape()); diff != "" {
				t.Errorf("the list (-want +got):\n%s", diff)
			}
			d := checkDocument(t, page)
			if diff := cmp.Diff(wantPage, d.shape()); diff != "" {
				t.Errorf("the page (-want +got):\n%s", diff)
			}
			checkVisible(t, list)
			checkVisible(t, page)
			shown := strings.Join(strings.Fields(visible(hostile)), " ")
			want := []string{"✖ unhealthy " + shown, shown, "0 s", shown + " on " + shown}
			if got := rows(d)[0]; !slices.Equal([]string{got[0], got[2], got[3], got[4]}, want) || !strings.Contains(got[1], shown) {
				t.Errorf("the target is shown as %q", got)
			}
		})
	}
}
