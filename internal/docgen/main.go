// Docgen writes the pages of docs/ that derive from tables in the code.
//
// SPDX-License-Identifier: Apache-2.0

// Command docgen writes the generated pages; run it from the repository's root: go run ./internal/docgen.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// page is one generated file of docs/.
type page struct {
	name  string
	write func() string
}

// pages are all generated files; a further one is a file of this package and a row here.
var pages = []page{
	{"reasons.md", reasonsPage},
	{"metrics.md", metricsPage},
}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("docgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "docs", "directory to write the pages to; it must exist")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for _, p := range pages {
		path := filepath.Join(*out, p.name)
		if err := os.WriteFile(path, []byte(p.write()), 0o644); err != nil {
			return fmt.Errorf("writing the page %s: %w", p.name, err)
		}
		fmt.Fprintln(stdout, path)
	}
	return nil
}
