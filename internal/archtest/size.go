// What every file and package must say about itself, how long they may be, and that they do not sleep.
//
// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits are lengths in lines. Tests have tables, so their functions may be longer; files may not.
type Limits struct {
	File, Function, TestFunction int
}

// DefaultLimits are the stops of the house style; most code stays far below.
var DefaultLimits = Limits{File: 350, Function: 60, TestFunction: 120}

const spdx = "// SPDX-License-Identifier: Apache-2.0"

// CheckSizes returns a line for each file or function that is too long. Generated files are as long as they must be.
func CheckSizes(files []File, limits Limits) []string {
	var found []string
	for _, file := range files {
		if file.Generated {
			continue
		}
		if file.Lines > limits.File {
			found = append(found, fmt.Sprintf("%s: has %d lines; %d are the stop", file.Path, file.Lines, limits.File))
		}
		stop := limits.Function
		if file.Test {
			stop = limits.TestFunction
		}
		for _, function := range file.Functions {
			if function.Length > stop {
				found = append(found, fmt.Sprintf("%s:%d: %s has %d lines; %d are the stop", file.Path, function.Line, function.Name, function.Length, stop))
			}
		}
	}
	return found
}

// CheckHeaders returns a line for each file that does not open with a sentence and name its licence.
func CheckHeaders(files []File) []string {
	var found []string
	for _, file := range files {
		if len(file.Header) == 0 || !isSentence(file.Header[0]) {
			found = append(found, file.Path+":1: does not open with a comment that says what the file is for")
		}
		if !slices.Contains(file.Header, spdx) {
			found = append(found, file.Path+": has no line "+spdx)
		}
	}
	return found
}

// isSentence tells prose from a directive, a licence line and an empty comment.
func isSentence(line string) bool {
	text, isComment := strings.CutPrefix(line, "// ")
	return isComment && line != spdx && len(strings.Fields(text)) > 2
}

// CheckPackages returns a line for each package without a package comment. It stands in the code, unless the package has only tests; a library's begins "Package NAME".
func CheckPackages(files []File) []string {
	type comment struct {
		name string
		text string
		code bool // the package has files that are not tests
	}
	packages := map[string]comment{}
	for _, file := range files {
		p := packages[file.Package]
		if !file.Test && !p.code {
			p = comment{name: file.Name, code: true}
		}
		if p.name == "" {
			p.name = file.Name
		}
		if file.Test == !p.code && file.Doc != "" {
			p.text = file.Doc
		}
		packages[file.Package] = p
	}
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := packages[dir]
		switch {
		case p.text == "":
			found = append(found, dir+": has no package comment")
		case p.name != "main" && !strings.HasPrefix(p.text, "Package "+p.name+" "):
			found = append(found, fmt.Sprintf("%s: its package comment does not begin with %q", dir, "Package "+p.name))
		}
	}
	return found
}

// CheckSleeps returns a line for each time.Sleep outside testing/synctest's virtual time: a wait ends with its context, and a test waits for what it needs, not for a while.
func CheckSleeps(files []File) []string {
	var found []string
	for _, file := range files {
		virtual := file.Test && slices.ContainsFunc(file.Imports, func(imported Import) bool { return imported.Path == "testing/synctest" })
		if virtual {
			continue
		}
		for _, line := range file.Sleeps {
			found = append(found, fmt.Sprintf("%s:%d: sleeps in real time", file.Path, line))
		}
	}
	return found
}
