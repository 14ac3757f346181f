// The command probe runs each target once, now, and prints the ladder of its steps.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/app"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// probeFlags are the flags of probe.
type probeFlags struct {
	file   *string
	names  *[]string
	output *string
	adhoc  adhoc
}

func (c *cli) addProbe() {
	c.Add("probe", "Probe each target once, now. Exits 0 when all is good, 1 on a failure, 3 when one could not tell.", func(cmd *kingpin.CmdClause) command.Action {
		var f probeFlags
		f.file = configFlag(cmd)
		f.names = cmd.Arg("target", "Targets (identity@cluster, or a target group's name); all of the configuration when none is named.").Strings()
		f.output = cmd.Flag("output", "How to print.").Default("text").Enum("text", "json")
		f.adhoc.addFlags(cmd)
		return func(ctx context.Context) (int, error) { return c.probe(ctx, f) }
	})
}

func (c *cli) probe(ctx context.Context, f probeFlags) (int, error) {
	cfg, err := f.config()
	if err != nil {
		return exitUsage, err
	}
	prober, err := app.NewProber(ctx, app.ProberOptions{EKSReadsPerSecond: cfg.AWSAPIBudget.EKSReadsPerSecond, ELBReadsPerSecond: cfg.AWSAPIBudget.ELBReadsPerSecond})
	if err != nil {
		return exitUsage, err
	}
	defer prober.Close()
	targets, undiscovered := f.targets(ctx, cfg, prober)
	targets, err = f.chosen(targets)
	switch {
	case err != nil && undiscovered != nil: // it may be among those
		return exitUnknown, undiscovered
	case err != nil:
		return exitUsage, err
	case len(targets) == 0 && undiscovered == nil:
		return exitUnknown, fmt.Errorf("probing the targets of %s: its discoveries find none", *f.file)
	case len(*f.names) > 0: // all of them are there, so what else there may be is not asked for
		undiscovered = nil
	}
	runs, err := prober.RunAll(ctx, targets)
	if err != nil { // interrupted
		return exitUnknown, err
	}
	if err := printRuns(c.Stdout, runs, *f.output); err != nil {
		return exitUnknown, err
	}
	code := exitCode(runs)
	if undiscovered != nil && code == exitGood {
		code = exitUnknown
	}
	return code, undiscovered
}

// config is the configuration of the file, or of the ad hoc flags.
func (f probeFlags) config() (*config.Config, error) {
	if f.adhoc != (adhoc{}) {
		if len(*f.names) > 0 {
			return nil, fmt.Errorf("probing %s: a named target does not go together with %s, which describe one of their own", (*f.names)[0], adhocFlags)
		}
		target, err := f.adhoc.target()
		return &config.Config{Access: []chain.Target{target}}, err
	}
	cfg, err := config.Load(*f.file)
	if err != nil {
		return nil, configHint(err, *f.file)
	}
	if len(cfg.Access)+len(cfg.Groups)+len(cfg.Discoveries) == 0 {
		return nil, fmt.Errorf("probing the targets of %s: it has none; add a section access or target_groups", *f.file)
	}
	return cfg, nil
}

// targets are the configured ones and, where a name asks for more, or none is named, those that the discoveries find; the error tells of discoveries that could not tell.
func (f probeFlags) targets(ctx context.Context, cfg *config.Config, prober *app.Prober) ([]chain.Target, error) {
	configured := slices.Concat(cfg.Access, cfg.Groups)
	if len(*f.names) > 0 && !slices.ContainsFunc(*f.names, func(name string) bool { return find(configured, name) < 0 }) {
		return configured, nil
	}
	found, err := prober.DiscoverAll(ctx, cfg.Discoveries, configured)
	return slices.Concat(configured, found), err
}

// chosen are the named ones, or all.
func (f probeFlags) chosen(targets []chain.Target) ([]chain.Target, error) {
	if len(*f.names) == 0 {
		return targets, nil
	}
	var chosen []chain.Target
	for _, name := range *f.names {
		at := find(targets, name)
		if at < 0 {
			return nil, fmt.Errorf("looking for target %q in %s: there is none; targets: %s", name, *f.file, names(targets))
		}
		chosen = append(chosen, targets[at])
	}
	return chosen, nil
}

func find(targets []chain.Target, name string) int {
	return slices.IndexFunc(targets, func(t chain.Target) bool { return t.Name == name })
}

func names(targets []chain.Target) string {
	var all []string
	for _, t := range targets {
		all = append(all, t.Name)
	}
	return strings.Join(all, ", ")
}

// printRuns writes a ladder for each run, or an object a line.
func printRuns(w io.Writer, runs []chain.Run, output string) error {
	if output == "json" {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false) // fixes hold < and >
		for _, run := range runs {
			if err := lines.Encode(results.NewReport(run)); err != nil {
				return fmt.Errorf("writing the report of %s: %w", run.Target.Name, err)
			}
		}
		return nil
	}
	var ladders []string
	for _, run := range runs {
		ladders = append(ladders, ladder(run))
	}
	if len(runs) > 1 {
		ladders = append(ladders, summary(runs))
	}
	if _, err := io.WriteString(w, strings.Join(ladders, "\n")); err != nil {
		return fmt.Errorf("writing the ladders: %w", err)
	}
	return nil
}

// exitCode is 1 when any run failed, else 3 when any could not tell, else 0.
func exitCode(runs []chain.Run) int {
	code := exitGood
	for _, run := range runs {
		switch run.Verdict.Outcome {
		case chain.OutcomeFailure:
			return exitFailure
		case chain.OutcomeUnknown, chain.OutcomeSkipped:
			code = exitUnknown
		case chain.OutcomeSuccess:
		}
	}
	return code
}
