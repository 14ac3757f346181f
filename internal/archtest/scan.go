// Reads every Go file of the tree once, for all checks.
//
// SPDX-License-Identifier: Apache-2.0

// Package archtest asserts what the compiler does not: who may import whom, that files and packages say what they are for, that both stay small, and that every dependency is
// explained. Its checks take a file system and return one line per finding; its tests run them on this repository.
package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// File is what the checks want to know about one Go file.
type File struct {
	Path      string // from the root, with slashes
	Package   string // directory from the root; "." at the root
	Name      string // of the package
	Test      bool   // _test.go
	Generated bool
	Header    []string // comment lines before the package clause, with their slashes
	Doc       string   // the package comment; "" when this file has none
	Lines     int
	Imports   []Import
	Functions []Function
	Sleeps    []int // lines that call time.Sleep
}

// Import is one import and where it stands.
type Import struct {
	Path string
	Line int
}

// Function is a function or method with a body; Length is the number of lines between its first and its last.
type Function struct {
	Name   string
	Line   int
	Length int
}

// Scan reads all Go files, those of test/e2e's module and of its components too; like the go command it passes over testdata, vendor and names that begin with a dot or an underscore.
func Scan(tree fs.FS) ([]File, error) {
	var files []File
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walking %s: %w", name, err)
		}
		if entry.IsDir() {
			if name != "." && ignored(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || ignored(entry.Name()) {
			return nil
		}
		file, err := scanFile(tree, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

func ignored(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func scanFile(tree fs.FS, name string) (File, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", name, err)
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, fmt.Errorf("parsing %s: %w", name, err)
	}
	file := File{
		Path: name, Package: path.Dir(name), Name: syntax.Name.Name, Test: strings.HasSuffix(name, "_test.go"), Generated: ast.IsGenerated(syntax),
		Doc: syntax.Doc.Text(), Lines: bytes.Count(text, []byte("\n")), Header: header(string(text)),
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return File{}, fmt.Errorf("reading an import of %s: %w", name, err)
		}
		file.Imports = append(file.Imports, Import{imported, set.Position(spec.Pos()).Line})
	}
	for _, declaration := range syntax.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
			begin, end := set.Position(function.Pos()).Line, set.Position(function.End()).Line
			file.Functions = append(file.Functions, Function{function.Name.Name, begin, end - begin - 1})
		}
	}
	ast.Inspect(syntax, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sleep" && isIdent(selector.X, "time") {
			file.Sleeps = append(file.Sleeps, set.Position(selector.Pos()).Line)
		}
		return true
	})
	return file, nil
}

func isIdent(expression ast.Expr, name string) bool {
	ident, ok := expression.(*ast.Ident)
	return ok && ident.Name == name
}

// header returns the lines up to the package clause, blank ones as "".
func header(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			break
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}
