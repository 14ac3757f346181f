// The rule files as part of the binary, for an exporter that evaluates its rules itself.
//
// SPDX-License-Identifier: Apache-2.0

// Package rules holds the generated rule files of this folder, so that the embedded engine needs none beside the binary.
package rules

import "embed"

// Files are the rule files, at the root of the file system.
//
//go:embed *.yaml
var Files embed.FS
