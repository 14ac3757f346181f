// What the script tests of both programs share.
//
// SPDX-License-Identifier: Apache-2.0

// Package commandtest has the script commands that every program's tests need.
package commandtest

import (
	"errors"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// Exits is the script command `exits CODE PROGRAM [ARG…]`: it runs a program, whose exit code must be CODE.
func Exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
