// Tests of what counts as this machine's own trouble, and what does not.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestLocalTrouble(t *testing.T) {
	socket := func(errno syscall.Errno) error {
		return fmt.Errorf("asking: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", errno)})
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"files of the process":   {socket(syscall.EMFILE), true},
		"files of the system":    {socket(syscall.ENFILE), true},
		"buffers":                {socket(syscall.ENOBUFS), true},
		"memory":                 {socket(syscall.ENOMEM), true},
		"ports":                  {socket(syscall.EADDRNOTAVAIL), true},
		"a local firewall":       {socket(syscall.EPERM), true},
		"a sandbox":              {socket(syscall.EACCES), true},
		"refused":                {socket(syscall.ECONNREFUSED), false},
		"reset":                  {socket(syscall.ECONNRESET), false},
		"unreachable":            {socket(syscall.EHOSTUNREACH), false},
		"timed out":              {socket(syscall.ETIMEDOUT), false},
		"a deadline":             {context.DeadlineExceeded, false},
		"the same words":         {errors.New("socket: " + syscall.EMFILE.Error()), false},
		"a look-up without file": {&net.DNSError{Err: "dial udp 127.0.0.1:53: socket: " + syscall.EMFILE.Error(), Name: "a.test"}, true},
		"a look-up by libc":      {&net.DNSError{Err: syscall.EMFILE.Error(), Name: "a.test"}, true},
		"a look-up refused":      {&net.DNSError{Err: "read udp 127.0.0.1:53: " + syscall.ECONNREFUSED.Error(), Name: "a.test"}, false},
		"SERVFAIL":               {&net.DNSError{Err: "server misbehaving", Name: "a.test"}, false},
		"no such name":           {&net.DNSError{Err: "no such host", Name: "a.test", IsNotFound: true}, false},
		"a file's permissions":   {fs.ErrPermission, false},
		"nothing":                {nil, false},
	} {
		if got := LocalTrouble(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The look-up is real: this is what net makes of a socket that could not be had.
func TestLocalTroubleOfALookUp(t *testing.T) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "udp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}}
	if _, err := resolver.LookupHost(t.Context(), "apiserver.test"); !LocalTrouble(err) {
		t.Errorf("error %v is not seen as this machine's", err)
	}
}
