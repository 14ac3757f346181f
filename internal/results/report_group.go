// What a report says of a target group beside the verdict: where it is, and every target of the latest reading.
//
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// GroupReport is the part of a Report that alb targets alone have. Before the first reading, Targets, Missing, FailOpen and ReadAt are null; of an empty group Targets is [].
type GroupReport struct {
	ARN       string         `json:"target_group_arn"` // "" while the group is known by its name alone
	Region    string         `json:"region"`
	Namespace string         `json:"namespace"` // of the TargetGroupBinding; "" when none is named
	Binding   string         `json:"binding"`
	Targets   []MemberReport `json:"targets"`   // as DescribeTargetHealth orders them
	Missing   []string       `json:"missing"`   // ready endpoints, or nodes, of the cluster that are not registered
	FailOpen  *bool          `json:"fail_open"` // the load balancer routes to targets that are not healthy, since too few are
	ReadAt    *time.Time     `json:"read_at"`   // UTC, to the millisecond; older than started while reads fail
}

// MemberReport is one registered target of a GroupReport.
type MemberReport struct {
	ID      string            `json:"id"` // instance id, IP address, or an ARN
	Port    int32             `json:"port"`
	Zone    string            `json:"zone"`
	State   chain.TargetState `json:"state"`
	Code    string            `json:"code"`  // ELB's reason code; "" when healthy
	Since   *time.Time        `json:"since"` // since when it is known to be in this state; null: not known
	Pod     string            `json:"pod"`
	Node    string            `json:"node"`
	Foreign bool              `json:"foreign"` // another cluster's: it counts neither as good nor as bad
}

func newGroupReport(group chain.TargetGroup, reading *chain.GroupReading) *GroupReport {
	report := &GroupReport{ARN: group.ARN, Region: group.Region, Namespace: group.Binding.Namespace, Binding: group.Binding.Name}
	if reading == nil {
		return report
	}
	report.ARN = cmp.Or(reading.Group.ARN, group.ARN)
	report.FailOpen, report.ReadAt = &reading.FailOpen, moment(reading.At)
	report.Missing = append([]string{}, reading.Missing...)
	report.Targets = make([]MemberReport, 0, len(reading.Targets))
	for _, t := range reading.Targets {
		report.Targets = append(report.Targets, MemberReport{t.ID, t.Port, t.Zone, t.State, t.Code, moment(t.Since), t.Pod, t.Node, t.Foreign})
	}
	return report
}

// moment is a time in JSON: UTC, to the millisecond; nil when there is none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}
