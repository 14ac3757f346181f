// What all tests of the package share: nothing that they start goes on after them.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
