// The command line: kingpin, one file a command.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

const program = "slogen"

// The exit codes.
const (
	exitGood  = 0
	exitNo    = 1 // files are stale, or a specification is refused
	exitUsage = 2
)

// action is what a command does once its flags are read.
type action func(ctx context.Context) (int, error)

// cli is the program before its flags are read.
type cli struct {
	app              *kingpin.Application
	stdout, stderr   io.Writer
	help             bytes.Buffer // what --help and --version say; printed only when they were asked for
	helped, versions bool         // whether they were
	refused          bool         // kingpin has complained by itself, as help does of a command that does not exist
	actions          map[string]action
}

func newCLI(stdout, stderr io.Writer) *cli {
	app := kingpin.New(program, "Turns SLO specifications into Prometheus rules that are proved for probes, and says what they can and cannot tell.")
	c := &cli{app: app, stdout: stdout, stderr: stderr, actions: map[string]action{}}
	app.UsageWriter(&c.help).ErrorWriter(stderr)
	app.Terminate(func(code int) {
		c.refused = c.refused || code != 0
		app.UsageWriter(io.Discard) // kingpin reads on after --help, and would say more
	})
	if info, ok := debug.ReadBuildInfo(); ok && version.Version == "" { // no linker flags: go run, go install
		version.Version = info.Main.Version
	}
	app.Version(version.Print(program))
	app.HelpFlag.Short('h').IsSetByUser(&c.helped)
	app.VersionFlag.IsSetByUser(&c.versions)
	c.addRules()
	c.addAlertmanager()
	c.addAll()
	c.addCheck()
	c.addSimulate()
	return c
}

// command adds a command and what it does.
func (c *cli) command(name, help string, add func(*kingpin.CmdClause) action) {
	c.actions[name] = add(c.app.Command(name, help))
}

func (c *cli) run(ctx context.Context, args []string) int {
	name, err := c.app.Parse(args)
	switch {
	case c.refused:
		return exitUsage
	case c.helped, c.versions, name == "help":
		c.print("%s", c.help.String())
		return exitGood
	case errors.Is(err, kingpin.ErrCommandNotSpecified):
		err = errors.New("no command is given")
		fallthrough
	case err != nil:
		_, _ = fmt.Fprintf(c.stderr, "%s: %s; try --help\n", program, err)
		return exitUsage
	}
	code, err := c.actions[name](ctx)
	if err != nil {
		c.complain(err)
	}
	return code
}

// complain prints an error for people: mistakes in specifications as they are, with their source lines, anything else behind the program's name.
func (c *cli) complain(err error) {
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		_, _ = fmt.Fprintln(c.stderr, problems.Error())
		return
	}
	_, _ = fmt.Fprintf(c.stderr, "%s: %s\n", program, err)
}

func (c *cli) print(format string, args ...any) { _, _ = fmt.Fprintf(c.stdout, format, args...) }
