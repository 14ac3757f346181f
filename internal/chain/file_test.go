// Tests of reading small files: what is read whole, and what is refused without blocking.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadSmall(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text  string
		wrong error
	}{
		"empty":           {"", nil},
		"at the limit":    {strings.Repeat("a", 64), nil},
		"above the limit": {strings.Repeat("a", 65), &TooLargeError{64}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := ReadSmall(path, 64)
			if fmt.Sprint(err) != fmt.Sprint(c.wrong) {
				t.Fatalf("error %v, want %v", err, c.wrong)
			}
			if err == nil && (text == nil || string(text) != c.text) {
				t.Errorf("read %q", text)
			}
		})
	}
}

func TestReadSmallReadsNoMoreThanItMust(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 64<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ReadSmall(path, 64)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; fmt.Sprint(err) != "larger than 64 bytes" || allocated > 1<<20 {
		t.Errorf("error %v, allocated %d bytes", err, allocated)
	}
}

func TestReadSmallRefuses(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "gone"), link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		want error
		text string
	}{
		"a missing file":     {filepath.Join(dir, "gone"), fs.ErrNotExist, "no such file or directory"},
		"a link to nothing":  {link, fs.ErrNotExist, "no such file or directory"},
		"a directory":        {dir, ErrNotRegular, "not a regular file"},
		"an endless device":  {"/dev/zero", ErrNotRegular, "not a regular file"},
		"a path through one": {filepath.Join("/dev/zero", "x"), nil, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := ReadSmall(c.path, 64)
			if text != nil || err == nil || err.Error() != c.text || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("read %q, error %v; want %q", text, err, c.text)
			}
		})
	}
}

func TestTooLargeIsFoundByType(t *testing.T) {
	wrapped := fmt.Errorf("reading it: %w", &TooLargeError{64 << 10})
	if found, ok := errors.AsType[*TooLargeError](wrapped); !ok || found.Limit != 64<<10 || wrapped.Error() != "reading it: larger than 65536 bytes" {
		t.Errorf("%v: found %v", wrapped, found)
	}
}

func TestFileCause(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct{ err, want error }{
		{&fs.PathError{Op: "open", Path: "/secret/place", Err: fs.ErrPermission}, fs.ErrPermission},
		{fmt.Errorf("again: %w", &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrExist}), fs.ErrExist},
		{other, other},
		{nil, nil},
	} {
		if got := FileCause(c.err); got != c.want { //nolint:errorlint // the cause itself is wanted, not a tree that holds it
			t.Errorf("cause of %v: %v, want %v", c.err, got, c.want)
		}
	}
}
