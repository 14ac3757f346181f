// The command demo is run against an embedded AWS account, its clusters and its load balancer: some targets work, the others are broken on purpose.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/eks-slo/eks-slo-exporter/internal/app"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// demoFaults break four of the demo's six targets, each at another layer.
var demoFaults = []string{"not-mapped", "unexpected-principal", "denied", "all-unhealthy"}

// demoBudgets are the sections of what evaluates and gates. Its data is in the demo's folder, beside the configuration.
const demoBudgets = `query: {embedded: {path: tsdb}}
gates:
  - {name: prod-release, slos: {cluster: prod}, min_budget: 0.1, exempt: [reliability, security]}
`

func (c *cli) addDemo() {
	c.Add("demo", "Run against an embedded AWS account, clusters and a load balancer on loopback: two targets work, four are broken. Needs no account and no configuration.", func(cmd *kingpin.CmdClause) command.Action {
		options := app.DefaultOptions()
		options.Web = kingpinflag.AddFlags(cmd, "127.0.0.1"+app.DefaultAddress)
		return func(ctx context.Context) (int, error) {
			options.Logger, options.Version = c.logger(), version.Version
			return c.demo(ctx, options)
		}
	})
}

// demo serves in a world of its own, and takes it down again.
func (c *cli) demo(ctx context.Context, options app.Options) (code int, err error) {
	dir, err := os.MkdirTemp("", program+"-demo-")
	if err != nil {
		return exitFailure, fmt.Errorf("making the demo's folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	scene, err := sandbox.NewScene(dir) //nolint:contextcheck // its servers end by Close
	if err != nil {
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, scene.Close()) }()
	scene.FewTargets()
	scene.Config += demoBudgets
	faults, err := breakScene(scene)
	if err != nil {
		return exitFailure, err
	}
	if options.ConfigFile, err = scene.WriteConfig(); err != nil {
		return exitFailure, fmt.Errorf("writing the demo's configuration: %w", err)
	}
	cfg, err := config.Load(options.ConfigFile)
	if err != nil {
		return exitFailure, err
	}
	options.Resolver = scene.DNS.Resolver()
	return c.serve(ctx, options, func(a *app.App) { c.introduce(a.Addr(), cfg, faults) })
}

// breakScene applies the faults, and points this process at the scene.
func breakScene(scene *sandbox.Scene) ([]sandbox.Fault, error) {
	var faults []sandbox.Fault
	for _, name := range demoFaults {
		fault, ok := sandbox.FaultNamed(name)
		if !ok {
			return nil, fmt.Errorf("looking for the fault %q: there is none", name)
		}
		if err := fault.Apply(scene); err != nil {
			return nil, err
		}
		faults = append(faults, fault)
	}
	var failures []error
	for _, variable := range os.Environ() { // whatever the caller's shell says of AWS, or of proxies, is not the demo's
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			failures = append(failures, os.Unsetenv(name))
		}
	}
	scene.Setenv(func(key, value string) { failures = append(failures, os.Setenv(key, value)) })
	return faults, errors.Join(failures...)
}

func (c *cli) introduce(addr string, cfg *config.Config, faults []sandbox.Fault) {
	targets := slices.Concat(cfg.Access, cfg.Groups)
	c.Print("An embedded AWS account with %d EKS clusters and a load balancer, all on this machine. Probing %d targets every %s:\n\n", len(cfg.Clusters), len(targets), cfg.Probe.Interval)
	c.Print("  page     http://%s/\n  metrics  http://%s/metrics\n  JSON     http://%s/api/v1/targets\n  budgets  %s budget --exporter.url=http://%s\n  gate     %s gate prod-release --exporter.url=http://%s\n  queries  http://%s/prometheus (a Grafana data source)\n\nBudgets are counted from now on: without a month of history the gate says that it cannot tell.\n\n",
		addr, addr, addr, program, addr, program, addr, addr)
	for _, target := range targets {
		at := slices.IndexFunc(faults, func(f sandbox.Fault) bool { return f.Target == target.Name })
		switch {
		case at >= 0:
			f := faults[at]
			c.Print("  %s %-16s  %s / %s: %s\n", marks[f.Outcome], f.Target, f.Step, f.Reason, f.Meaning)
		case target.Kind == chain.KindALB:
			c.Print("  %s %-16s  its targets are healthy\n", marks[chain.OutcomeSuccess], target.Name)
		default:
			c.Print("  %s %-16s  gets in\n", marks[chain.OutcomeSuccess], target.Name)
		}
	}
	c.Print("\nCtrl-C ends it and leaves nothing behind.\n\n")
}
