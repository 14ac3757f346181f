// Tests of the store: what it keeps, what it forgets, its bounds, and that readers' values never change.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var (
	ci    = chain.Target{Name: "ci@prod", Kind: chain.KindAccess}
	other = chain.Target{Name: "other@prod", Kind: chain.KindAccess}
	epoch = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
)

var (
	success = chain.Verdict{Outcome: chain.OutcomeSuccess}
	denied  = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepRBAC, Reason: chain.ReasonDenied}
	refused = chain.Verdict{Outcome: chain.OutcomeFailure, Step: chain.StepEndpoint, Reason: chain.ReasonTCPRefused}
	missed  = chain.Verdict{Outcome: chain.OutcomeUnknown, Reason: chain.ReasonMissedSlot}
)

// feed records runs 0, 1, 2, … of a target, a minute apart.
func feed(s *Store, target chain.Target, verdicts ...chain.Verdict) {
	for i, v := range verdicts {
		s.Record(run(target, i, v))
	}
}

func run(target chain.Target, i int, v chain.Verdict) chain.Run {
	at := epoch.Add(time.Duration(i) * time.Minute)
	return chain.Run{ID: fmt.Sprint(i), Target: target, Slot: at, Started: at.Add(time.Second), Verdict: v}
}

func ids(runs []chain.Run) []string {
	var list []string
	for _, r := range runs {
		list = append(list, r.ID)
	}
	return list
}

