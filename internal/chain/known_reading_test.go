// Tests of what stays known of a target group while it cannot be read.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "testing"

func TestKnownReading(t *testing.T) {
	const arn, other = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef", "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/fedcba9876543210"
	before, own := &GroupReading{Group: GroupInfo{ARN: arn}}, &GroupReading{Group: GroupInfo{ARN: arn}}
	byARN, byName := Target{Kind: KindALB, Group: TargetGroup{ARN: arn}}, Target{Kind: KindALB, Group: TargetGroup{Name: "shop"}}
	moved := Target{Kind: KindALB, Group: TargetGroup{ARN: other}}
	throttled := Verdict{Outcome: OutcomeUnknown, Step: StepHealth, Reason: ReasonELBAPIThrottled}
	missing := Verdict{Outcome: OutcomeFailure, Step: StepRegistration, Reason: ReasonTargetGroupMissing}
	for name, c := range map[string]struct {
		run          Run
		before, want *GroupReading
	}{
		"the run's own":                        {Run{Target: byARN, Reading: own}, before, own},
		"the first":                            {Run{Target: byARN, Reading: own}, nil, own},
		"not read, as before":                  {Run{Target: byARN, Verdict: throttled}, before, before},
		"not read, found by name":              {Run{Target: byName, Verdict: throttled}, before, before},
		"never read":                           {Run{Target: byARN, Verdict: throttled}, nil, nil},
		"there is no such group":               {Run{Target: byARN, Verdict: missing}, before, nil},
		"the target names another group since": {Run{Target: moved, Verdict: throttled}, before, nil},
	} {
		if got := c.run.KnownReading(c.before); got != c.want {
			t.Errorf("%s: got %p, want %p", name, got, c.want)
		}
	}
}
