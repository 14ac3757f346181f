// Command exporter is eks-slo-exporter: it probes, continuously, that identities still get into EKS clusters and that load balancers have healthy targets.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: it returns the exit code (design: 0 good, 1 a failure, 2 usage or configuration, 3 unknown).
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return newCLI(stdout, stderr).Run(ctx, args)
}
