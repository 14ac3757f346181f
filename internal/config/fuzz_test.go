// Whatever the bytes: no panic, and either a configuration or problems that point into the file.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"bad", "good"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern, "*.yaml"))
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := Parse("x.yaml", data)
		if err == nil {
			checkConfig(t, config)
			return
		}
		if config != nil {
			t.Error("a configuration came back with problems")
		}
		checkPositions(t, data, asProblems(t, err))
	})
}

func checkConfig(t *testing.T, config *Config) {
	t.Helper()
	for _, target := range config.Access {
		if target.Timeout > target.Interval || target.Timeout < time.Second {
			t.Errorf("target %s: timeout %s, interval %s", target.Name, target.Timeout, target.Interval)
		}
		if target.Name != target.Identity.Name+"@"+target.Cluster.Name || strings.Count(target.Name, "@") != 1 {
			t.Errorf("target %q of identity %q on cluster %q", target.Name, target.Identity.Name, target.Cluster.Name)
		}
	}
}

func checkPositions(t *testing.T, data []byte, problems Problems) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(string(data), "\uFEFF"), "\n")
	for i, p := range problems {
		if p.Line < 1 || p.Column < 1 || p.Line > len(lines) || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Errorf("position %d:%d is outside the file: %s", p.Line, p.Column, p)
		}
		if p.Message == "" || p.Hint == "" || strings.Contains(p.Message+p.Hint, "%!") {
			t.Errorf("wording is broken: %#v", p)
		}
		if i > 0 && (p.Line < problems[i-1].Line || p.Line == problems[i-1].Line && p.Column < problems[i-1].Column) {
			t.Errorf("out of order: %s", p)
		}
		if text := p.String(); !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\r\x00") {
			t.Errorf("not fit for a terminal: %q", text)
		}
	}
}
