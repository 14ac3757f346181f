// Elsewhere than on Linux nothing ends the components of a killed test.
//
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package harness

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
