// The commands rules, alertmanager and all write what is generated of the specifications.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/alertmanager"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

// periodFlag adds the flag that names the period.
func periodFlag(cmd *kingpin.CmdClause) *string {
	return cmd.Flag("period", "Period of the budgets.").Default(sloth.DefaultPeriod).Enum(slo.Periods()...)
}

// generation is what is generated, of what, and to where.
type generation struct {
	specs, period *string
	namespace     *string
	labels        *map[string]string
	out           *output
}

func (c *cli) addRules() {
	c.Add("rules", "Write of each specification a Prometheus rule file, a PrometheusRule object and promtool unit tests.", func(cmd *kingpin.CmdClause) command.Action {
		g := addGeneration(cmd)
		return func(ctx context.Context) (int, error) { return c.generate(ctx, g, g.addRules) }
	})
}

func (c *cli) addAlertmanager() {
	c.Add("alertmanager", "Write the Alertmanager configuration: routes, inhibitions, a heartbeat and example receivers.", func(cmd *kingpin.CmdClause) command.Action {
		g := generation{specs: specsFlag(cmd), out: outputFlags(cmd)}
		return func(ctx context.Context) (int, error) { return c.generate(ctx, g, g.addAlertmanager) }
	})
}

func (c *cli) addAll() {
	c.Add("all", "Write everything: rules and alertmanager.", func(cmd *kingpin.CmdClause) command.Action {
		g := addGeneration(cmd)
		return func(ctx context.Context) (int, error) { return c.generate(ctx, g, g.addRules, g.addAlertmanager) }
	})
}

func addGeneration(cmd *kingpin.CmdClause) generation {
	return generation{
		specs: specsFlag(cmd), period: periodFlag(cmd), out: outputFlags(cmd),
		namespace: cmd.Flag("namespace", "Namespace of the PrometheusRule objects; none: that in which they are applied.").String(),
		labels:    cmd.Flag("label", "NAME=VALUE: a label of the PrometheusRule objects, as the operator's ruleSelector wants it. May be repeated.").StringMap(),
	}
}

// adder adds files of one kind for all specifications.
type adder func(ctx context.Context, wanted files, specs []specFile) error

// generate reads the specifications, and writes or compares what the adders make of them.
func (c *cli) generate(ctx context.Context, g generation, adders ...adder) (int, error) {
	read, err := readSpecs(*g.specs)
	if err != nil {
		return exitUsage, err
	}
	wanted := files{}
	for _, add := range adders {
		if err := add(ctx, wanted, read); err != nil {
			return exitUsage, err
		}
	}
	return c.put(g.out, wanted)
}

// objectName is what may not be in the name of a Kubernetes object (RFC 1123).
var objectName = regexp.MustCompile(`[^a-z0-9]+`)

// exporterRules is the name of the files of the rules that belong to no specification.
const exporterRules = "exporter"

// addRules adds the three files of each specification, and those of the exporter's own rules.
func (g generation) addRules(ctx context.Context, wanted files, specs []specFile) error {
	for _, spec := range specs {
		rules, err := sloth.Generate(ctx, spec.Spec, sloth.Options{Period: *g.period})
		if err != nil {
			return err
		}
		if err := g.addRuleFiles(wanted, spec.name(), rules); err != nil {
			return err
		}
	}
	return g.addRuleFiles(wanted, exporterRules, sloth.ExporterRules())
}

func (g generation) addRuleFiles(wanted files, name string, rules *sloth.Rules) error {
	meta := sloth.Meta{Name: "eks-slo-" + objectName.ReplaceAllString(strings.ToLower(name), "-"), Namespace: *g.namespace, Labels: *g.labels}
	return wanted.add(map[string]func(io.Writer) error{
		"prometheus/rules/" + name + ".yaml":           func(w io.Writer) error { return sloth.WriteRules(w, rules) },
		"prometheus/rules/tests/" + name + ".yaml":     func(w io.Writer) error { return sloth.WriteTests(w, rules, "../"+name+".yaml") },
		"kubernetes/prometheusrules/" + name + ".yaml": func(w io.Writer) error { return sloth.WritePrometheusRule(w, rules, meta) },
	})
}

// addAlertmanager adds the configuration, which is the same for every period.
func (generation) addAlertmanager(_ context.Context, wanted files, specs []specFile) error {
	return wanted.add(map[string]func(io.Writer) error{
		"prometheus/alertmanager.yaml": func(w io.Writer) error { return alertmanager.Write(w, groupLabels(specs)) },
	})
}
