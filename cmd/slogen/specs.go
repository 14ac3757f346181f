// Reading specifications: every mistake in every file at once.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
	"github.com/eks-slo/eks-slo-exporter/internal/slo/sloth"
)

// specsFlag adds the flag that says where the specifications are.
func specsFlag(cmd *kingpin.CmdClause) *string {
	return cmd.Flag("specs", "Directory of the specifications, or one file.").Default("slo-specs").String()
}

// specFile is a specification and where it was read.
type specFile struct {
	*sloth.Spec
	path string
}

// name is that of the specification's generated files, without their extension.
func (f specFile) name() string {
	base := filepath.Base(f.path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// readSpecs reads the specifications at these paths: a file as it is, a directory's own *.yaml and *.yml files. The error is all mistakes in all files (diag.Problems), or why a path could not be read.
func readSpecs(paths ...string) ([]specFile, error) {
	found, err := specPaths(paths)
	if err != nil {
		return nil, err
	}
	var specs []specFile
	var mistakes diag.Problems
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, specHint(err)
		}
		spec, problems := sloth.Read(path, data)
		mistakes = append(mistakes, problems...)
		if spec != nil {
			spec.File = filepath.Base(path) // what is generated names its specification, and is the same in every directory
			specs = append(specs, specFile{spec, path})
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return specs, unique(specs)
}

// specPaths are the files at these paths, each once, in the order of the paths and of their names.
func specPaths(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, specHint(err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		found := len(files)
		for _, entry := range entries {
			if extension := filepath.Ext(entry.Name()); !entry.IsDir() && (extension == ".yaml" || extension == ".yml") {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
		if len(files) == found {
			return nil, fmt.Errorf("looking for specifications in %s: there is no *.yaml file", path)
		}
	}
	var once []string
	for _, file := range files {
		if !slices.Contains(once, filepath.Clean(file)) {
			once = append(once, filepath.Clean(file))
		}
	}
	return once, nil
}

func specHint(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; name another directory with --specs, or a path", err)
	}
	return err
}

// unique refuses two files with one SLO, whose recordings could not be told apart, and two whose generated files would have one name.
func unique(specs []specFile) error {
	ids, names := map[string]string{}, map[string]string{exporterRules: "the exporter itself"}
	for _, spec := range specs {
		if other, taken := names[spec.name()]; taken {
			return fmt.Errorf("reading %s: its rules would be written to the same file as those of %s; give one another name", spec.path, other)
		}
		names[spec.name()] = spec.path
		for _, each := range spec.SLOs {
			if other, taken := ids[each.ID()]; taken {
				return fmt.Errorf("reading %s: SLO id %q is in %s already; an id is service and name, and all recordings carry it", spec.path, each.ID(), other)
			}
			ids[each.ID()] = spec.path
		}
	}
	return nil
}

// groupLabels are the labels that tell the budgets of these specifications apart.
func groupLabels(specs []specFile) []string {
	var labels []string
	for _, spec := range specs {
		for _, each := range spec.SLOs {
			labels = append(labels, each.Groups()...)
		}
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}
