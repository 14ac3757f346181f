// One started program: its handle, its log file and its end.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tailLines is how much of a log is shown when a test fails.
const tailLines = 25

// Command says which program to start and how to know that it serves.
type Command struct {
	Name  string // names the log file
	Path  string
	Args  []string
	Env   []string                    // the whole environment; nothing is inherited
	Grace time.Duration               // from SIGTERM to SIGKILL
	Ready func(context.Context) error // nil once the program serves
}

// Process is a running program. It ends with the test that started it.
type Process struct {
	name  string
	log   string
	grace time.Duration
	cmd   *exec.Cmd
	done  chan struct{} // closed when the program has ended
	err   error         // how it ended; read it after done
}

// Start starts a program and returns once it is ready. When ctx ends first, or the program does, the test ends with the last lines of its log.
// The program is ended by its handle when the test ends, however that is; programs end in the reverse order of their start. On Linux it also ends when the test process dies.
func Start(ctx context.Context, t testing.TB, c Command) *Process {
	t.Helper()
	p := &Process{name: c.Name, log: filepath.Join(t.ArtifactDir(), c.Name+".log"), grace: c.Grace, done: make(chan struct{})}
	if err := p.start(c); err != nil {
		t.Fatalf("starting %s: %v", c.Name, err)
	}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s, last lines of %s:\n%s", p.name, p.log, p.Tail())
		}
	})
	if err := p.await(ctx, c.Ready); err != nil {
		t.Fatalf("waiting for %s: %v", c.Name, err)
	}
	return p
}

// start runs the program on a thread of its own, which lives until the program ends: Linux sends the parent-death signal when the starting THREAD ends, not the process.
func (p *Process) start(c Command) error {
	file, err := os.Create(p.log)
	if err != nil {
		return fmt.Errorf("making the log: %w", err)
	}
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = c.Env, file, file, childAttributes()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = file.Close() }()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	return <-started
}

// await polls ready until it is nil.
func (p *Process) await(ctx context.Context, ready func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("it ended (%s) before it was ready: %w", p.cmd.ProcessState, err)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// Stop asks the program to end, kills it after its grace, and returns when it is gone. A second Stop does nothing.
func (p *Process) Stop() {
	select {
	case <-p.done:
		return
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error says that it has just ended
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// Pause stops the program from running until Resume; its connections stay open. Stop ends a paused program too.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused program run on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Log returns all that the program has written so far.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Tail returns the last lines of the program's log.
func (p *Process) Tail() string {
	lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
