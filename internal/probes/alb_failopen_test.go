// Tests of failing open: where the load balancer sends to targets that fail their checks.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestFailOpen(t *testing.T) {
	network := func(f *albFake) { f.group.LoadBalancers[0].Type = chain.LoadBalancerNetwork }
	count := func(f *albFake, n int) { f.attributes.MinHealthyCount = n }
	for name, c := range map[string]struct {
		change func(*albFake)
		states string // targets in zones a, b, a, b, …
		want   string
		asked  int
	}{
		"all healthy":                         {nil, "healthy,healthy", "", 0},
		"none healthy":                        {nil, timedOut + "," + timedOut, "in the whole group: no target is healthy", 0},
		"none healthy, none bad":              {nil, "initial,initial", "", 0},
		"one healthy is enough by default":    {nil, "healthy," + timedOut + "," + timedOut, "", 1},
		"the count asks for more":             {func(f *albFake) { count(f, 2) }, "healthy," + timedOut + "," + timedOut, "in the whole group: 1 of 3 targets healthy", 1},
		"the count is met":                    {func(f *albFake) { count(f, 2) }, "healthy,healthy," + timedOut, "", 1},
		"the percentage asks for more":        {func(f *albFake) { f.attributes.MinHealthyPercent = 51 }, "healthy," + timedOut, "in the whole group: 1 of 2 targets healthy", 1},
		"the percentage is met":               {func(f *albFake) { f.attributes.MinHealthyPercent = 50 }, "healthy," + timedOut, "", 1},
		"below the count, and none is bad":    {func(f *albFake) { count(f, 3) }, "healthy,healthy", "", 0},
		"the leaving and unused do not count": {func(f *albFake) { f.attributes.MinHealthyPercent = 50 }, "healthy," + timedOut + ",draining,unused Target.InvalidState", "", 1},
		"a network load balancer: by zone":    {network, "healthy," + timedOut + ",healthy," + timedOut, "in eu-west-1b: 0 of 2 targets healthy", 1},
		"a zone where none is bad":            {network, "healthy,initial," + timedOut, "", 1},
		"an application one sends across":     {nil, "healthy," + timedOut + ",healthy," + timedOut, "", 1},
		"attributes cannot be read":           {func(f *albFake) { count(f, 2); f.fails["Attributes"] = denied("DescribeTargetGroupAttributes") }, "healthy," + timedOut + "," + timedOut, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			f, target := newALBFake(), shopTarget()
			f.set(strings.Split(c.states, ",")...)
			if c.change != nil {
				c.change(f)
			}
			target.Group.Binding, target.Group.MinHealthy = chain.BindingRef{}, 1
			run := runALB(t, albProber(t, f), target)
			if got := run.Facts()[chain.FactFailOpen]; got != c.want || run.Reading.FailOpen != (c.want != "") {
				t.Errorf("got %q (%v), want %q", got, run.Reading.FailOpen, c.want)
			}
			if asked := f.count("Attributes"); asked != c.asked {
				t.Errorf("attributes were asked for %d times, want %d", asked, c.asked)
			}
		})
	}
}

// Where a zone is not told, the whole group is judged; and a registration that failed does not hide that the load balancer fails open.
func TestFailOpenElsewhere(t *testing.T) {
	f, target := newALBFake(), shopTarget()
	f.group.LoadBalancers[0].Type = chain.LoadBalancerNetwork
	f.set("healthy", timedOut)
	f.targets[0].Zone, target.Group.Binding, target.Group.MinHealthy = "", chain.BindingRef{}, 1
	if run := runALB(t, albProber(t, f), target); run.Reading.FailOpen {
		t.Error("the zone is guessed")
	}
	f, target = newALBFake(), shopTarget()
	f.set(timedOut, timedOut, timedOut)
	f.bindAgain("web", false)
	run := runALB(t, albProber(t, f), target)
	expect(t, run, "failure registration/target_group_shared ✖·✔", "")
	if !run.Reading.FailOpen || f.count("Attributes") != 0 {
		t.Errorf("failing open is %v, attributes were asked for %d times", run.Reading.FailOpen, f.count("Attributes"))
	}
}
