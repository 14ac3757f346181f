// The command simulate runs a scenario through the rules of one SLO, in Prometheus' own engine, and says what fires and resolves when.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/simulate"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

// simulation is what the flags ask for.
type simulation struct {
	specs, period *string
	id            *string
	rules         *[]string
	output        *string
	world         worldFlags
}

func (c *cli) addSimulate() {
	c.Add("simulate", "Run a scenario, or what a Prometheus has recorded, through the generated rules of one SLO, in Prometheus' own engine: "+
		"what fires and resolves when, events, budget and gate.", func(cmd *kingpin.CmdClause) command.Action {
		s := simulation{
			specs: specsFlag(cmd), period: periodFlag(cmd),
			id:     cmd.Flag("slo", "Id of the SLO: service and name.").Default("eks-access-identity-availability").String(),
			rules:  cmd.Flag("rules", "Rule files to run instead of the generated ones.").ExistingFiles(),
			output: cmd.Flag("output", "text, json, or svg: a picture.").Default("text").Enum("text", "json", "svg"),
			world:  addWorldFlags(cmd),
		}
		return func(ctx context.Context) (int, error) { return c.simulate(ctx, s) }
	})
}

func (c *cli) simulate(ctx context.Context, s simulation) (int, error) {
	if err := s.world.validate(); err != nil {
		return exitUsage, err
	}
	specs, err := readSpecs(*s.specs)
	if err != nil {
		return exitUsage, err
	}
	spec, about, err := s.find(specs)
	if err != nil {
		return exitUsage, err
	}
	rules, err := s.parse(ctx, spec)
	if err != nil {
		return exitUsage, err
	}
	scenario, err := s.world.scenario(ctx, rules)
	if err != nil {
		return exitUsage, err
	}
	report, err := simulate.Run(ctx, rules, about, scenario)
	if err != nil {
		return exitUsage, err
	}
	write := map[string]func(io.Writer) error{"text": report.Text, "json": report.JSON, "svg": report.SVG}[*s.output]
	if err := write(c.Stdout); err != nil {
		return exitUsage, err
	}
	return exitGood, nil
}

// find is the specification of the SLO of that id, without others, and what a simulation must know of it.
func (s *simulation) find(specs []specFile) (*sloth.Spec, simulate.SLO, error) {
	windows, err := slo.ParsePeriod(*s.period)
	if err != nil {
		return nil, simulate.SLO{}, err
	}
	var known []string
	for _, spec := range specs {
		for _, each := range spec.SLOs {
			known = append(known, each.ID())
			if each.ID() != *s.id {
				continue
			}
			one := *spec.Spec
			one.SLOs = []sloth.SLO{each}
			about := simulate.SLO{ID: each.ID(), Objective: each.Objective, Period: windows.Period, ErrorQuery: each.Error.Text, TotalQuery: each.Total.Text}
			if each.Probes != nil {
				about.Cadence = each.Probes.Cadence
			}
			return &one, about, nil
		}
	}
	return nil, simulate.SLO{}, fmt.Errorf("looking for the SLO %q: there are %s", *s.id, strings.Join(known, ", "))
}

// parse are the rules to run: those of the files given, or those generated of the specification and of the exporter itself, without what always fires.
func (s *simulation) parse(ctx context.Context, spec *sloth.Spec) (simulate.Rules, error) {
	var contents [][]byte
	for _, file := range *s.rules {
		data, err := os.ReadFile(file)
		if err != nil {
			return simulate.Rules{}, err
		}
		contents = append(contents, data)
	}
	if len(contents) > 0 {
		return simulate.ParseRules(contents...)
	}
	generated, err := sloth.Generate(ctx, spec, sloth.Options{Period: *s.period})
	if err != nil {
		return simulate.Rules{}, err
	}
	exporter := sloth.ExporterRules()
	for i, group := range exporter.Groups {
		kept := group.Rules[:0]
		for _, rule := range group.Rules {
			if rule.Alert != "Watchdog" {
				kept = append(kept, rule)
			}
		}
		exporter.Groups[i].Rules = kept
	}
	for _, rules := range []*sloth.Rules{generated, exporter} {
		var b bytes.Buffer
		if err := sloth.WriteRules(&b, rules); err != nil {
			return simulate.Rules{}, err
		}
		contents = append(contents, b.Bytes())
	}
	return simulate.ParseRules(contents...)
}
