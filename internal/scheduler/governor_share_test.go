// Tests of how a governor shares budgets: the arithmetic, the pools, who is in trouble, and what its options must be.
//
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		targets, hot int
		want         PoolState
	}{
		"nobody asks for too much":              {57, 0, PoolState{Factor: 1, HotFactor: 1, Pass: own}},
		"the stable ones do":                    {300, 0, PoolState{Factor: 10 / 1.9, HotFactor: 1, Pass: 157895 * time.Millisecond}},
		"hot ones come first":                   {300, 6, PoolState{Factor: 9.8 / 1.7, HotFactor: 1, Pass: 172941 * time.Millisecond}},
		"hot ones have what stable ones leave":  {57, 57, PoolState{Factor: 1, HotFactor: 1, Pass: own}},
		"hot ones have half":                    {300, 60, PoolState{Factor: 8 / 0.95, HotFactor: 2 / 0.95, Pass: 252632 * time.Millisecond}},
		"hot ones are half":                     {300, 150, PoolState{Factor: 5 / 0.95, HotFactor: 5 / 0.95, Pass: 157895 * time.Millisecond}},
		"hot ones are most: all are alike":      {300, 200, PoolState{Factor: 10 / 1.9, HotFactor: 10 / 1.9, Pass: 157895 * time.Millisecond}},
		"all are hot":                           {300, 300, PoolState{Factor: 10 / 1.9, HotFactor: 10 / 1.9, Pass: 157895 * time.Millisecond}},
		"one in trouble among too many for one": {1, 1, PoolState{Factor: 1, HotFactor: 1, Pass: own}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGovernor(t, 2)
			fleet := groups(c.targets)
			g.Set(fleet)
			for _, target := range fleet[:c.hot] {
				g.Observe(seen(target, time.Now(), true))
			}
			c.want.Account, c.want.Region, c.want.Targets, c.want.Hot = "111122223333", "eu-west-1", c.targets, c.hot
			near := cmp.Options{cmpopts.EquateApprox(1e-9, 0), cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Millisecond })}
			if diff := cmp.Diff([]PoolState{c.want}, g.Pools(), near); diff != "" {
				t.Error(diff)
			}
			for _, target := range fleet {
				g.Observe(seen(target, time.Now(), false))
			}
			if s := g.Pools()[0]; s.Hot != 0 {
				t.Errorf("%d are hot for ever", s.Hot)
			}
		})
	}
}

// One pool's trouble costs the other nothing; a group whose account is not known belongs to its observer's pool, and access targets to none.
func TestPoolsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := newELB(2), newELB(2)
		g := newGovernor(t, 2)
		fleet := groups(200)
		var others []chain.Target
		for i := range 40 {
			other := group(fmt.Sprintf("other-%03d", i), "444455556666")
			fleet, others = append(fleet, other), append(others, other)
		}
		named := chain.Target{Name: "named", Kind: chain.KindALB, Interval: own, Timeout: timeout, Group: chain.TargetGroup{Region: "eu-west-1", Name: "named", Observer: chain.Identity{Name: "exporter"}}}
		g.Set(append(fleet, named, target("ci@prod")))
		here.bad = func(int, time.Duration) bool { return true }
		s, _ := govern(t, g, here)
		s2, _ := govern(t, g, there)
		s.Set(fleet[:200])
		s2.Set(others)
		time.Sleep(10 * time.Minute)
		stop(t, s)
		stop(t, s2)
		if oldest := there.oldest(others); oldest > own {
			t.Errorf("a value of the pool without trouble was %s old", oldest)
		}
		want := []PoolState{
			{Account: "111122223333", Region: "eu-west-1", Targets: 200, Hot: 200, Factor: 200.0 / 57, HotFactor: 200.0 / 57},
			{Account: "444455556666", Region: "eu-west-1", Targets: 40, Factor: 1, HotFactor: 1},
			{Account: "observer exporter", Region: "eu-west-1", Targets: 1, Factor: 1, HotFactor: 1},
		}
		if diff := cmp.Diff(want, g.Pools(), cmpopts.EquateApprox(1e-9, 0), cmpopts.IgnoreFields(PoolState{}, "Pass")); diff != "" {
			t.Error(diff)
		}
		g.Set(others)
		if n := len(g.Pools()); n != 1 || len(g.members) != 40 {
			t.Errorf("%d pools and %d targets stay", n, len(g.members))
		}
	})
}

// A target that changes its pool, once its ARN is known, is no newcomer there.
func TestPlaceIsKeptAcrossPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGovernor(t, 2)
		fleet := groups(200)
		known := fleet[199]
		fleet[199].Group.ARN = ""
		g.Set(fleet[100:])
		slot := g.Next(fleet[199], time.Now())
		time.Sleep(own)
		fleet[199] = known
		g.Set(fleet)
		began := time.Now()
		newcomer := time.Duration(0)
		for _, target := range fleet[:199] {
			newcomer = max(newcomer, g.Next(target, began).Sub(began))
		}
		if wait := g.Next(known, slot.Add(own)).Sub(began); wait > newcomer/2 {
			t.Errorf("its next slot is %s away, that of a newcomer %s", wait, newcomer)
		}
		if list := g.Pools(); len(list) != 1 || list[0].Targets != 200 {
			t.Errorf("pools %+v", list)
		}
	})
}

