// File locks keep two runs on one machine apart: while one builds, and while one uses a port.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// pollInterval is how often something that cannot be waited for is looked at.
const pollInterval = 50 * time.Millisecond

// The ports that are handed out lie below Linux's ephemeral range (32768 and up), so that no outgoing connection of anybody takes one meanwhile.
const (
	firstPort = 20000
	lastPort  = 29999
)

// lockFile takes an exclusive lock that ends with unlock or with the process. It waits until ctx ends.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		unlock, err := tryLock(path)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the lock %s: %w", path, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// tryLock takes the lock, or returns an error that is syscall.EWOULDBLOCK when somebody else has it.
func tryLock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// FreePort reserves a loopback port for the rest of the test. Every run of this harness asks the same locks, so no two get one port; ports that others listen on are passed over.
func FreePort(t testing.TB) int {
	t.Helper()
	dir, err := cacheDir("ports")
	if err != nil {
		t.Fatalf("reserving a port: %v", err)
	}
	count := lastPort - firstPort + 1
	begin := rand.IntN(count)
	for i := range count {
		port := firstPort + (begin+i)%count
		unlock, err := tryLock(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if !listens(port) {
			unlock()
			continue
		}
		t.Cleanup(unlock)
		return port
	}
	t.Fatalf("reserving a port: none of %d to %d is free", firstPort, lastPort)
	return 0
}

// listens says whether a server could listen on the port now.
func listens(port int) bool {
	listener, err := net.Listen("tcp", Address(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// Address is a port's loopback address.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
