// Scripts of the command line: the program runs as a process of its own.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/eks-slo/eks-slo-exporter/internal/command/commandtest"
)

var update = flag.Bool("update", false, "write the scripts' golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

func TestScripts(t *testing.T) {
	specs, err := filepath.Abs(filepath.Join("..", "..", "slo-specs"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), UpdateScripts: *update, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SPECS", specs)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": commandtest.Exits},
	})
}
