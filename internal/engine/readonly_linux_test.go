// A folder that the user may not write to.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

const nobody = 65534

// As root every folder is writable, so this thread opens files as nobody meanwhile: Open's first file, the lock, is opened on it.
func TestReadOnlyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Getuid() == 0 {
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	_, err := Open(options(dir, prometheus.NewRegistry()))
	wantHint(t, err, "the folder must be writable")
}
