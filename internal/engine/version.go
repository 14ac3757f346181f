// The version of Prometheus that is embedded, for clients that decide by it.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime/debug"
	"strings"
)

// libraryVersion turns the module's version into Prometheus': v0.310.0 is 3.10.0 (RELEASE.md of Prometheus). "unknown" without build information, as in tests.
func libraryVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == "github.com/prometheus/prometheus" {
			return releaseOf(dependency.Version)
		}
	}
	return "unknown"
}

// releaseOf splits v0.MNN.P into M.NN.P.
func releaseOf(module string) string {
	minor, patch, ok := strings.Cut(strings.TrimPrefix(module, "v0."), ".")
	if !ok || len(minor) != 3 {
		return module
	}
	return minor[:1] + "." + strings.TrimPrefix(minor[1:], "0") + "." + patch
}
