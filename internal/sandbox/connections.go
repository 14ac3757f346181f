// The open connections of a server of the sandbox, which waits for them when it closes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net"
	"net/http"
	"sync"
)

// connections are the goroutines of a server: its accept loop and every open connection.
type connections struct{ sync.WaitGroup }

// count keeps a place for every connection: an http.Server's ConnState. The accept loop holds one of its own while it adds others.
func (c *connections) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.Done()
	case http.StateActive, http.StateIdle:
	}
}
