// On Linux the kernel ends the components when the test process dies.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import "syscall"

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // a group of its own: ^C ends the test, whose end then ends this
}
