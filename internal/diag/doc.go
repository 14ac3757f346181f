// The package of the strict reading of YAML files.
//
// SPDX-License-Identifier: Apache-2.0

// Package diag reads YAML files strictly and tells every mistake in them with its position, the source line, a caret under the place, and a hint.
//
// A Reader collects problems while its owner walks the tree of nodes; what a file may hold, and the wording of what it got wrong, are the owner's.
package diag
