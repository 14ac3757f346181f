// The command line of both programs: kingpin, one file a command, errors for people, exit codes.
//
// SPDX-License-Identifier: Apache-2.0

// Package command is what the programs' command lines share.
package command

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

// The exit codes that both programs have.
const (
	ExitGood  = 0
	ExitUsage = 2 // a mistake on the command line, in the configuration or in a specification
)

// Action is what a command does once its flags are read. It returns the exit code and, when there is something to complain of, an error.
type Action func(ctx context.Context) (int, error)

// Line is a program before its flags are read. Its streams are those of the process, or a test's.
type Line struct {
	App            *kingpin.Application
	Stdout, Stderr io.Writer

	program          string
	help             bytes.Buffer // what --help and --version say; printed only when they were asked for
	helped, versions bool         // whether they were
	refused          bool         // kingpin has complained by itself, as help does of a command that does not exist
	actions          map[string]Action
}

// New makes a program without commands.
func New(program, about string, stdout, stderr io.Writer) *Line {
	app := kingpin.New(program, about)
	l := &Line{App: app, Stdout: stdout, Stderr: stderr, program: program, actions: map[string]Action{}}
	app.UsageWriter(&l.help).ErrorWriter(stderr)
	app.Terminate(func(code int) {
		l.refused = l.refused || code != 0
		app.UsageWriter(io.Discard) // kingpin reads on after --help, and would say more
	})
	if info, ok := debug.ReadBuildInfo(); ok && version.Version == "" { // no linker flags: go run, go install
		version.Version = info.Main.Version
	}
	app.Version(version.Print(program))
	app.HelpFlag.Short('h').IsSetByUser(&l.helped)
	app.VersionFlag.IsSetByUser(&l.versions)
	return l
}

// Add adds a command and what it does.
func (l *Line) Add(name, help string, add func(*kingpin.CmdClause) Action) {
	l.actions[name] = add(l.App.Command(name, help))
}

// Run reads the arguments and runs the command that they name. It returns the exit code.
func (l *Line) Run(ctx context.Context, args []string) int {
	name, err := l.App.Parse(args)
	switch {
	case l.refused:
		return ExitUsage
	case l.helped, l.versions, name == "help":
		l.Print("%s", l.help.String())
		return ExitGood
	case errors.Is(err, kingpin.ErrCommandNotSpecified):
		err = errors.New("no command is given")
		fallthrough
	case err != nil:
		_, _ = fmt.Fprintf(l.Stderr, "%s: %s; try --help\n", l.program, err)
		return ExitUsage
	}
	code, err := l.actions[name](ctx)
	if err != nil {
		l.complain(err)
	}
	return code
}

// complain prints an error for people: mistakes in files as they are, with their source lines, anything else behind the program's name.
func (l *Line) complain(err error) {
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		_, _ = fmt.Fprintln(l.Stderr, problems.Error())
		return
	}
	_, _ = fmt.Fprintf(l.Stderr, "%s: %s\n", l.program, err)
}

// Print writes to standard output; a closed one is nobody's to report.
func (l *Line) Print(format string, args ...any) { _, _ = fmt.Fprintf(l.Stdout, format, args...) }
