// Connections keeps hold of what a transport dials, so that Close can end it. http.Transport ends idle connections alone, and one on which a stream ran into its deadline may not be idle yet.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"net"
	"sync"
)

// connections are the open connections of one transport. Safe for concurrent use.
type connections struct {
	dialer *net.Dialer

	mu     sync.Mutex
	open   map[*connection]bool
	closed bool
}

// connection is one of them; closing it takes it off the list.
type connection struct {
	net.Conn
	of *connections
}

// dial connects. After close, where the transport may still be dialling for a question that gave up, the error is net.ErrClosed.
func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := c.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	dialled := &connection{raw, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = raw.Close() // nothing was written to it
		return nil, net.ErrClosed
	}
	c.open[dialled] = true
	return dialled, nil
}

// close ends every connection, and every one that is still to come.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for dialled := range c.open {
		_ = dialled.Conn.Close() // it is given up, whatever is still to be read from it
	}
	clear(c.open)
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
