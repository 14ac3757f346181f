// SIGKILL at any moment leaves nothing that a next start would stumble over.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// kills is how often the exporter is killed: each time a little later after its start, so that no moment of it is left out.
const kills = 50

func TestKilledFiftyTimes(t *testing.T) {
	dir := t.TempDir()
	world, err := sandbox.NewScene(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	world.Setenv(t.Setenv)
	config := filepath.Join(dir, "eks-slo.yaml")
	if err := os.WriteFile(config, []byte(world.Config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	address := freeAddress(t)
	for i := range kills {
		exporter := startRun(t, config, address)
		timer := time.NewTimer(time.Duration(i) * 4 * time.Millisecond)
		<-timer.C
		if err := exporter.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = exporter.Wait() // "signal: killed"
	}
	if left := list(t, dir); left != "eks-slo.yaml" {
		t.Errorf("after %d kills the folder holds %s", kills, left)
	}
	exporter := startRun(t, config, address)
	awaitReady(t, address)
	if err := exporter.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := exporter.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want exit 0", err)
	}
}

func startRun(t *testing.T, config, address string) *exec.Cmd {
	t.Helper()
	exporter := exec.Command(program, "run", "--config.file="+config, "--web.listen-address="+address)
	var said strings.Builder
	exporter.Stderr = &said
	if err := exporter.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return exporter
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func awaitReady(t *testing.T, address string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1500 {
		if response, err := http.Get(fmt.Sprintf("http://%s/-/ready", address)); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				http.DefaultClient.CloseIdleConnections()
				return
			}
		}
		<-tick.C
	}
	t.Fatal("the exporter did not become ready in 30 seconds")
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
