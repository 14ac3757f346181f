// The command budget prints what is left of each error budget.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// budgetFlags are the flags of budget.
type budgetFlags struct {
	asking
	output *string
}

func (c *cli) addBudget() {
	c.Add("budget", "Print what is left of each error budget. Exits 3 when none can be told.", func(cmd *kingpin.CmdClause) command.Action {
		var f budgetFlags
		f.output = cmd.Flag("output", "How to print.").Default("text").Enum("text", "json")
		f.addFlags(cmd)
		return func(ctx context.Context) (int, error) { return c.budget(ctx, f) }
	})
}

func (c *cli) budget(ctx context.Context, f budgetFlags) (int, error) {
	budgets, err := f.budgets()
	if err != nil {
		return exitUsage, err
	}
	var answer struct {
		SLOs    []slo.BudgetRow `json:"slos"`
		Problem *slo.Trouble    `json:"problem"`
	}
	if budgets != nil {
		answer.SLOs, answer.Problem = budgets.SLOs(ctx)
	} else if _, err := f.get(ctx, "/api/v1/slos", nil, &answer); err != nil {
		return exitUnknown, err
	}
	if answer.Problem != nil {
		return exitUnknown, errors.New(answer.Problem.Message)
	}
	if *f.output == "json" {
		lines := json.NewEncoder(c.Stdout)
		for _, row := range answer.SLOs {
			if err := lines.Encode(row); err != nil {
				return exitUnknown, fmt.Errorf("writing the budget of %s: %w", row.Key, err)
			}
		}
		return exitGood, nil
	}
	c.Print("%s", budgetText(answer.SLOs))
	return exitGood, nil
}
