// Command floor links what slogen links and does nothing: the least that starting it can cost.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/cmd/slogen/quiet"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/alertmanager"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/simulate"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

// linked is what the linker must keep.
var linked = []any{kingpin.New, quiet.End, alertmanager.Write, simulate.Run, sloth.Read, sloth.Generate, sloth.WriteRules, sloth.WriteTests}

func main() {
	if len(os.Args) > len(linked) {
		panic(linked)
	}
}
