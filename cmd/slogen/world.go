// What happens in a simulation: a scenario by name or from a file, events of the command line, or what a Prometheus has recorded.
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
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/slo/simulate"
)

// worldFlags say what happens. Exactly one of name, events and address is given.
type worldFlags struct {
	name              *string
	events            *[]string
	history, duration *string
	address, from, to *string
	matchers          *string
}

func addWorldFlags(cmd *kingpin.CmdClause) worldFlags {
	return worldFlags{
		name:     cmd.Flag("scenario", "A scenario file, or one that comes with the program: "+strings.Join(simulate.Names(), ", ")+".").String(),
		events:   cmd.Flag("event", "Instead: something that happens, as in '{kind: outage, at: 10m, for: 10m}'. May be repeated.").Strings(),
		history:  cmd.Flag("history", "With --event: how long nothing has happened before.").Default("73h").String(),
		duration: cmd.Flag("duration", "With --event: how long to go on.").Default("8h").String(),
		address:  cmd.Flag("prometheus", "Instead: the address of a Prometheus that recorded what happened.").String(),
		from:     cmd.Flag("from", "With --prometheus: the beginning, as in 2026-03-02T10:00:00Z.").String(),
		to:       cmd.Flag("to", "With --prometheus: the end.").String(),
		matchers: cmd.Flag("match", `With --prometheus: label matchers, as in cluster="prod".`).String(),
	}
}

// validate wants one world.
func (f worldFlags) validate() error {
	given := 0
	for _, is := range []bool{*f.name != "", len(*f.events) > 0, *f.address != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return errors.New("reading the flags: what happens is told by one of --scenario, --event and --prometheus; slogen simulate --help lists the scenarios")
	}
	return nil
}

// scenario is what happens. Which samples are fetched from a Prometheus depends on the rules.
func (f worldFlags) scenario(ctx context.Context, rules simulate.Rules) (*simulate.Scenario, error) {
	switch {
	case *f.address != "":
		return f.recorded(ctx, rules)
	case len(*f.events) > 0:
		text := "name: events of the command line\nhistory: " + *f.history + "\nduration: " + *f.duration + "\nevents:\n  - " + strings.Join(*f.events, "\n  - ") + "\n"
		return readScenario("--event", []byte(text))
	case slices.Contains(simulate.Names(), *f.name):
		return simulate.Named(*f.name)
	}
	data, err := os.ReadFile(*f.name)
	if err != nil {
		return nil, fmt.Errorf("%w; the scenarios that come with the program are %s", err, strings.Join(simulate.Names(), ", "))
	}
	return readScenario(*f.name, data)
}

// readScenario makes an error of the problems, and none of none.
func readScenario(name string, data []byte) (*simulate.Scenario, error) {
	scenario, problems := simulate.Read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return scenario, nil
}

// recorded is what a Prometheus has recorded.
func (f worldFlags) recorded(ctx context.Context, rules simulate.Rules) (*simulate.Scenario, error) {
	from, err := moment("--from", *f.from)
	if err != nil {
		return nil, err
	}
	to, err := moment("--to", *f.to)
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(api.Config{Address: *f.address})
	if err != nil {
		return nil, fmt.Errorf("reading --prometheus=%s: %w", *f.address, err)
	}
	return simulate.Fetch(ctx, v1.NewAPI(client), rules, simulate.Range{From: from, To: to, Matchers: *f.matchers})
}

func moment(flag, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading %s=%q: a time is written as in 2026-03-02T10:00:00Z", flag, text)
	}
	return at, nil
}
