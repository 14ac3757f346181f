// Tests of the order in which states and codes are counted.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"reflect"
	"testing"
)

func TestCountStates(t *testing.T) {
	target := func(state TargetState, code string) TargetHealth { return TargetHealth{State: state, Code: code} }
	for name, c := range map[string]struct {
		targets []TargetHealth
		want    []StateCount
	}{
		"none": {nil, nil},
		"states in the API's order, then those that it has besides": {
			[]TargetHealth{target("zany", ""), target(TargetUnused, CodeNotInUse), target("novel", ""), target(TargetHealthy, ""), target(TargetHealthy, "")},
			[]StateCount{{TargetHealthy, 2, []CodeCount{}}, {TargetUnused, 1, []CodeCount{{CodeNotInUse, 1}}}, {"novel", 1, []CodeCount{}}, {"zany", 1, []CodeCount{}}},
		},
		"codes by how common they are, then by name": {
			[]TargetHealth{
				target(TargetUnhealthy, "b"), target(TargetUnhealthy, "c"), target(TargetUnhealthy, "a"), target(TargetUnhealthy, ""), target(TargetUnhealthy, "c"),
			},
			[]StateCount{{TargetUnhealthy, 5, []CodeCount{{"c", 2}, {"a", 1}, {"b", 1}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := CountStates(c.targets); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}
