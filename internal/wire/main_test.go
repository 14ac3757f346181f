// Every test of this package runs under goleak: a request that ended leaves no goroutine behind.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
