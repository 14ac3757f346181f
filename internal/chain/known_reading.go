// What is known of a target group outlives the runs that could not read it.
//
// SPDX-License-Identifier: Apache-2.0

package chain

// KnownReading returns the latest reading of the run's target group: the run's own, else the one before it, whose age its time tells. It is nil when there was none, when ELB says that there
// is no such group, and when the target names another group than the one that was read.
func (r Run) KnownReading(before *GroupReading) *GroupReading {
	arn := r.Target.Group.ARN
	switch {
	case r.Reading != nil:
		return r.Reading
	case before == nil || r.Verdict.Reason == ReasonTargetGroupMissing || arn != "" && before.Group.ARN != arn:
		return nil
	}
	return before
}
