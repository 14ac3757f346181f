// A loopback address that answers no connection attempt, as behind a security group that drops packets.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// Blackhole is a listener whose queue of waiting connections is full and that accepts none, so the kernel drops further attempts (listen(2) on Linux).
type Blackhole struct {
	listener *net.TCPListener
	waiting  []net.Conn
}

const (
	blackholeFill = 16                     // more than any kernel's least queue
	blackholeWait = 200 * time.Millisecond // longer than a handshake on loopback
)

// NewBlackhole opens one, and proves that it swallows: it returns once an attempt to connect has timed out.
func NewBlackhole() (*Blackhole, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	b := &Blackhole{listener: listener}
	if err := b.fill(); err != nil {
		return nil, errors.Join(fmt.Errorf("filling the queue of %s: %w", b.Addr(), err), b.Close())
	}
	return b, nil
}

func (b *Blackhole) fill() error {
	raw, err := b.listener.SyscallConn()
	if err != nil {
		return err
	}
	var listenErr error
	if err := raw.Control(func(fd uintptr) { listenErr = syscall.Listen(int(fd), 0) }); err != nil || listenErr != nil { // a second listen shortens the queue
		return errors.Join(err, listenErr)
	}
	dialer := &net.Dialer{Timeout: blackholeWait}
	for range blackholeFill {
		conn, err := dialer.DialContext(context.Background(), "tcp", b.Addr())
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			return nil
		}
		if err != nil {
			return err
		}
		b.waiting = append(b.waiting, conn)
	}
	return fmt.Errorf("%d connections fit into a queue of none", blackholeFill)
}

// Addr is host:port of the hole.
func (b *Blackhole) Addr() string { return b.listener.Addr().String() }

// Close frees the address; from then on connections are refused.
func (b *Blackhole) Close() error {
	var errs []error
	for _, conn := range b.waiting {
		errs = append(errs, conn.Close())
	}
	b.waiting = nil
	return errors.Join(append(errs, b.listener.Close())...)
}
