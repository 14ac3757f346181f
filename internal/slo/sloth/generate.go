// Generation: Sloth writes the rules of a specification, and each concern then has its way with them.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/slok/sloth/pkg/common/conventions"
	slothmodel "github.com/slok/sloth/pkg/common/model"
	"github.com/slok/sloth/pkg/lib"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Options say how rules are generated. The zero Options are the defaults.
type Options struct {
	Period string // of the budgets: 7d, 28d, 30d (the default) or 90d
}

// DefaultPeriod is the period of the budgets when Options name none.
const DefaultPeriod = "30d"

// Rules are the rule groups of one specification.
type Rules struct {
	File    string // the specification, as it was named to Read; "" for ExporterRules
	Service string
	Windows slo.Windows
	SLOs    []SLO
	Groups  []rulefmt.RuleGroup
}

// The intervals of the groups. What alerts is judged twice a minute; what changes once an hour, or never, is recorded every 4 minutes, within the 5 that Prometheus looks back.
const (
	interval     = 30 * time.Second
	slowInterval = 4 * time.Minute
)

// windowsFiles are the alert windows as Sloth reads them; a test holds them against slo.WindowsFor.
//
// They are given to Sloth as its file system of plugins too: there is none among them. Given none, Sloth interprets all the plugins that it embeds, which takes a quarter of a second.
//
//go:embed windows/*.yaml
var windowsFiles embed.FS

// Generate returns the rules of a specification. Its errors are of the options, or defects of the generator.
func Generate(ctx context.Context, spec *Spec, options Options) (*Rules, error) {
	windows, err := slo.ParsePeriod(cmp.Or(options.Period, DefaultPeriod))
	if err != nil {
		return nil, err
	}
	generator, err := lib.NewPrometheusSLOGenerator(lib.PrometheusSLOGeneratorConfig{
		WindowsFS: windowsFiles, PluginsFS: []fs.FS{windowsFiles}, DefaultSLOPeriod: windows.Period,
	})
	if err != nil {
		return nil, fmt.Errorf("setting up Sloth for a period of %s: %w", windows.Period, err)
	}
	plain, err := generator.GenerateFromSlothV1(ctx, spec.forSloth())
	if err != nil {
		return nil, fmt.Errorf("generating the rules of %s with Sloth: %w", spec.File, err)
	}
	rules := &Rules{File: spec.File, Service: spec.Service, Windows: windows, SLOs: spec.SLOs}
	for i, result := range plain.SLOResults {
		rules.Groups = append(rules.Groups, newSLORules(spec.SLOs[i], windows).groups(result.PrometheusRules)...)
	}
	return rules, nil
}

// sloRules writes the rules of one SLO.
type sloRules struct {
	SLO

	windows slo.Windows
	ids     map[string]string // the labels of every recording
	self    string            // selects the SLO's own recordings: {sloth_id="…"}
	on      string            // matches by the labels of the group: on (cluster, identity)
}

// newSLORules prepares the rules of one SLO.
func newSLORules(s SLO, windows slo.Windows) *sloRules {
	return &sloRules{
		SLO: s, windows: windows,
		ids:  conventions.GetSLOIDPromLabels(slothmodel.PromSLO{ID: s.ID(), Name: s.Name, Service: s.service}),
		self: fmt.Sprintf("{%s=%q}", conventions.PromSLOIDLabelName, s.ID()),
		on:   on(s.Groups()),
	}
}

// groups are the groups of the SLO: what Sloth wrote with our expressions, and what we record and alert on beside it. Recordings precede what reads them, alerts come last.
func (s *sloRules) groups(plain slothmodel.PromSLORules) []rulefmt.RuleGroup {
	fast := s.events()
	fast = append(fast, s.causes()...)
	fast = append(fast, s.newest())
	fast = append(fast, s.ratios(plain.SLIErrorRecRules.Rules)...)
	fast = append(fast, s.coverage()...)
	fast = append(fast, s.burns(plain.MetadataRecRules.Rules)...)
	fast = append(fast, s.alerts(plain.AlertRules.Rules)...)
	slow := s.hours()
	slow = append(slow, s.periodCoverage()...)
	slow = append(slow, s.meta(plain.MetadataRecRules.Rules)...)
	return []rulefmt.RuleGroup{
		{Name: "sloth-slo-" + s.ID(), Interval: model.Duration(interval), Rules: fast},
		{Name: conventions.PromRuleGroupNameSLOMetadataPrefix + s.ID(), Interval: model.Duration(slowInterval), Rules: slow},
	}
}

// record is a recording rule of the SLO.
func (s *sloRules) record(name, expr string) rulefmt.Rule {
	return rulefmt.Rule{Record: name, Expr: expr, Labels: s.ids}
}
