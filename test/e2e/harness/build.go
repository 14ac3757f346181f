// Builds the real components once, into a cache outside the tree.
//
// SPDX-License-Identifier: Apache-2.0

// Package harness builds and runs what an EKS cluster's front door is made of: etcd, kube-apiserver and aws-iam-authenticator, all from their published
// Go modules and all on loopback, with the sandbox in the place of AWS.
package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// The components that can be built.
const (
	Etcd          = "etcd"
	APIServerName = "kube-apiserver"
	Authenticator = "aws-iam-authenticator"
)

// component says what a module of components/ builds, and how long that takes.
type component struct {
	target string // what go build is given, in the module's directory
	cold   string // time from a cold cache on two cores, for people who wait
}

var components = map[string]component{
	Etcd:          {"go.etcd.io/etcd/server/v3", "2 minutes"},
	APIServerName: {".", "8 minutes"},
	Authenticator: {"sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator", "3 minutes"},
}

// Names lists the components, in the order in which they are built: what fails fast comes first.
func Names() []string { return []string{Etcd, Authenticator, APIServerName} }

// Build returns the path of a component's binary, and builds it first when the cache has none for this go.mod, go.sum and Go version. It says on stderr what it does.
// Runs that want the same component at once wait for one another; a cancelled ctx ends the wait and the build.
func Build(ctx context.Context, name string) (string, error) {
	c, ok := components[name]
	if !ok {
		return "", fmt.Errorf("building component %q: no such component; there are %q", name, Names())
	}
	source, err := moduleDir(ctx, name)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	path, err := cachedPath(ctx, name, source)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	unlock, err := lockFile(ctx, path+".lock")
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := compile(ctx, name, c, build{source, path}); err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	return path, nil
}

// build is where a binary comes from and where it goes.
type build struct{ source, path string }

// compile writes the binary beside its place and renames it, so that nobody ever runs half a binary.
func compile(ctx context.Context, name string, c component, b build) error {
	fmt.Fprintf(os.Stderr, "e2e: building %s into %s (about %s on 2 cores when nothing is cached)\n", name, b.path, c.cold)
	begin := time.Now()
	partial := b.path + ".partial"
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", partial, c.target)
	cmd.Dir = b.source
	// Pure Go, so that one cache serves machines with and without a C compiler; no workspace, so that only the module's own go.mod counts.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %v in %s: %w", cmd.Args, b.source, err)
	}
	if err := os.Rename(partial, b.path); err != nil {
		return fmt.Errorf("putting the binary in its place: %w", err)
	}
	fmt.Fprintf(os.Stderr, "e2e: built %s in %s\n", name, time.Since(begin).Round(time.Second))
	return nil
}

// moduleDir finds a component's module from anywhere in the module test/e2e: a test runs in its package's directory.
func moduleDir(ctx context.Context, name string) (string, error) {
	out, err := goOutput(ctx, "", "list", "-m", "-f", "{{.Dir}}", "github.com/eks-slo/eks-slo-exporter/test/e2e")
	if err != nil {
		return "", err
	}
	return filepath.Join(string(out), "components", name), nil
}

// cachedPath names the binary by everything that decides what is in it.
func cachedPath(ctx context.Context, name, source string) (string, error) {
	version, err := goOutput(ctx, source, "version")
	if err != nil {
		return "", err
	}
	digest, err := digest(source, version)
	if err != nil {
		return "", err
	}
	dir, err := cacheDir(digest)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// cacheDir makes a directory of this suite in the user's cache, outside the tree.
func cacheDir(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory: %w", err)
	}
	dir := filepath.Join(cache, "eks-slo-exporter", "e2e", name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("making the cache directory: %w", err)
	}
	return dir, nil
}

// digest hashes the module's files, with their names, and the Go version.
func digest(source string, version []byte) (string, error) {
	files, err := filepath.Glob(filepath.Join(source, "*"))
	if err != nil {
		return "", fmt.Errorf("listing %s: %w", source, err)
	}
	slices.Sort(files)
	hash := sha256.New()
	hash.Write(version)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("hashing the module: %w", err)
		}
		hash.Write(fmt.Appendf(nil, "%s %d\n", filepath.Base(path), len(text)))
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

func goOutput(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running go %v: %w: %s", args, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return bytes.TrimSpace(out), nil
}
