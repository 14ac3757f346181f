// The scenarios that come with the program, by name.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed scenarios/*.yaml
var scenarioFiles embed.FS

// Names are the names of the scenarios that come with the program, sorted.
func Names() []string {
	files, err := scenarioFiles.ReadDir("scenarios")
	if err != nil {
		panic(fmt.Sprintf("reading the embedded scenarios: %v", err)) // they are part of the program
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Named returns a scenario that comes with the program. The error names those that there are.
func Named(name string) (*Scenario, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("looking for the scenario %q: there are %s", name, strings.Join(Names(), ", "))
	}
	file := "scenarios/" + name + ".yaml"
	data, err := scenarioFiles.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the scenario %q: %w", name, err)
	}
	s, problems := Read(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}
