// Hostile files end soon: what a file may cost is bounded by its size and by the count of values, not by what its aliases multiply to.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package config

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpuTime is what the process has used: unlike a wall clock it does not depend on who else is busy.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

func TestHostileFilesEndSoon(t *testing.T) {
	const (
		most = 10 * time.Second // of CPU; with the race detector the dearest takes about 3 s, and a quadratic walk over one of these lines took more than this without it
		half = maxSize / 2
	)
	names := strings.Repeat("{name: abcdefghijklmnopqrstuvwxyz-%, source: irsa}, ", 5_000)
	for name, text := range map[string]string{
		"alias bomb":              aliasBomb(30_000),
		"merge bomb":              "probe: &a\n  interval: 15s\n  <<: [*a, *a, *a, *a, *a, *a]\naccess: [" + strings.Repeat("{<<: *a},", 20_000) + "]\n",
		"deep flow":               strings.Repeat("[", 100_000),
		"deep mappings":           strings.Repeat("{a: ", 9_000),
		"one long line":           "access: [" + strings.Repeat("x,", half/2) + "]",
		"one long key":            "? " + strings.Repeat("k", half) + "\n: 1\n",
		"many keys":               strings.Repeat("a: 1\n", half/5),
		"late syntax error":       strings.Repeat("- {name: a, list: [b,\n c]}\n", 15_000) + "]\n",
		"many unknown names":      "identities: [" + names + "]\naccess: [" + strings.Repeat("{cluster: a, identity: abcdefghijklmnopqrstuvwxyz},", 3_000) + "]\n",
		"a long line of no ASCII": "access: [" + strings.Repeat("ü,", half/3) + "]",
		"long patterns": "target_groups: [&a {name: a, arn: b, observer: c, request: {url: d, expect_body: '" + strings.Repeat("(a{9}", 200) + "'}}" +
			strings.Repeat(", {<<: *a}", 15_000) + "]\n",
		"one pattern, too long":  "target_groups: [&a {name: a, request: {expect_body: &p '" + strings.Repeat("(a", half/4) + "'}}" + strings.Repeat(", {request: {expect_body: *p}}", 3_000) + "]\n",
		"many secrets, one line": "identities: [" + strings.Repeat("{password: x}, ", 60_000) + "]\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := cpuTime(t)
			_, err := Parse("x.yaml", []byte(text))
			shown := asProblems(t, err).Error()
			if took := cpuTime(t) - start; took > most {
				t.Errorf("took %s of CPU", took)
			}
			if len(shown) > maxSize {
				t.Errorf("the report of %d bytes is larger than the file may be", len(shown))
			}
			t.Logf("%s of CPU, %d bytes", cpuTime(t)-start, len(shown))
		})
	}
}
