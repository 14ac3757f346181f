// The command gate asks whether a change may go out, and says why, and when it may if not.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// gateFlags are the flags of gate.
type gateFlags struct {
	asking
	name, change, output *string
}

func (c *cli) addGate() {
	c.Add("gate", "Ask a release gate. Exits 0 when it allows the change, 1 when it blocks it, 3 when it cannot tell.", func(cmd *kingpin.CmdClause) command.Action {
		var f gateFlags
		f.name = cmd.Arg("name", "The gate.").Required().String()
		f.change = cmd.Flag("change", "The class of the change, such as security: the gate may let it through whatever the budgets say.").String()
		f.output = cmd.Flag("output", "How to print; github also writes the step's summary and outputs.").Default("text").Enum("text", "json", "github")
		f.addFlags(cmd)
		return func(ctx context.Context) (int, error) { return c.gate(ctx, f) }
	})
}

// gate never takes anything for a yes but the gate's own.
func (c *cli) gate(ctx context.Context, f gateFlags) (int, error) {
	decision, code, err := f.decide(ctx)
	if err != nil {
		if code == exitUnknown && *f.output == "github" {
			c.Print("%s\n", workflowCommand("error", gateWords[slo.CannotTell].word+" "+*f.name, err.Error()))
		}
		return code, err
	}
	if err := c.printDecision(decision, *f.output); err != nil {
		return exitUnknown, err
	}
	return decision.Answer.ExitCode(), nil
}

// decide asks; the code is that of the error.
func (f gateFlags) decide(ctx context.Context) (decision slo.Decision, code int, err error) {
	budgets, err := f.budgets()
	if err != nil {
		return decision, exitUsage, err
	}
	if budgets != nil {
		decision, ok := budgets.Decide(ctx, *f.name, *f.change)
		if !ok {
			return decision, exitUsage, noSuchGate(*f.name, budgets.Gates())
		}
		return decision, exitGood, nil
	}
	var answer struct {
		slo.Decision
		Gates []string `json:"gates"`
	}
	status, err := f.get(ctx, "/api/v1/gates/"+url.PathEscape(*f.name), url.Values{"change": {*f.change}}, &answer)
	if err == nil && status == http.StatusNotFound {
		return decision, exitUsage, noSuchGate(*f.name, answer.Gates)
	}
	if err == nil {
		err = answer.Check()
	}
	switch {
	case err != nil:
		return decision, exitUnknown, fmt.Errorf("gate %s cannot tell: %w", *f.name, err)
	case status != http.StatusOK || answer.Gate != *f.name:
		return decision, exitUnknown, fmt.Errorf("gate %s cannot tell: the exporter answers with status %d and no decision", *f.name, status)
	}
	return answer.Decision, exitGood, nil
}

func noSuchGate(name string, gates []string) error {
	if len(gates) == 0 {
		return fmt.Errorf("asking the gate %q: the configuration has no gates", name)
	}
	return fmt.Errorf("asking the gate %q: there is none of this name; gates: %s", name, strings.Join(gates, ", "))
}

// printDecision writes a decision in one of the formats.
func (c *cli) printDecision(decision slo.Decision, output string) error {
	switch output {
	case "json":
		lines := json.NewEncoder(c.Stdout)
		lines.SetEscapeHTML(false)
		if err := lines.Encode(decision); err != nil {
			return fmt.Errorf("writing the decision: %w", err)
		}
	case "github":
		c.Print("%s%s", gateCommand(decision), gateText(decision))
		for variable, text := range map[string]string{"GITHUB_STEP_SUMMARY": gateSummary(decision), "GITHUB_OUTPUT": gateOutputs(decision)} {
			if err := appendTo(os.Getenv(variable), text); err != nil {
				return fmt.Errorf("writing $%s: %w", variable, err)
			}
		}
	default:
		c.Print("%s", gateText(decision))
	}
	return nil
}

// appendTo adds text to a file; without a name it does nothing.
func appendTo(name, text string) error {
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening it: %w", err)
	}
	if _, err := file.WriteString(text); err != nil {
		return fmt.Errorf("appending to it: %w", errors.Join(err, file.Close()))
	}
	return file.Close() //nolint:wrapcheck // a PathError
}
