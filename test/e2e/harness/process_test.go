// Programs end with their test: when asked, when they will not listen, and when the test is killed. The programs are this test binary itself.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Set in the environment of a program: what it does, and the lock that it holds while it lives.
const (
	modeVariable = "HARNESS_TEST_MODE"
	lockVariable = "HARNESS_TEST_LOCK"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		os.Exit(program(mode))
	}
	goleak.VerifyTestMain(m)
}

// program prints "up" once it behaves as its mode says, and ends by itself after a minute.
func program(mode string) int {
	asked := make(chan os.Signal, 1)
	switch mode {
	case "fails":
		fmt.Println("no such flag")
		return 2
	case "polite":
		signal.Notify(asked, syscall.SIGTERM)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "parent":
		child := &Process{log: os.Getenv(lockVariable) + ".log", done: make(chan struct{})}
		if err := child.start(self("plain", os.Getenv(lockVariable))); err != nil {
			fmt.Println(err)
			return 1
		}
	case "plain":
		if _, err := tryLock(os.Getenv(lockVariable)); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("up")
	select {
	case <-asked:
		return 3
	case <-time.After(time.Minute):
		return 4
	}
}

// self is the command that runs a program of the mode.
func self(mode, lock string) Command {
	return Command{Name: mode, Path: os.Args[0], Env: []string{modeVariable + "=" + mode, lockVariable + "=" + lock}, Grace: 200 * time.Millisecond}
}

// printed is nil once the log holds the text.
func printed(path, text string) func(context.Context) error {
	return func(context.Context) error {
		log, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(log), text) {
			return fmt.Errorf("%s does not hold %q: %s", path, text, log)
		}
		return nil
	}
}

func TestStop(t *testing.T) {
	tests := map[string]string{"polite": "exit status 3", "deaf": "signal: killed", "plain": "signal: terminated"}
	for mode, want := range tests {
		t.Run(mode, func(t *testing.T) {
			command := self(mode, filepath.Join(t.TempDir(), "lock"))
			command.Ready = printed(filepath.Join(t.ArtifactDir(), mode+".log"), "up")
			p := Start(t.Context(), t, command)
			p.Stop()
			p.Stop() // does nothing
			if p.err == nil || p.err.Error() != want {
				t.Errorf("it ended with %v, want %s", p.err, want)
			}
		})
	}
}

func TestPause(t *testing.T) {
	tests := map[string]struct {
		resume bool
		want   string
	}{
		"resumed": {true, "exit status 3"},
		"paused":  {false, "signal: killed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command := self("polite", filepath.Join(t.TempDir(), "lock"))
			command.Ready = printed(filepath.Join(t.ArtifactDir(), "polite.log"), "up")
			p := Start(t.Context(), t, command)
			err := p.Pause()
			if test.resume {
				err = errors.Join(err, p.Resume())
			}
			p.Stop()
			if err != nil || p.err == nil || p.err.Error() != test.want {
				t.Errorf("%v; it ended with %v, want %s", err, p.err, test.want)
			}
		})
	}
}

func TestAwaitSaysWhyNot(t *testing.T) {
	notReady := errors.New("connection refused")
	ready := func(context.Context) error { return notReady }
	t.Run("it ended", func(t *testing.T) {
		p := &Process{log: filepath.Join(t.TempDir(), "log"), done: make(chan struct{})}
		if err := p.start(self("fails", "")); err != nil {
			t.Fatal(err)
		}
		err := p.await(t.Context(), ready)
		if !errors.Is(err, notReady) || err.Error() != "it ended (exit status 2) before it was ready: connection refused" {
			t.Errorf("got %v", err)
		}
		if p.Tail() != "no such flag" {
			t.Errorf("its log ends with %q", p.Tail())
		}
	})
	t.Run("the time is over", func(t *testing.T) {
		over := errors.New("too long")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(over)
		p := &Process{done: make(chan struct{})}
		if err := p.await(ctx, ready); !errors.Is(err, over) || !errors.Is(err, notReady) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("there is no such program", func(t *testing.T) {
		p := &Process{log: filepath.Join(t.TempDir(), "log"), done: make(chan struct{})}
		if err := p.start(Command{Path: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTailIsBounded(t *testing.T) {
	p := &Process{log: filepath.Join(t.TempDir(), "log")}
	var text strings.Builder
	for i := range tailLines + 10 {
		fmt.Fprintln(&text, i)
	}
	if err := os.WriteFile(p.log, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(p.Tail(), "\n"); len(lines) != tailLines || lines[0] != "10" {
		t.Errorf("%d lines from %q", len(lines), lines[0])
	}
}

// TestKilledParent kills a program that has started another: the lock of the other one comes free, since the kernel ends it.
func TestKilledParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("nothing ends the components of a killed test on %s", runtime.GOOS)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // less than the minute after which the child ends by itself
	defer cancel()
	lock := filepath.Join(t.TempDir(), "lock")
	parent := self("parent", lock)
	cmd := exec.Command(parent.Path)
	cmd.Env = parent.Env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up := (&Process{done: make(chan struct{})}).await(ctx, printed(lock+".log", "up"))
	_, held := tryLock(lock)
	err := errors.Join(up, cmd.Process.Kill())
	_ = cmd.Wait() // "signal: killed"
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(held, syscall.EWOULDBLOCK) {
		t.Fatalf("the child does not hold its lock: %v", held)
	}
	unlock, err := lockFile(ctx, lock)
	if err != nil {
		t.Fatalf("the child outlives its parent: %v", err)
	}
	unlock()
}
