// Who may import whom: one table, and how it is read.
//
// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Module is the path that our packages begin with.
const Module = "github.com/eks-slo/eks-slo-exporter"

// Words of the table for kinds of import; everything else there is a path, and stands for the package and all below it. Our own paths are written without the module's.
const (
	anyOurs     = "(ours)"
	anyExternal = "(external)" // neither ours nor the standard library's
)

// Rule denies imports. It binds the code and not its tests, which may use the other side's client or server to test ours.
type Rule struct {
	Name   string
	From   []string // the packages that are bound; none: all
	Except []string // packages that are not
	Deny   []string // what they may not import
	Allow  []string // what of this they may import all the same
}

// Rules is the design's import graph.
var Rules = []Rule{
	{
		Name: "chain needs the standard library alone",
		From: []string{"internal/chain"}, Deny: []string{anyOurs, anyExternal},
	},
	{
		Name: "probes knows the domain, and AWS, Kubernetes and Prometheus only by its own interfaces",
		From: []string{"internal/probes"}, Allow: []string{"internal/chain", "internal/probes"},
		Deny: []string{anyOurs, "github.com/aws", "k8s.io", "sigs.k8s.io", "github.com/prometheus", "gopkg.in/yaml.v3"},
	},
	{
		Name: "slo computes from what was recorded: no probe, no SDK",
		From: []string{"internal/slo"},
		Deny: []string{"internal/probes", "internal/awsapi", "internal/kube", "github.com/aws", "k8s.io/client-go"},
	},
	{
		Name: "the sandbox is the other side of the wire, and shares nothing with ours but the domain",
		From: []string{"internal/sandbox"}, Deny: []string{anyOurs}, Allow: []string{"internal/chain", "internal/sandbox"},
	},
	{
		Name: "permissions and wire need the domain alone of ours",
		From: []string{"internal/permissions", "internal/wire"}, Deny: []string{anyOurs}, Allow: []string{"internal/chain"},
	},
	{
		Name: "kube and request need the domain and the wire of ours",
		From: []string{"internal/kube", "internal/request"}, Deny: []string{anyOurs}, Allow: []string{"internal/chain", "internal/wire"},
	},
	{
		Name: "diag reads YAML for whoever has a schema, and knows none",
		From: []string{"internal/diag"}, Deny: []string{anyOurs}, Allow: []string{"internal/chain", "internal/diag"},
	},
	{
		Name: "app wires everything, so only commands import it",
		Deny: []string{"internal/app"}, Except: []string{"cmd", "internal/app", "test/e2e"},
	},
	{
		Name: "Sloth's generator is large, so only slogen carries it",
		Deny: []string{"internal/slo/sloth", "github.com/slok/sloth"}, Except: []string{"cmd/slogen", "internal/slo/sloth"},
	},
	{
		Name: "the embedded Prometheus stays behind engine",
		Deny: []string{"github.com/prometheus/prometheus"}, Except: []string{"internal/engine", "internal/slo/sloth", "internal/slo/simulate"},
	},
	{
		Name: "the AWS SDK stays behind awsapi",
		Deny: []string{"github.com/aws"}, Except: []string{"internal/awsapi", "internal/sandbox", "test/e2e"}, // the sandbox resolves STS hosts as the real authenticator does
	},
	{
		Name: "client-go stays behind kube",
		Deny: []string{"k8s.io/client-go"}, Except: []string{"internal/kube", "test/e2e"},
	},
}

// CheckImports returns a line for each import that a rule denies.
func CheckImports(files []File, rules []Rule) []string {
	var found []string
	for _, file := range files {
		if file.Test {
			continue
		}
		for _, imported := range file.Imports {
			for _, rule := range rules {
				if rule.denies(file.Package, imported.Path) {
					found = append(found, fmt.Sprintf("%s:%d: imports %s: %s", file.Path, imported.Line, imported.Path, rule.Name))
				}
			}
		}
	}
	return found
}

func (r Rule) denies(from, imported string) bool {
	bound := len(r.From) == 0 || within(from, r.From)
	return bound && !within(from, r.Except) && matches(imported, r.Deny) && !matches(imported, r.Allow)
}

// within says whether a package is one of these or below one.
func within(path string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool {
		return path == tree || strings.HasPrefix(path, tree+"/")
	})
}

// matches says whether an import path is meant by the words of the table.
func matches(imported string, words []string) bool {
	ours, isOurs := strings.CutPrefix(imported, Module+"/")
	host, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs:
		return slices.Contains(words, anyOurs) || within(ours, words)
	case strings.Contains(host, "."): // a path of the standard library has no dot in its first element
		return slices.Contains(words, anyExternal) || within(imported, words)
	}
	return false
}
