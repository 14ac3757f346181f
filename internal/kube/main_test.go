// Every test of this package runs under goleak: a dial that ended leaves no goroutine behind.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
