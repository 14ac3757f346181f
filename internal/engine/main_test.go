// The tests leave no goroutine behind; started as a child, the test program ingests until it is killed.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		ingestUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}
