// The command line: kingpin, with the flags that Prometheus exporters share.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"runtime/debug"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/common/version"

	"github.com/eks-slo/eks-slo-exporter/internal/config"
)

const program = "eks-slo-exporter"

// The exit codes.
const (
	exitGood    = 0
	exitFailure = 1
	exitUsage   = 2
	exitUnknown = 3
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
	log              *promslog.Config
	actions          map[string]action
}

func newCLI(stdout, stderr io.Writer) *cli {
	app := kingpin.New(program, "Proves, all the time, that identities still get into EKS clusters and that load balancers have healthy targets, and names the one layer that broke.")
	c := &cli{app: app, stdout: stdout, stderr: stderr, log: &promslog.Config{Writer: stderr}, actions: map[string]action{}}
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
	promslogflag.AddFlags(app, c.log)
	c.addRun()
	c.addDemo()
	c.addProbe()
	c.addCheck()
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

// complain prints an error for people: configuration problems as they are, with their source lines, anything else behind the program's name.
func (c *cli) complain(err error) {
	if problems, ok := errors.AsType[config.Problems](err); ok {
		_, _ = fmt.Fprintln(c.stderr, problems.Error())
		return
	}
	_, _ = fmt.Fprintf(c.stderr, "%s: %s\n", program, err)
}

// configFlag adds the flag that names the configuration file.
func configFlag(cmd *kingpin.CmdClause) *string {
	return cmd.Flag("config.file", "Configuration file.").Default("eks-slo.yaml").String()
}

// configHint adds what to do about a configuration file that cannot be opened.
func configHint(err error, file string) error {
	if open, ok := errors.AsType[*fs.PathError](err); ok && open.Path == file {
		return fmt.Errorf("%w; name another file with --config.file", err)
	}
	return err
}

func (c *cli) logger() *slog.Logger { return promslog.New(c.log) }

func (c *cli) print(format string, args ...any) { _, _ = fmt.Fprintf(c.stdout, format, args...) }
