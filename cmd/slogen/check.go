// The command check reads specifications strictly, and says what their alerts can tell of probes.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

func (c *cli) addCheck() {
	c.Add("check", "Check specifications: every mistake with file:line:column, its source line and a hint (exit 2); else, for each SLO, what its alerts need and how soon they tell. "+
		"Exits 1 when one is refused.", func(cmd *kingpin.CmdClause) command.Action {
		paths := cmd.Arg("path", "Specifications, or directories of them.").Default("slo-specs").Strings()
		period := periodFlag(cmd)
		single := cmd.Flag("allow-single-failure-page", "Accept an objective so fine that one failed probe exceeds the burn rate of a page; the floor of failures alone then decides.").Bool()
		return func(context.Context) (int, error) {
			specs, err := readSpecs(*paths...)
			if err != nil {
				return exitUsage, err
			}
			windows, err := slo.ParsePeriod(*period)
			if err != nil {
				return exitUsage, err
			}
			return c.feasibility(specs, windows, *single)
		}
	})
}

// feasibility prints what can be told of each SLO, and the verdict on it.
func (c *cli) feasibility(specs []specFile, windows slo.Windows, single bool) (int, error) {
	code := exitGood
	var alarms alarmCache
	for _, spec := range specs {
		for _, each := range spec.SLOs {
			if each.Probes == nil {
				c.Print("%s (%s)\n  nothing is known of its cadence: it has no x-probes\n\n", each.ID(), spec.path)
				continue
			}
			plan, err := slo.NewPlan(each.Objective, windows, each.Probes.Cadence)
			if err != nil {
				return exitUsage, err
			}
			alerts := alertsOf(each)
			alerts.SingleFailurePage = single
			verdict := plan.Judge(alerts)
			c.Print("%s (%s)\n", each.ID(), spec.path)
			printPlan(c.Stdout, plan, alerts, &alarms)
			c.printVerdict(verdict)
			if verdict.Refused() {
				c.hint(plan, alerts)
				code = exitNo
			}
			c.Print("\n")
		}
	}
	c.Print("%s", legend)
	return code, nil
}

// alertsOf says which alerts an SLO asks for.
func alertsOf(s sloth.SLO) slo.Alerts {
	return slo.Alerts{Page: !s.Alerting.PageAlert.Disable, Ticket: !s.Alerting.TicketAlert.Disable}
}

func (c *cli) printVerdict(v slo.Verdict) {
	for _, text := range v.Warnings {
		c.Print("  warning: %s\n", text)
	}
	for _, text := range v.Refusals {
		c.Print("  REFUSED: %s\n", text)
	}
	if !v.Refused() {
		c.Print("  accepted\n")
	}
}

// hint names the flag where it would help.
func (c *cli) hint(plan slo.Plan, alerts slo.Alerts) {
	alerts.SingleFailurePage = true
	if !plan.Judge(alerts).Refused() {
		c.Print("  hint: --allow-single-failure-page accepts it; then the floor of %d failures alone decides\n", plan.MinFailures)
	}
}
