// Every test of the package ends with no goroutine left.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
