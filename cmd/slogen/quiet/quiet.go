// The package that keeps libraries from writing to stderr while the program is being loaded.
//
// SPDX-License-Identifier: Apache-2.0

// Package quiet discards what libraries log before main begins: one that Sloth links tells every user about the cgroups of the machine.
//
// The language specification ("Program initialization") initializes packages in the order of their import paths, once all that they import is initialized. This one imports log and io alone,
// and its path comes before that of what the talkative one imports, so it is first. It must stay as small as that.
package quiet

import (
	"io"
	"log"
)

// before is where the standard logger wrote.
var before = mute()

func mute() io.Writer {
	to := log.Writer()
	log.SetOutput(io.Discard)
	return to
}

// End lets the standard logger speak again.
func End() { log.SetOutput(before) }
