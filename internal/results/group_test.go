// Tests of what is said of target groups, to people and in JSON.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const shopARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef"

var shop = chain.Target{
	Name: "shop", Kind: chain.KindALB, Cluster: chain.Cluster{Name: "prod", Region: "eu-west-1"},
	Group: chain.TargetGroup{Region: "eu-west-1", Name: "shop", Binding: chain.BindingRef{Namespace: "apps", Name: "shop-80"}, MinHealthy: 1},
}

// member is a target, written as "ID STATE CODE".
func member(text string) chain.TargetReading {
	words := strings.Fields(text + " ")
	t := chain.TargetReading{TargetHealth: chain.TargetHealth{ID: words[0], Port: 8080, State: chain.TargetState(words[1])}}
	if len(words) > 2 {
		t.Code = words[2]
	}
	return t
}

func foreign(text string) chain.TargetReading {
	t := member(text)
	t.Foreign = true
	return t
}

func TestGroup(t *testing.T) {
	for name, c := range map[string]struct {
		targets              []chain.TargetReading
		missing              []string
		endpoints            string
		order, aws, clusters string
	}{
		"empty":   {nil, nil, "", "", "no targets", ""},
		"healthy": {[]chain.TargetReading{member("b healthy"), member("a healthy")}, nil, "2 ready, 0 not ready, 0 terminating", "b a", "2 healthy", "2 ready, 0 not ready, 0 terminating"},
		"the worst first": {
			[]chain.TargetReading{
				member("h healthy"), foreign("x unhealthy Target.Timeout"), member("d draining Target.DeregistrationInProgress"), member("i initial Elb.InitialHealthChecking"),
				member("? on_holiday"), member("n unused Target.NotInUse"), member("v unavailable"), member("g unhealthy.draining Target.Timeout"), member("u unhealthy Target.Timeout"),
			}, nil, "", "u g n v i d ? h x",
			"1 healthy, 1 unhealthy (Target.Timeout), 1 unhealthy.draining (Target.Timeout), 1 initial (Elb.InitialHealthChecking), " +
				"1 draining (Target.DeregistrationInProgress), 1 unused (Target.NotInUse), 1 unavailable, 1 on_holiday, 1 not of this cluster", "",
		},
		"one code of all": {[]chain.TargetReading{member("a unhealthy Target.Timeout"), member("b unhealthy Target.Timeout")}, nil, "", "a b", "2 unhealthy (Target.Timeout)", ""},
		"the commonest code first": {
			[]chain.TargetReading{member("a unhealthy Target.FailedHealthChecks"), member("b unhealthy Target.Timeout"), member("c unhealthy Target.Timeout"), member("d unhealthy")}, nil, "",
			"a b c d", "4 unhealthy (Target.Timeout 2, Target.FailedHealthChecks 1)", "",
		},
		"all of another cluster": {[]chain.TargetReading{foreign("a healthy")}, nil, "", "a", "1 not of this cluster", ""},
		"missing":                {nil, []string{"10.0.1.14"}, "3 ready, 1 not ready, 0 terminating", "", "no targets", "3 ready, 1 not ready, 0 terminating; not registered: 10.0.1.14"},
		"missing, else unknown":  {nil, []string{"10.0.1.14", "10.0.1.15"}, "", "", "no targets", "not registered: 10.0.1.14, 10.0.1.15"},
		"many are missing":       {nil, strings.Fields("1 2 3 4 5 6 7 8 9 10"), "", "", "no targets", "not registered: 1, 2, 3, 4, 5, 6, 7, 8 and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			run := chain.Run{Target: shop, Reading: &chain.GroupReading{Targets: c.targets, Missing: c.missing}}
			run.Steps = []chain.StepResult{{Step: chain.StepRegistration, Facts: chain.Facts{chain.FactEndpoints: c.endpoints}}}
			before := fmt.Sprint(c.targets)
			got := NewGroup(run)
			var order []string
			for _, target := range got.Targets {
				order = append(order, target.ID)
			}
			if diff := cmp.Diff([]string{c.order, c.aws, c.clusters}, []string{strings.Join(order, " "), got.AWS, got.Cluster}); diff != "" {
				t.Error(diff)
			}
			if fmt.Sprint(c.targets) != before {
				t.Error("the reading was changed")
			}
		})
	}
	if got := NewGroup(chain.Run{Target: shop}); got != nil {
		t.Errorf("without a reading: %+v", got)
	}
}

