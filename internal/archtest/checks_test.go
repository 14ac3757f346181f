// Each check on a small tree of its own: what it finds, and what it lets pass.
//
// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree makes a file system of paths and texts.
func tree(texts map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range texts {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func scan(t *testing.T, texts map[string]string) []File {
	t.Helper()
	files, err := Scan(tree(texts))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCheckImports(t *testing.T) {
	tests := map[string]struct {
		file    string
		imports string
		want    []string
	}{
		"chain and the standard library": {"internal/chain/a.go", "net/http", nil},
		"chain and a library":            {"internal/chain/a.go", "golang.org/x/net/idna", []string{"chain needs the standard library alone"}},
		"chain and ours":                 {"internal/chain/a.go", Module + "/internal/config", []string{"chain needs the standard library alone"}},
		"chain's tests and a library":    {"internal/chain/a_test.go", "github.com/google/go-cmp/cmp", nil},
		"probes and chain":               {"internal/probes/a.go", Module + "/internal/chain", nil},
		"probes and config":              {"internal/probes/a.go", Module + "/internal/config", []string{"probes knows the domain, and AWS, Kubernetes and Prometheus only by its own interfaces"}},
		"probes and prometheus":          {"internal/probes/a.go", "github.com/prometheus/client_golang/prometheus", []string{"probes knows the domain, and AWS, Kubernetes and Prometheus only by its own interfaces"}},
		"slo and a probe":                {"internal/slo/a.go", Module + "/internal/probes", []string{"slo computes from what was recorded: no probe, no SDK"}},
		"below slo and a probe":          {"internal/slo/simulate/a.go", Module + "/internal/probes", []string{"slo computes from what was recorded: no probe, no SDK"}},
		"a name that only begins so":     {"internal/slots/a.go", Module + "/internal/probes", nil},
		"the sandbox and chain":          {"internal/sandbox/a.go", Module + "/internal/chain", nil},
		"the sandbox and awsapi":         {"internal/sandbox/a.go", Module + "/internal/awsapi", []string{"the sandbox is the other side of the wire, and shares nothing with ours but the domain"}},
		"a command and app":              {"cmd/exporter/a.go", Module + "/internal/app", nil},
		"web and app":                    {"internal/web/a.go", Module + "/internal/app", []string{"app wires everything, so only commands import it"}},
		"slogen and sloth":               {"cmd/slogen/a.go", Module + "/internal/slo/sloth", nil},
		"the exporter and sloth":         {"cmd/exporter/a.go", Module + "/internal/slo/sloth", []string{"Sloth's generator is large, so only slogen carries it"}},
		"engine and its engine":          {"internal/engine/a.go", "github.com/prometheus/prometheus/promql", nil},
		"web and the engine":             {"internal/web/a.go", "github.com/prometheus/prometheus/promql", []string{"the embedded Prometheus stays behind engine"}},
		"awsapi and the SDK":             {"internal/awsapi/a.go", "github.com/aws/aws-sdk-go-v2/aws", nil},
		"web and the SDK":                {"internal/web/a.go", "github.com/aws/aws-sdk-go-v2/aws", []string{"the AWS SDK stays behind awsapi"}},
		"the sandbox's tests and it":     {"internal/sandbox/a_test.go", "github.com/aws/aws-sdk-go-v2/aws", nil},
		"kube and client-go":             {"internal/kube/a.go", "k8s.io/client-go/rest", nil},
		"app and client-go":              {"internal/app/a.go", "k8s.io/client-go/rest", []string{"client-go stays behind kube"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, rule := range test.want {
				want = append(want, test.file+":3: imports "+test.imports+": "+rule)
			}
			files := scan(t, map[string]string{test.file: "package a\n\nimport _ \"" + test.imports + "\"\n"})
			if diff := cmp.Diff(want, CheckImports(files, Rules)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRulesAreDistinct keeps the lines of CheckImports tellable.
func TestRulesAreDistinct(t *testing.T) {
	var names []string
	for _, rule := range Rules {
		if rule.Name == "" || len(rule.Deny) == 0 || slices.Contains(names, rule.Name) {
			t.Errorf("rule %+v has no name of its own, or denies nothing", rule)
		}
		names = append(names, rule.Name)
	}
}

func TestCheckHeaders(t *testing.T) {
	const sentence = "// Says what it is for.\n//\n"
	tests := map[string]struct {
		text string
		want []string
	}{
		"good":                 {sentence + spdx + "\n\npackage a\n", nil},
		"with a build tag":     {sentence + spdx + "\n\n//go:build linux\n\npackage a\n", nil},
		"nothing":              {"package a\n", []string{"a.go:1: does not open with a comment that says what the file is for", "a.go: has no line " + spdx}},
		"licence first":        {spdx + "\n\npackage a\n", []string{"a.go:1: does not open with a comment that says what the file is for"}},
		"directive first":      {"//go:build linux\n\n" + sentence + spdx + "\n\npackage a\n", []string{"a.go:1: does not open with a comment that says what the file is for"}},
		"no licence":           {sentence + "\npackage a\n", []string{"a.go: has no line " + spdx}},
		"licence in the code":  {sentence + "\npackage a\n\n" + spdx + "\n", []string{"a.go: has no line " + spdx}},
		"a word or two is not": {"// Package a.\n//\n" + spdx + "\n\npackage a\n", []string{"a.go:1: does not open with a comment that says what the file is for"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, CheckHeaders(scan(t, map[string]string{"a.go": test.text}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckPackages(t *testing.T) {
	const documented, bare = "// Package a is one.\npackage a\n", "package a\n"
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"one file of two has it":      {map[string]string{"a/a.go": bare, "a/b.go": documented}, nil},
		"none has it":                 {map[string]string{"a/a.go": bare, "a/b.go": bare}, []string{"a: has no package comment"}},
		"only a test has it":          {map[string]string{"a/b.go": bare, "a/a_test.go": documented, "a/c_test.go": documented}, []string{"a: has no package comment"}},
		"there are only tests":        {map[string]string{"a/a_test.go": documented}, nil},
		"another beginning":           {map[string]string{"a/a.go": "// A is one.\npackage a\n"}, []string{`a: its package comment does not begin with "Package a"`}},
		"a command":                   {map[string]string{"cmd/a/a.go": "// Command a does it.\npackage main\n"}, nil},
		"what the go command ignores": {map[string]string{"a/testdata/b/b.go": bare, ".a/a.go": bare, "_a/a.go": bare}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, CheckPackages(scan(t, test.files))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckSizes(t *testing.T) {
	limits := Limits{File: 8, Function: 2, TestFunction: 3}
	function := func(lines int) string {
		return "package a\n\nfunc f() {\n" + strings.Repeat("\t_ = 1\n", lines) + "}\n"
	}
	tests := map[string]struct {
		name, text string
		want       []string
	}{
		"at the stops":         {"a.go", function(2), nil},
		"a long function":      {"a.go", function(3), []string{"a.go:3: f has 3 lines; 2 are the stop"}},
		"a test's may be more": {"a_test.go", function(3), nil},
		"a long test":          {"a_test.go", function(4), []string{"a_test.go:3: f has 4 lines; 3 are the stop"}},
		"a long file":          {"a.go", "package a\n" + strings.Repeat("\n", 8), []string{"a.go: has 9 lines; 8 are the stop"}},
		"a generated file":     {"a.go", "// Code generated by b. DO NOT EDIT.\n\n" + function(9), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, CheckSizes(scan(t, map[string]string{test.name: test.text}), limits)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckSleeps(t *testing.T) {
	const sleep = "\nfunc f() { time.Sleep(1) }\n"
	const plain, virtual = "package a\n\nimport \"time\"\n", "package a\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n"
	tests := map[string]struct {
		name, text string
		want       []string
	}{
		"no sleep":              {"a.go", plain, nil},
		"a sleep":               {"a.go", plain + sleep, []string{"a.go:5: sleeps in real time"}},
		"a sleep in a test":     {"a_test.go", plain + sleep, []string{"a_test.go:5: sleeps in real time"}},
		"in virtual time":       {"a_test.go", virtual + sleep, nil},
		"in code, not in tests": {"a.go", virtual + sleep, []string{"a.go:8: sleeps in real time"}},
		"somebody else's Sleep": {"a.go", "package a\n\nfunc f(clock c) { clock.Sleep(1) }\n", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, CheckSleeps(scan(t, map[string]string{test.name: test.text}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckDependencies(t *testing.T) {
	const mod = "module m\n\ngo 1.26\n\nrequire single.example/a v1.0.0\n\nrequire (\n\t// a remark\n\texample.com/b v1.0.0\n\texample.com/c v1.0.0 // indirect\n)\n"
	tests := map[string]struct {
		docs string
		want []string
	}{
		"both explained": {"| module | does |\n| --- | --- |\n| `single.example/a` | a |\n| `example.com/b` | b |\n", nil},
		"one is missing": {"| `single.example/a` | a |\n", []string{"docs/dependencies.md: has no row for example.com/b"}},
		"one is gone": {
			"| `single.example/a` | a |\n| `example.com/b` | b |\n| `example.com/c` | c |\n",
			[]string{"docs/dependencies.md: explains example.com/c, which go.mod does not require directly"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := CheckDependencies(tree(map[string]string{"go.mod": mod, "docs/dependencies.md": test.docs}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanErrors(t *testing.T) {
	if _, err := Scan(tree(map[string]string{"a.go": "package"})); err == nil || !strings.HasPrefix(err.Error(), "parsing a.go: ") {
		t.Errorf("a file that does not parse: %v", err)
	}
	if _, err := CheckDependencies(tree(map[string]string{"go.mod": "module m\n"})); err == nil || !strings.HasPrefix(err.Error(), "reading their explanations: ") {
		t.Errorf("a tree without docs: %v", err)
	}
}
