// Command build builds the real components into the cache, so that the tests' own time limit covers the tests alone.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/eks-slo/eks-slo-exporter/test/e2e/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	for _, name := range harness.Names() {
		path, err := harness.Build(ctx, name)
		if err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}
