// The targets of a group in the ELBv2 API: their health, and their registration.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// elbTarget is a target in a question or an answer.
type elbTarget struct {
	ID               string `xml:"Id"`
	Port             int32
	AvailabilityZone string `xml:",omitempty"`
}

type elbTargetHealth struct {
	Target                 elbTarget
	HealthCheckPort        string
	TargetHealth           elbHealth
	AnomalyDetection       *elbAnomaly
	AdministrativeOverride *elbOverride
}

type elbHealth struct {
	State       chain.TargetState
	Reason      string `xml:",omitempty"`
	Description string `xml:",omitempty"`
}

type elbAnomaly struct{ Result, MitigationInEffect string }

type elbOverride struct{ State, Reason, Description string }

// The override that no zonal shift makes is worded as ELB words it; that of a zonal shift in its likeness, since its code alone is documented.
var (
	noOverride = &elbOverride{"no_override", "AdministrativeOverride.NoOverride", "No override is currently active on target"}
	zonalShift = &elbOverride{"zonal_shift_active", "AdministrativeOverride.ZonalShiftActive", "Zonal shift is currently active on target"}
)

// targetsOf reads the list Targets of a call. A target without a port has the group's.
func targetsOf(form url.Values, g *TargetGroup) ([]elbTarget, *awsError) {
	var list []elbTarget
	for i := 1; ; i++ {
		prefix := "Targets.member." + strconv.Itoa(i) + "."
		if !form.Has(prefix + "Id") {
			return list, nil
		}
		target := elbTarget{form.Get(prefix + "Id"), g.Port, form.Get(prefix + "AvailabilityZone")}
		if text := form.Get(prefix + "Port"); text != "" {
			port, err := strconv.ParseUint(text, 10, 16)
			if err != nil || port == 0 {
				return nil, elbInvalid("Port '%s' of target '%s' must be between 1 and 65535", text, target.ID)
			}
			target.Port = int32(port)
		}
		list = append(list, target)
	}
}

func (s *State) describeTargetHealth(c elbCall) (any, *awsError) {
	g, asked, fault := s.targetsAsked(c)
	if fault != nil {
		return nil, fault
	}
	include := listOf(c.form, "Include")
	for _, what := range include {
		if what != "AnomalyDetection" && what != "All" {
			return nil, elbInvalid("'%s' cannot be included in target health", what)
		}
	}
	view := s.TargetGroup(g.ARN)
	targets := view.listed()
	if len(asked) > 0 {
		targets = nil
	}
	for _, a := range asked {
		t := g.target(a.ID, a.Port)
		if t == nil {
			t = &RegisteredTarget{ID: a.ID, Port: a.Port, Pin: &PinnedHealth{chain.TargetUnused, chain.CodeNotRegistered}}
		}
		targets = append(targets, t)
	}
	var answer struct{ TargetHealthDescriptions members[elbTargetHealth] }
	for _, t := range targets {
		answer.TargetHealthDescriptions.Member = append(answer.TargetHealthDescriptions.Member, view.describe(t, len(include) > 0))
	}
	return answer, nil
}

func (s *State) targetsAsked(c elbCall) (*TargetGroup, []elbTarget, *awsError) {
	g, fault := s.group(c)
	if fault != nil {
		return nil, nil, fault
	}
	list, fault := targetsOf(c.form, g)
	return g, list, fault
}

// describe is a target in an answer. Targets that are instances have no zone in it; anomaly detection is of HTTP groups.
func (v GroupView) describe(t *RegisteredTarget, anomalies bool) elbTargetHealth {
	health := v.health(t)
	described := elbTargetHealth{
		Target: elbTarget{t.ID, t.Port, ""}, HealthCheckPort: cmp.Or(v.Check.Port, trafficPort), TargetHealth: elbHealth{health.State, health.Code, health.Description},
	}
	if described.HealthCheckPort == trafficPort {
		described.HealthCheckPort = strconv.Itoa(int(t.Port))
	}
	if v.TargetType == chain.TargetTypeIP {
		described.Target.AvailabilityZone = t.Zone
	}
	if health.Code == chain.CodeNotRegistered {
		return described
	}
	if anomalies && v.http() {
		described.AnomalyDetection = &elbAnomaly{"normal", "no"}
		if t.Anomalous {
			described.AnomalyDetection.Result = "anomalous"
		}
		if t.Mitigated {
			described.AnomalyDetection.MitigationInEffect = "yes"
		}
	}
	described.AdministrativeOverride = noOverride
	if v.shifted(t) {
		described.AdministrativeOverride = zonalShift
	}
	return described
}

func (s *State) registerTargets(c elbCall) (any, *awsError) {
	g, list, fault := s.targetsAsked(c)
	if fault != nil {
		return nil, fault
	}
	if len(list) == 0 {
		return nil, elbInvalid("Targets must not be empty")
	}
	for _, a := range list {
		s.TargetGroup(g.ARN).Register(&RegisteredTarget{ID: a.ID, Port: a.Port, Zone: a.AvailabilityZone})
	}
	return struct{}{}, nil
}

func (s *State) deregisterTargets(c elbCall) (any, *awsError) {
	g, list, fault := s.targetsAsked(c)
	if fault != nil {
		return nil, fault
	}
	var leaving []*RegisteredTarget
	for _, a := range list {
		t := g.target(a.ID, a.Port)
		if t == nil {
			return nil, &awsError{http.StatusBadRequest, "InvalidTarget", "The following targets are not registered with the target group: '" + a.ID + "'"}
		}
		leaving = append(leaving, t)
	}
	s.TargetGroup(g.ARN).leave(leaving)
	return struct{}{}, nil
}
