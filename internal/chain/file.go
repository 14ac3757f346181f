// Small files, such as a token or a manifest, are read whole, bounded, and without waiting for what is no file.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is returned by ReadSmall for a directory, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// TooLargeError is returned by ReadSmall for a file of more than Limit bytes.
type TooLargeError struct{ Limit int64 }

// Error implements error.
func (e *TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Limit) }

// ReadSmall reads a regular file of at most limit bytes; the text of an empty one is not nil. The errors are ErrNotRegular, a *TooLargeError, or the cause of an error of the file system
// (fs.ErrNotExist, fs.ErrPermission and the like are found with errors.Is); none repeats the path, which the caller names.
func ReadSmall(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would block otherwise
	if err != nil {
		return nil, FileCause(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()            // of what was opened: the path may have changed hands since
	switch {
	case err != nil:
		return nil, FileCause(err)
	case !info.Mode().IsRegular():
		return nil, ErrNotRegular
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, FileCause(err)
	case int64(len(text)) > limit:
		return nil, &TooLargeError{limit}
	}
	return text, nil
}

// FileCause shortens an error of the file system to its cause, for a text that names the path already. Other errors come back as they are.
func FileCause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
