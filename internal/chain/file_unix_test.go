// A pipe in the place of a file must not block the reader. Windows has no such files.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package chain

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadSmallDoesNotWaitForAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadSmall(path, 64); text != nil || !errors.Is(err, ErrNotRegular) {
		t.Errorf("read %q, error %v", text, err)
	}
}
