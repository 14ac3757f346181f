// Every direct dependency has a line that says why it is there.
//
// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// explained is a row of docs/dependencies.md: its first cell is a module path.
var explained = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// CheckDependencies compares the direct requirements of go.mod with the rows of docs/dependencies.md.
func CheckDependencies(tree fs.FS) ([]string, error) {
	mod, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("reading the requirements: %w", err)
	}
	text, err := fs.ReadFile(tree, "docs/dependencies.md")
	if err != nil {
		return nil, fmt.Errorf("reading their explanations: %w", err)
	}
	required := directRequirements(string(mod))
	var rows, found []string
	for _, match := range explained.FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, match[1])
	}
	for _, module := range required {
		if !slices.Contains(rows, module) {
			found = append(found, "docs/dependencies.md: has no row for "+module)
		}
	}
	for _, module := range rows {
		if !slices.Contains(required, module) {
			found = append(found, "docs/dependencies.md: explains "+module+", which go.mod does not require directly")
		}
	}
	return found, nil
}

// directRequirements reads go.mod's two forms of require, one line and a block.
func directRequirements(mod string) []string {
	var modules []string
	block := false
	for line := range strings.Lines(mod) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "require" && fields[1] == "(":
			block = true
		case len(fields) > 0 && fields[0] == ")":
			block = false
		case strings.HasSuffix(strings.TrimSpace(line), "// indirect"):
		case block && len(fields) >= 2 && fields[0] != "//":
			modules = append(modules, fields[0])
		case len(fields) >= 3 && fields[0] == "require":
			modules = append(modules, fields[1])
		}
	}
	return modules
}
