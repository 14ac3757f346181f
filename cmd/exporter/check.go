// The command check reads the configuration and prints every problem at once, or what the configuration needs to be allowed.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/permissions"
)

// What check can print instead of its summary.
const (
	printIAM  = "iam"
	printRBAC = "rbac"
)

func (c *cli) addCheck() {
	c.Add("check", "Check the configuration: every error with file:line:column, its source line and a hint. Exits 0, or 2.", func(cmd *kingpin.CmdClause) command.Action {
		file := configFlag(cmd)
		wanted := cmd.Flag("print", "Print, and nothing else, what the configuration needs to be allowed: iam, the least IAM policies, as JSON, or rbac, the Kubernetes RBAC of the observers, as YAML.").
			Enum(printIAM, printRBAC)
		cluster := cmd.Flag("cluster", "With --print=rbac: that of this cluster alone.").String()
		return func(context.Context) (int, error) {
			cfg, err := config.Load(*file)
			if err != nil {
				return exitUsage, configHint(err, *file)
			}
			if err := cfg.CheckOverrides(time.Now()); err != nil {
				return exitUsage, err
			}
			if len(cfg.Access)+len(cfg.Groups)+len(cfg.Discoveries) == 0 {
				_, _ = fmt.Fprintf(c.Stderr, "%s: warning: %s has neither access targets nor target groups, so nothing would be probed; list them under access or target_groups\n", program, *file)
			}
			probes := permissions.Probes{Targets: slices.Concat(cfg.Access, cfg.Groups), Discoveries: cfg.Discoveries}
			switch {
			case *cluster != "" && *wanted != printRBAC:
				return exitUsage, fmt.Errorf("reading --cluster=%s: it belongs to --print=%s", *cluster, printRBAC)
			case *wanted == printIAM:
				err = permissions.WriteIAM(c.Stdout, permissions.IAM(probes))
			case *wanted == printRBAC:
				return c.printRBAC(permissions.RBAC(probes), *cluster)
			default:
				c.Print("%s is good; %s\n", *file, counts(cfg))
			}
			return exitGood, err
		}
	})
}

// printRBAC prints what is needed on each cluster, or on the one named.
func (c *cli) printRBAC(clusters []permissions.Cluster, name string) (int, error) {
	if name != "" {
		clusters = slices.DeleteFunc(clusters, func(of permissions.Cluster) bool { return of.Cluster.Name != name })
		if len(clusters) == 0 {
			return exitUsage, fmt.Errorf("looking for cluster %q: there is none of that name on which an observer reads", name)
		}
	}
	return exitGood, permissions.WriteRBAC(c.Stdout, clusters)
}

// counts says how much of everything there is; of target groups and discoveries only where there are any.
func counts(cfg *config.Config) string {
	text := fmt.Sprintf("clusters: %d, identities: %d, access targets: %d", len(cfg.Clusters), len(cfg.Identities), len(cfg.Access))
	if len(cfg.Groups)+len(cfg.Discoveries) > 0 {
		text += fmt.Sprintf(", target groups: %d, discoveries: %d", len(cfg.Groups), len(cfg.Discoveries))
	}
	return text
}
