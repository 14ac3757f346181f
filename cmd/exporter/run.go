// The command run is the exporter: it probes on schedule and serves the web endpoints until it is told to stop.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/eks-slo/eks-slo-exporter/internal/app"
	"github.com/eks-slo/eks-slo-exporter/internal/command"
)

func (c *cli) addRun() {
	c.Add("run", "Run the exporter: probe on schedule and serve /metrics and the pages. SIGHUP and POST /-/reload read the configuration again.", func(cmd *kingpin.CmdClause) command.Action {
		options := app.DefaultOptions()
		file := configFlag(cmd)
		options.Web = kingpinflag.AddFlags(cmd, app.DefaultAddress)
		cmd.Flag("probe.concurrency", "Runs in flight at once; 0 allows one for every target.").Default("0").IntVar(&options.Concurrency)
		cmd.Flag("web.drain-timeout", "How long to wait for requests and runs when stopping.").Default("10s").DurationVar(&options.DrainTimeout)
		return func(ctx context.Context) (int, error) {
			options.ConfigFile, options.Logger, options.Version = *file, c.logger(), version.Version
			return c.serve(ctx, options, nil)
		}
	})
}

// serve runs an App until the context ends (exit 0) or its server fails. started, when given, is called once it listens.
func (c *cli) serve(ctx context.Context, options app.Options, started func(*app.App)) (int, error) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // before the start, which a SIGHUP must not end
	defer signal.Stop(hangup)
	exporter, err := app.New(options)
	if err != nil {
		return exitUsage, err
	}
	if err := exporter.Start(ctx); err != nil {
		return exitUsage, configHint(err, options.ConfigFile)
	}
	if started != nil {
		started(exporter)
	}
	code, failure := wait(ctx, exporter, hangup)
	if err := exporter.Stop(context.WithoutCancel(ctx)); err != nil && failure == nil {
		return exitFailure, fmt.Errorf("stopping: %w", err)
	}
	return code, failure
}

// wait returns when the context ends or the server fails; until then each hangup reads the configuration again.
func wait(ctx context.Context, exporter *app.App, hangup <-chan os.Signal) (int, error) {
	for {
		select {
		case <-ctx.Done():
			return exitGood, nil
		case err := <-exporter.Failed():
			return exitFailure, err
		case <-hangup:
			_ = exporter.Reload() //nolint:contextcheck // the App logs and counts a bad configuration, and the last good one stays; targets outlive any caller's context
		}
	}
}
