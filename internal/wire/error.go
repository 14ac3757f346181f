// Errors of a connection, as far as every chain asks the same of them.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"net"
	"net/url"
	"syscall"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// TimedOut reports whether an error is the network's own timeout.
func TimedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// Unreachable reports whether the network, or the routing table of this machine, says that there is no way to an address.
func Unreachable(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH)
}

// PlainText is an error's text, redacted, without net/http's "Get URL" in front.
func PlainText(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return chain.Redact(err.Error())
}
