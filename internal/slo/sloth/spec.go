// A specification as it was read: what Sloth understands, and the settings of ours that it does not look at.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"time"

	prometheusv1 "github.com/slok/sloth/pkg/prometheus/api/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Spec is one specification file: the SLOs of one service.
type Spec struct {
	File    string // as it was named to Read
	Service string
	Labels  map[string]string
	SLOs    []SLO
}

// SLO is one objective with what it counts. Each group of the queries' labels has a budget of its own.
type SLO struct {
	Name        string
	Description string
	Objective   slo.Objective
	Labels      map[string]string // of the SLO and of its service; on alerts and sloth_slo_info only, so that a change breaks no recording
	Error       Query
	Total       Query
	Alerting    prometheusv1.Alerting
	Probes      *Probes // nil: the events are not those of probes, so that nothing is known of their cadence

	service string
}

// ID is the value of label sloth_id: service and name.
func (s SLO) ID() string { return s.service + "-" + s.Name }

// Groups are the labels that tell one budget from another.
func (s SLO) Groups() []string { return s.Total.By }

// Probes are the settings under the key x-probes.
type Probes struct {
	Cadence      time.Duration // between two events of one target as one prober makes them
	FixedCadence bool          // slots come at the cadence whatever happens: one that never came is not covered
	Slots        *Query        // every slot, also those that ended unknown: what coverage is measured against; nil: the cadence alone
	Targets      string        // PromQL: how many targets one group sums up; "" is 1
	FailuresBy   []Attribution // in the order of the file
	Runbook      string        // where the alerts' runbook is; "": none
	TargetPage   string        // template of the address of the target's page; "": none
}

// Attribution is a query that says which layer, or which reason, the failures are put down to.
type Attribution struct {
	Label string // the label that names it, such as step
	Query Query
}

// Query is PromQL that counts events in a window.
type Query struct {
	Text string   // with {{.window}} in place of each window
	By   []string // the labels of its result, sorted

	calls []call // the increases in it
	text  string // Text with windowMark in place of {{.window}}
}

// forSloth is the SLO as Sloth knows it.
func (s SLO) forSloth() prometheusv1.SLO {
	objective, _ := s.Objective.Ratio().Float64()
	return prometheusv1.SLO{
		Name: s.Name, Description: s.Description, Objective: 100 * objective, Labels: s.Labels, Alerting: s.Alerting,
		SLI: prometheusv1.SLI{Events: &prometheusv1.SLIEvents{ErrorQuery: s.Error.Text, TotalQuery: s.Total.Text}},
	}
}

// forSloth is the specification as Sloth knows it.
func (s *Spec) forSloth() prometheusv1.Spec {
	spec := prometheusv1.Spec{Version: prometheusv1.Version, Service: s.Service}
	for _, each := range s.SLOs {
		spec.SLOs = append(spec.SLOs, each.forSloth())
	}
	return spec
}