func repeat(v chain.Verdict, n int) []chain.Verdict {
	list := make([]chain.Verdict, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func concat(lists ...[]chain.Verdict) (all []chain.Verdict) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func TestStatusAfter(t *testing.T) {
	for name, c := range map[string]struct {
		verdicts    []chain.Verdict
		since       int // the run with which the verdict began
		consecutive int
		failures    []string
	}{
		"one success":                            {[]chain.Verdict{success}, 0, 0, nil},
		"a row of successes":                     {repeat(success, 5), 0, 0, nil},
		"a failure begins":                       {[]chain.Verdict{success, success, denied}, 2, 1, []string{"2"}},
		"it holds":                               {[]chain.Verdict{success, denied, denied, denied}, 1, 3, []string{"3", "2", "1"}},
		"another reason is another verdict":      {[]chain.Verdict{denied, denied, refused}, 2, 3, []string{"2", "1", "0"}},
		"an unknown leaves the failures counted": {[]chain.Verdict{denied, missed, denied}, 2, 2, []string{"2", "0"}},
		"unknown as the latest":                  {[]chain.Verdict{denied, denied, missed, missed}, 2, 2, []string{"1", "0"}},
		"a success ends them, and they are kept": {[]chain.Verdict{denied, denied, success}, 2, 0, []string{"1", "0"}},
		"ten are kept":                           {repeat(denied, 12), 0, 12, []string{"11", "10", "9", "8", "7", "6", "5", "4", "3", "2"}},
		"and the newest of each older kind": {concat(repeat(refused, 3), repeat(denied, 12)), 3, 15,
			[]string{"14", "13", "12", "11", "10", "9", "8", "7", "6", "5", "2"}},
		"which goes when its kind is among the ten": {concat(repeat(refused, 3), repeat(denied, 12), []chain.Verdict{refused}), 15, 16,
			[]string{"15", "14", "13", "12", "11", "10", "9", "8", "7", "6"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore()
			s.Retain([]chain.Target{ci})
			feed(s, ci, c.verdicts...)
			got, ok := s.Target(ci.Name)
			if !ok {
				t.Fatal("the target is not known")
			}
			if want := run(ci, c.since, success).Started; !got.Since.Equal(want) {
				t.Errorf("since %s, want %s", got.Since, want)
			}
			if got.ConsecutiveFailures != c.consecutive {
				t.Errorf("%d consecutive failures, want %d", got.ConsecutiveFailures, c.consecutive)
			}
			if diff := cmp.Diff(c.failures, ids(got.Failures)); diff != "" {
				t.Errorf("kept failures: %s", diff)
			}
			if want := fmt.Sprint(len(c.verdicts) - 1); got.Latest == nil || got.Latest.ID != want {
				t.Errorf("latest is %v, want run %s", got.Latest, want)
			}
		})
	}
}

func TestStripHoldsTheLastRuns(t *testing.T) {
	s := NewStore()
	s.Retain([]chain.Target{ci})
	feed(s, ci, concat(repeat(success, 60), []chain.Verdict{denied})...)
	got, _ := s.Target(ci.Name)
	if len(got.Strip) != StripLength || got.Strip[0].ID != "11" {
		t.Errorf("strip of %d begins with run %s, want %d and 11", len(got.Strip), got.Strip[0].ID, StripLength)
	}
	want := Point{"60", epoch.Add(time.Hour), chain.OutcomeFailure, chain.StepRBAC, chain.ReasonDenied}
	if diff := cmp.Diff(want, got.Strip[StripLength-1]); diff != "" {
		t.Error(diff)
	}
}

// However long a target fails in however many ways, what is kept stays below the closed list of reasons.
func TestMemoryIsBounded(t *testing.T) {
	s := NewStore()
	s.Retain([]chain.Target{ci})
	kinds := 0
	for range 3 {
		kinds = 0
		for _, row := range chain.Reasons() {
			if row.Step != chain.StepNone {
				kinds++
				feed(s, ci, chain.Verdict{Outcome: chain.OutcomeFailure, Step: row.Step, Reason: row.Reason})
			}
		}
	}
	got, _ := s.Target(ci.Name)
	if n := len(got.Failures); n != kinds || kinds == 0 {
		t.Errorf("%d failures kept of %d kinds", n, kinds)
	}
	if len(got.Strip) != StripLength || cap(got.Strip) > 2*StripLength || cap(got.Failures) > 2*(kinds+FailuresLength) {
		t.Errorf("strip %d/%d, failures %d/%d", len(got.Strip), cap(got.Strip), len(got.Failures), cap(got.Failures))
	}
}

func TestRetain(t *testing.T) {
	s := NewStore()
	feed(s, ci, success) // not known yet: dropped
	if all := s.Snapshot(); len(all) != 0 {
		t.Fatalf("an unknown target was recorded: %v", all)
	}
	s.Retain([]chain.Target{other, ci})
	if all := s.Snapshot(); len(all) != 2 || all[0].Target.Name != ci.Name || all[0].Latest != nil || !all[0].Since.IsZero() {
		t.Fatalf("before the first run: %v", all)
	}
	feed(s, ci, denied)
	feed(s, other, success)
	changed := ci
	changed.Timeout = time.Second
	s.Retain([]chain.Target{changed})
	got, ok := s.Target(ci.Name)
	if !ok || !reflect.DeepEqual(got.Target, changed) || len(got.Failures) != 1 {
		t.Errorf("a target that stays, changed, has lost its runs: %+v", got)
	}
	feed(s, other, success) // removed: dropped
	if _, ok := s.Target(other.Name); ok || len(s.Snapshot()) != 1 {
		t.Error("a removed target is still known")
	}
	s.Retain([]chain.Target{other})
	if got, _ := s.Target(other.Name); got.Latest != nil {
		t.Error("a target that comes back has old runs")
	}
}

func TestRun(t *testing.T) {
	s := NewStore()
	s.Retain([]chain.Target{ci})
	feed(s, ci, denied, success, success)
	for name, c := range map[string]struct {
		target, id string
		want       bool
	}{
		"the latest":        {ci.Name, "2", true},
		"a kept failure":    {ci.Name, "0", true},
		"an older success":  {ci.Name, "1", false},
		"no such run":       {ci.Name, "7", false},
		"no such target":    {"nobody@prod", "2", false},
		"nothing was asked": {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := s.Run(c.target, c.id)
			if ok != c.want || (ok && got.ID != c.id) {
				t.Errorf("got run %q, %v", got.ID, ok)
			}
		})
	}
}

// A value that was read stays as it was, whatever is recorded later.
func TestReadersValuesNeverChange(t *testing.T) {
	s := NewStore()
	s.Retain([]chain.Target{ci})
	feed(s, ci, concat(repeat(denied, 30), repeat(refused, 30))...)
	held, _ := s.Target(ci.Name)
	strip, failures := fmt.Sprint(held.Strip), fmt.Sprint(ids(held.Failures))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { feed(s, ci, concat(repeat(success, 60), repeat(denied, 60))...) })
		wait.Go(func() {
			for range 20 {
				for _, status := range s.Snapshot() {
					_, _ = fmt.Sprint(status.Strip, ids(status.Failures)), status.Latest.Verdict
				}
			}
		})
	}
	wait.Wait()
	if fmt.Sprint(held.Strip) != strip || fmt.Sprint(ids(held.Failures)) != failures || held.Latest.ID != "59" {
		t.Error("a status changed under its reader")
	}
}
