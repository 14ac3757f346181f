// The command check reads the configuration and prints every problem at once.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/config"
)

func (c *cli) addCheck() {
	c.command("check", "Check the configuration: every error with file:line:column, its source line and a hint. Exits 0, or 2.", func(cmd *kingpin.CmdClause) action {
		file := configFlag(cmd)
		return func(context.Context) (int, error) {
			cfg, err := config.Load(*file)
			if err != nil {
				return exitUsage, configHint(err, *file)
			}
			c.print("%s is good; clusters: %d, identities: %d, access targets: %d\n", *file, len(cfg.Clusters), len(cfg.Identities), len(cfg.Access))
			if len(cfg.Access) == 0 {
				_, _ = fmt.Fprintf(c.stderr, "%s: warning: %s has no access targets, so nothing would be probed; list them under access\n", program, *file)
			}
			return exitGood, nil
		}
	})
}
