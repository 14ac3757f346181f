// Runs every check on this repository.
//
// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"os"
	"testing"
)

// root is the repository, seen from this package.
const root = "../.."

func TestRepository(t *testing.T) {
	tree := os.DirFS(root)
	files, err := Scan(tree)
	if err != nil {
		t.Fatal(err)
	}
	dependencies, err := CheckDependencies(tree)
	if err != nil {
		t.Fatal(err)
	}
	for name, found := range map[string][]string{
		"imports":      CheckImports(files, Rules),
		"headers":      CheckHeaders(files),
		"packages":     CheckPackages(files),
		"sizes":        CheckSizes(files, DefaultLimits),
		"sleeps":       CheckSleeps(files),
		"dependencies": dependencies,
	} {
		t.Run(name, func(t *testing.T) {
			for _, line := range found {
				t.Error(line)
			}
		})
	}
}

// TestRepositoryIsRead guards against a walk that finds nothing and therefore nothing wrong.
func TestRepositoryIsRead(t *testing.T) {
	files, err := Scan(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"internal/chain": false, "internal/probes": false, "internal/sandbox": false, "test/e2e/harness": false, "test/e2e/components/kube-apiserver": false}
	for _, file := range files {
		if _, ok := want[file.Package]; ok {
			want[file.Package] = true
		}
	}
	for dir, seen := range want {
		if !seen {
			t.Errorf("no file of %s was read", dir)
		}
	}
}
