// The cache's names and locks: one binary for one source, and one builder at a time.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestBuildUnknownComponent(t *testing.T) {
	_, err := Build(t.Context(), "kubelet")
	const want = `building component "kubelet": no such component; there are ["etcd" "aws-iam-authenticator" "kube-apiserver"]`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNamesAreTheModules(t *testing.T) {
	dirs, err := filepath.Glob("../components/*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, path := range dirs {
		modules = append(modules, filepath.Base(filepath.Dir(path)))
	}
	if names := slices.Sorted(slices.Values(Names())); !slices.Equal(names, modules) {
		t.Errorf("components %q, modules %q", names, modules)
	}
	for _, name := range Names() {
		if c, ok := components[name]; !ok || c.target == "" || c.cold == "" {
			t.Errorf("component %q is %+v", name, c)
		}
	}
}

func TestModuleDir(t *testing.T) {
	dir, err := moduleDir(t.Context(), Etcd)
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.Abs("../components/etcd")
	if err != nil {
		t.Fatal(err)
	}
	if dir != want {
		t.Errorf("got %s, want %s", dir, want)
	}
}

func TestDigest(t *testing.T) {
	base := map[string]string{"go.mod": "a", "main.go": "b"}
	same, err := digest(moduleWith(t, base), []byte("go1"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		files   map[string]string
		version string
		equal   bool
	}{
		"the same elsewhere": {base, "go1", true},
		"another Go":         {base, "go2", false},
		"another text":       {map[string]string{"go.mod": "a", "main.go": "c"}, "go1", false},
		"another name":       {map[string]string{"go.mod": "a", "tools.go": "b"}, "go1", false},
		"another cut":        {map[string]string{"go.mod": "ab", "main.go": ""}, "go1", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := digest(moduleWith(t, test.files), []byte(test.version))
			if err != nil {
				t.Fatal(err)
			}
			if (got == same) != test.equal {
				t.Errorf("got %s, the first was %s", got, same)
			}
		})
	}
}

func moduleWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*pollInterval, enough)
	defer cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, enough) {
		t.Errorf("a second lock, while the first is held: %v", err)
	}
	unlock()
	again, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatalf("after the first was given back: %v", err)
	}
	again()
}

func TestFreePort(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		port := FreePort(t)
		if port < firstPort || port > lastPort || seen[port] {
			t.Errorf("port %d", port)
		}
		if !listens(port) {
			t.Errorf("port %d is taken", port)
		}
		seen[port] = true
	}
}
