// Trouble of this machine: errors that say that it could not try, and nothing about whom it would have asked.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
)

// localErrors are the errors of socket(2), bind(2), connect(2) and send(2) that come from this machine: it has no file, memory or port left, or its own firewall or sandbox forbids it.
var localErrors = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EPERM, syscall.EACCES,
}

// LocalTrouble reports whether a network error means that this machine could not try, so that nothing is known of the other side. It is for errors of a connection or a look-up: of a file,
// EPERM and EACCES mean something else. package net keeps only the text of what a look-up broke on (net.DNSError), so there the texts are compared.
func LocalTrouble(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return slices.ContainsFunc(localErrors, func(own syscall.Errno) bool {
			return strings.HasSuffix(dns.Err, ": "+own.Error()) || dns.Err == own.Error()
		})
	}
	return slices.ContainsFunc(localErrors, func(own syscall.Errno) bool { return errors.Is(err, own) })
}
