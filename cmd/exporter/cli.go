// The commands of the exporter, on the frame that both programs share, and their common flags.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
)

const program = "eks-slo-exporter"

// The exit codes.
const (
	exitGood    = command.ExitGood
	exitFailure = 1
	exitUsage   = command.ExitUsage
	exitUnknown = 3
)

// cli is the program.
type cli struct {
	*command.Line
	log *promslog.Config
}

func newCLI(stdout, stderr io.Writer) *cli {
	line := command.New(program, "Proves, all the time, that identities still get into EKS clusters and that load balancers have healthy targets, and names the one layer that broke.", stdout, stderr)
	c := &cli{line, &promslog.Config{Writer: stderr}}
	promslogflag.AddFlags(c.App, c.log)
	c.addRun()
	c.addDemo()
	c.addProbe()
	c.addBudget()
	c.addGate()
	c.addCheck()
	return c
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
