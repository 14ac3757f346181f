// Command slogen turns SLO specifications into Prometheus rules and an Alertmanager configuration, and says what they can and cannot tell.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/eks-slo/eks-slo-exporter/cmd/slogen/quiet"
)

func main() {
	quiet.End()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a run is short, and half of it would go into collecting a heap of a few megabytes
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: it returns the exit code (design: 0 good, 1 stale files or a refused specification, 2 usage or a mistake in a specification).
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return newCLI(stdout, stderr).Run(ctx, args)
}