// A place in line that nobody comes for holds nobody up, and is there when somebody comes.
func TestNobodyWaitsForWhoDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGovernor(t, 2)
		fleet := groups(100)
		g.Set(fleet)
		began := time.Now()
		for _, target := range fleet {
			g.Next(target, began)
		}
		time.Sleep(10 * time.Second) // 19 turns passed that nobody took
		if at := g.Next(fleet[98], began); time.Until(at) > 45*time.Second {
			t.Errorf("the 99th waits %s more, as if there were others", time.Until(at))
		}
		if at := g.Next(fleet[1], began); at.After(time.Now()) {
			t.Errorf("the second came late, and waits %s more", time.Until(at))
		}
	})
}

func TestUnknownTargetIsNotPaced(t *testing.T) {
	g := newGovernor(t, 2)
	at := time.Now().Add(time.Hour)
	g.Observe(seen(groups(1)[0], at, true))
	if got := g.Next(groups(1)[0], at); !got.Equal(at) || len(g.Pools()) != 0 {
		t.Errorf("got %s for %s", got, at)
	}
}

func TestTrouble(t *testing.T) {
	one := groups(1)[0]
	unknown := func(reason chain.Reason) chain.Run {
		return chain.UnknownRun("1", one, time.Now(), reason, "")
	}
	draining := seen(one, time.Now(), false)
	draining.Reading.Targets[0].State = chain.TargetDraining
	empty := seen(one, time.Now(), false)
	empty.Reading.Targets = nil
	half := unknown(chain.ReasonEKSAPIThrottled)
	half.Reading = seen(one, time.Now(), true).Reading
	for name, c := range map[string]struct {
		run       chain.Run
		hot, told bool
	}{
		"well":                       {seen(one, time.Now(), false), false, true},
		"failed":                     {seen(one, time.Now(), true), true, true},
		"a target drains":            {draining, true, true},
		"no target at all":           {empty, true, true},
		"denied":                     {unknown(chain.ReasonObserverDenied), true, true},
		"could not be read":          {unknown(chain.ReasonReadFailed), true, true},
		"ELB throttled":              {unknown(chain.ReasonELBAPIThrottled), false, false},
		"STS throttled":              {unknown(chain.ReasonSTSThrottled), false, false},
		"EKS throttled, targets bad": {half, true, true},
		"missed its slot":            {unknown(chain.ReasonMissedSlot), false, false},
		"overran":                    {unknown(chain.ReasonOverrun), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if hot, told := trouble(c.run); hot != c.hot || told != c.told {
				t.Errorf("got %t, told %t; want %t, told %t", hot, told, c.hot, c.told)
			}
		})
	}
}

func TestNewGovernorNamesTheField(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *GovernorOptions)
		want   string
	}{
		"no budget":       {func(o *GovernorOptions) { o.ReadsPerSecond = 0 }, "scheduler: GovernorOptions.ReadsPerSecond is 0, must be above 0"},
		"all in reserve":  {func(o *GovernorOptions) { o.Reserve = 1 }, "scheduler: GovernorOptions.Reserve is 1, must be from 0 to below 1"},
		"reserve of less": {func(o *GovernorOptions) { o.Reserve = -0.1 }, "scheduler: GovernorOptions.Reserve is -0.1, must be from 0 to below 1"},
		"no clock":        {func(o *GovernorOptions) { o.Now = nil }, "scheduler: GovernorOptions.Now is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			options := DefaultGovernorOptions()
			c.change(&options)
			if _, err := NewGovernor(options); err == nil || err.Error() != c.want {
				t.Errorf("got error %v, want %s", err, c.want)
			}
		})
	}
}

// Asking is cheap: 1,000 targets ask some twenty times for each slot.
func BenchmarkNext(b *testing.B) {
	g, err := NewGovernor(DefaultGovernorOptions())
	if err != nil {
		b.Fatal(err)
	}
	fleet := groups(1000)
	g.Set(fleet)
	earliest := time.Now()
	for i := 0; b.Loop(); i++ {
		g.Next(fleet[i%1000], earliest)
	}
}

// A budget that reads nothing in anybody's lifetime is not none: times that no Duration holds do not wrap around to now.
func TestTinyBudgets(t *testing.T) {
	for _, reads := range []float64{0.01, 1e-9, 1e-12, 1e-300} {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		options := DefaultGovernorOptions()
		options.ReadsPerSecond, options.Now = reads, func() time.Time { return now }
		g, err := NewGovernor(options)
		if err != nil {
			t.Fatal(err)
		}
		fleet := groups(3)
		g.Set(fleet)
		for i, target := range fleet {
			if wait := g.Next(target, now).Sub(now); i > 0 && wait < 100*time.Second || i == 0 && wait != 0 {
				t.Errorf("at %g reads a second target %d waits %s", reads, i, wait)
			}
		}
		if pass := g.Pools()[0].Pass; pass < 300*time.Second {
			t.Errorf("at %g reads a second a pass takes %s", reads, pass)
		}
	}
}
