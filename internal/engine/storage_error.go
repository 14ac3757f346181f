// What keeps a folder from being the storage, and the way out of it.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// StorageError says that the folder of the data cannot be used: Open returns it, and it is logged when a write fails later.
type StorageError struct {
	Dir  string
	Hint string // what the user can do; "" when that is not known
	Err  error
}

// Error names the folder and the cause.
func (e *StorageError) Error() string {
	return fmt.Sprintf("using the storage in %q: %v", e.Dir, e.Err)
}

// Unwrap gives the cause.
func (e *StorageError) Unwrap() error { return e.Err }

func newStorageError(dir string, err error) *StorageError {
	return &StorageError{Dir: dir, Hint: hint(dir, err), Err: err}
}

func hint(dir string, err error) string {
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return fmt.Sprintf("another process%s has this folder open; stop it, or give this one a folder of its own", holder(dir))
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "the folder must be writable by the user that the exporter runs as; in Kubernetes mount a volume there and set fsGroup"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Sprintf("the disk is full, or this user's share of it: there must be room for %d MiB more; free space or shorten the retention", room>>20)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		return "the path, or a part of it, is a file; name a folder"
	case strings.Contains(err.Error(), "repair corrupted WAL"), strings.Contains(err.Error(), "repair corrupted WBL"): // tsdb gives no type
		return fmt.Sprintf("the write-ahead log is beyond repair; move %q away, which loses up to the last %s", filepath.Join(dir, "wal"), 3*time.Hour)
	case strings.Contains(err.Error(), "corrupted block"): // tsdb gives no type
		return "a block cannot be read; move the folder that the error names away, which loses the time that it covers"
	}
	return ""
}

// lockFile is locked by whoever has the folder open. Prometheus leaves it empty; ours says who that is.
func lockFile(dir string) string { return filepath.Join(dir, "lock") }

// sign writes into the lock file who holds it, for people and for holder.
func sign(dir string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return os.WriteFile(lockFile(dir), fmt.Appendf(nil, "%d on %s\n", os.Getpid(), host), 0o600)
}

// holder is the other process as its lock file tells it; "" when that is silent.
func holder(dir string) string {
	text, err := os.ReadFile(lockFile(dir))
	if who := strings.TrimSpace(string(text)); err == nil && who != "" {
		return fmt.Sprintf(" (%s, says %q)", who, lockFile(dir))
	}
	return ""
}