func TestGroupReport(t *testing.T) {
	sick := member("10.0.1.11 unhealthy Target.Timeout")
	sick.Zone, sick.Since, sick.Pod, sick.Node = "eu-west-1a", epoch.Add(-time.Minute), "shop-1", "node-a"
	sick.Description = "not in the JSON"
	reading := &chain.GroupReading{
		At: epoch.Add(1500 * time.Microsecond).In(time.FixedZone("CET", 3600)), Group: chain.GroupInfo{ARN: shopARN}, Missing: []string{"10.0.1.14"}, FailOpen: true,
		Targets: []chain.TargetReading{foreign("10.9.9.9 healthy"), sick},
	}
	byARN := shop
	byARN.Group.ARN, byARN.Group.Binding = shopARN, chain.BindingRef{}
	const head = `{"target":"shop","kind":"alb","cluster":"prod","identity":"","principal":"","result":"success","step":"","reason":"","detail":"","fix":"",` +
		`"started":"2026-01-02T03:00:00Z","duration_ms":0,"steps":[`
	for name, c := range map[string]struct {
		target  chain.Target
		reading *chain.GroupReading
		want    string
	}{
		"read": {
			shop, reading,
			`"target_group_arn":"` + shopARN + `","region":"eu-west-1","namespace":"apps","binding":"shop-80","targets":[` +
				`{"id":"10.9.9.9","port":8080,"zone":"","state":"healthy","code":"","since":null,"pod":"","node":"","foreign":true},` +
				`{"id":"10.0.1.11","port":8080,"zone":"eu-west-1a","state":"unhealthy","code":"Target.Timeout","since":"2026-01-02T02:59:00Z","pod":"shop-1","node":"node-a","foreign":false}],` +
				`"missing":["10.0.1.14"],"fail_open":true,"read_at":"2026-01-02T03:00:00.001Z"}`,
		},
		"an empty group": {
			byARN, &chain.GroupReading{At: epoch},
			`"target_group_arn":"` + shopARN + `","region":"eu-west-1","namespace":"","binding":"","targets":[],"missing":[],"fail_open":false,"read_at":"2026-01-02T03:00:00Z"}`,
		},
		"not read": {
			shop, nil,
			`"target_group_arn":"","region":"eu-west-1","namespace":"apps","binding":"shop-80","targets":null,"missing":null,"fail_open":null,"read_at":null}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := chain.Run{Target: c.target, Started: epoch, Verdict: success, Reading: c.reading}
			got, err := json.Marshal(NewReport(run))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(head+skipped("registration", "health", "request")+"],"+c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			var back Report
			if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(back.GroupReport, NewReport(run).GroupReport) {
				t.Errorf("read back as %+v (%v)", back.GroupReport, err)
			}
		})
	}
}

func TestGroupFailsOpen(t *testing.T) {
	const meaning = ". The load balancer then routes to all targets, healthy or not; this is not called an outage, since users may still be served."
	for name, c := range map[string]struct {
		open        bool
		where, want string
	}{
		"not":      {false, "", ""},
		"where":    {true, "in eu-west-1a: 0 of 3 targets healthy", "Fail-open: in eu-west-1a: 0 of 3 targets healthy" + meaning},
		"no facts": {true, "", "Fail-open: too few targets are healthy" + meaning},
	} {
		run := chain.Run{Target: shop, Reading: &chain.GroupReading{FailOpen: c.open}, Steps: []chain.StepResult{{Step: chain.StepHealth, Facts: chain.Facts{chain.FactFailOpen: c.where}}}}
		if got := NewGroup(run).FailOpen; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A status keeps the latest reading while reads fail, its report too; the runs themselves stay as they were.
func TestStatusKeepsTheReading(t *testing.T) {
	s := NewStore()
	s.Retain([]chain.Target{shop, ci})
	status := func() Status {
		got, _ := s.Target(shop.Name)
		return got
	}
	if _, ok := status().Report(); ok {
		t.Error("there is a report before the first run")
	}
	feed(s, shop, missed)
	if got, ok := status().Report(); !ok || got.ReadAt != nil || status().Reading != nil {
		t.Errorf("before the first reading: %+v", got.GroupReport)
	}
	read := run(shop, 1, success)
	read.Reading = &chain.GroupReading{At: epoch, Targets: []chain.TargetReading{member("10.0.1.11 healthy")}}
	s.Record(read)
	s.Record(run(shop, 2, missed))
	got, _ := status().Report()
	if status().Reading != read.Reading || status().Latest.Reading != nil || got.ReadAt == nil || !got.ReadAt.Equal(epoch) || got.Result != chain.OutcomeUnknown {
		t.Errorf("while reads fail: %+v, report %+v", status().Reading, got)
	}
	later := run(shop, 3, success)
	later.Reading = &chain.GroupReading{At: epoch.Add(time.Hour)}
	s.Record(later)
	if status().Reading != later.Reading {
		t.Error("a later reading does not take its place")
	}
	s.Record(run(shop, 4, chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRegistration, Reason: chain.ReasonTargetGroupMissing}))
	if status().Reading != nil {
		t.Error("a group that is no more is still shown")
	}
	s.Record(run(ci, 1, success))
	if access, _ := s.Target(ci.Name); access.Reading != nil {
		t.Error("an access target has a reading")
	}
}

// Of the failures of a group of a thousand targets only the latest keeps them: three hundred such groups would hold most of a gigabyte.
func TestKeptFailuresHoldNoTargets(t *testing.T) {
	s := NewStore()
	s.Retain([]chain.Target{shop})
	for i := range 3 {
		failed := run(shop, i, denied)
		failed.Reading = &chain.GroupReading{Targets: []chain.TargetReading{member("10.0.0.1 unhealthy Target.Timeout")}}
		s.Record(failed)
	}
	status, _ := s.Target(shop.Name)
	if status.Latest.Reading == nil || status.Reading == nil || len(status.Failures) != 3 {
		t.Errorf("the latest reading is gone, or a failure: %+v", status)
	}
	for _, failure := range status.Failures {
		if failure.Reading != nil {
			t.Errorf("failure %s holds its targets", failure.ID)
		}
	}
}
