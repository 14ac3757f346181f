// Every goroutine that a test of the web server starts has ended when the tests have.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
