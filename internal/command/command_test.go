// Tests of the command line's frame: what is printed where, and with which exit code.
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
)

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string // a part of it; "": nothing
	}{
		"a command":           {[]string{"greet"}, ExitGood, "hello", ""},
		"an error":            {[]string{"fail"}, 3, "", "prog: asking: no answer\n"},
		"no command":          {nil, ExitUsage, "", "prog: no command is given; try --help\n"},
		"unknown command":     {[]string{"grete"}, ExitUsage, "", "try --help\n"},
		"unknown flag":        {[]string{"greet", "--loud"}, ExitUsage, "", "prog: unknown long flag '--loud'; try --help\n"},
		"help":                {[]string{"--help"}, ExitGood, "Says hello.", ""},
		"help of what is not": {[]string{"help", "grete"}, ExitUsage, "", "grete"},
		"version":             {[]string{"--version"}, ExitGood, "prog, version", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			line := New("prog", "A program.", &stdout, &stderr)
			line.Add("greet", "Says hello.", func(*kingpin.CmdClause) Action {
				return func(context.Context) (int, error) {
					line.Print("hello\n")
					return ExitGood, nil
				}
			})
			line.Add("fail", "Fails.", func(*kingpin.CmdClause) Action {
				return func(context.Context) (int, error) { return 3, errors.New("asking: no answer") }
			})
			if code := line.Run(t.Context(), c.args); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for stream, text := range map[string][2]string{"stdout": {stdout.String(), c.stdout}, "stderr": {stderr.String(), c.stderr}} {
				if !strings.Contains(text[0], text[1]) || text[1] == "" && text[0] != "" {
					t.Errorf("%s is %q, want %q", stream, text[0], text[1])
				}
			}
		})
	}
}
