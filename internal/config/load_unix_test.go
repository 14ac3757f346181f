// A pipe in the place of the configuration, or of rules, must not block the exporter. Windows has no such files.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package config

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// A pipe that nobody writes to would keep the exporter from starting, and from ending.
func TestLoadDoesNotWaitForAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(pipe); !errors.Is(err, chain.ErrNotRegular) || err.Error() != "reading the configuration: open "+pipe+": not a regular file" {
		t.Errorf("got %v", err)
	}
}

func TestRulesAreNoPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Parse(filepath.Join(dir, "eks-slo.yaml"), []byte("query: {embedded: {}}\nrules: [pipe.yaml]\n"))
	checkFirst(t, err, `2:9: rules "pipe.yaml": it is neither a file nor a folder`)
}
