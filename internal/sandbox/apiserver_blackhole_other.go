// Where no kernel drops connections to a full queue, there is no black hole.
//
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package sandbox

import (
	"errors"
	"fmt"
)

// Blackhole would swallow connections; this system cannot.
type Blackhole struct{}

// NewBlackhole returns errors.ErrUnsupported.
func NewBlackhole() (*Blackhole, error) {
	return nil, fmt.Errorf("opening a black hole on loopback: %w", errors.ErrUnsupported)
}

// Addr is empty.
func (*Blackhole) Addr() string { return "" }

// Close does nothing.
func (*Blackhole) Close() error { return nil }
