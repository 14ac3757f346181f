// The commands of slogen, on the frame that both programs share.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"github.com/eks-slo/eks-slo-exporter/internal/command"
)

const program = "slogen"

// The exit codes.
const (
	exitGood  = command.ExitGood
	exitNo    = 1 // files are stale, or a specification is refused
	exitUsage = command.ExitUsage
)

// cli is the program.
type cli struct{ *command.Line }

func newCLI(stdout, stderr io.Writer) *cli {
	c := &cli{command.New(program, "Turns SLO specifications into Prometheus rules that are proved for probes, and says what they can and cannot tell.", stdout, stderr)}
	c.addRules()
	c.addAlertmanager()
	c.addAll()
	c.addCheck()
	c.addSimulate()
	return c
}
